// Package openapi serves the description of the API, as YAML and as JSON. The
// YAML is written by hand; tests hold every route and answer to it.
package openapi

import (
	_ "embed"
	"encoding/json"
	"fmt"

	"github.com/go-chi/chi/v5"
	"go.yaml.in/yaml/v3"

	"github.com/firstpick/firstpick/server/kit/negotiate"
	"github.com/firstpick/firstpick/server/kit/route"
)

//go:embed openapi.yaml
var source []byte

// Source returns the description as it is, in YAML.
func Source() []byte { return source }

// A Handler serves the description.
type Handler struct{ asYAML, asJSON *negotiate.Document }

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
	const cacheControl = "public, max-age=3600"
	return &Handler{
		negotiate.NewDocument("application/yaml; charset=utf-8", cacheControl, source), negotiate.NewDocument("application/json; charset=utf-8", cacheControl, data),
	}, nil
}

// Mount registers the routes.
func (h *Handler) Mount(r chi.Router) {
	for path, d := range map[string]*negotiate.Document{"/openapi.yaml": h.asYAML, "/openapi.json": h.asJSON} {
		route.Public(r, path, d.ServeHTTP)
	}
}
