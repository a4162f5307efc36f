// Package openapi serves the description of the API, as YAML and as JSON. The
// YAML is written by hand; tests hold every route and answer to it.
package openapi

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/go-chi/chi/v5"
	"go.yaml.in/yaml/v3"

	"github.com/firstpick/firstpick/server/route"
)

//go:embed openapi.yaml
var source []byte

// Source returns the description as it is, in YAML.
func Source() []byte { return source }

// A Handler serves the description.
type Handler struct{ asYAML, asJSON []byte }

// New converts the description to JSON once.
func New() (*Handler, error) {
	var doc map[string]any
	if err := yaml.Unmarshal(source, &doc); err != nil {
		return nil, fmt.Errorf("openapi.yaml: %w", err)
	}
	data, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("openapi.yaml: %w", err)
	}
	return &Handler{source, data}, nil
}

// Mount registers the routes.
func (h *Handler) Mount(r chi.Router) {
	for path, f := range map[string]http.HandlerFunc{
		"/openapi.yaml": serve("application/yaml; charset=utf-8", h.asYAML),
		"/openapi.json": serve("application/json; charset=utf-8", h.asJSON),
	} {
		route.Public(r, path, f)
	}
}

func serve(contentType string, body []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.Header().Set("Access-Control-Allow-Origin", "*")
		w.Header().Set("Cache-Control", "public, max-age=3600")
		_, _ = w.Write(body) // the client is gone; nothing to do
	}
}
