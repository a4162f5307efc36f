// Package openapi serves the description of the API, as YAML and as JSON. The
// YAML is written by hand; tests hold every route and answer to it.
package openapi

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/json"
	"io"
	"net/http"
	"sync"

	"github.com/go-chi/chi/v5"
	"go.yaml.in/yaml/v3"

	"github.com/firstpick/firstpick/server/kit/negotiate"
	"github.com/firstpick/firstpick/server/kit/route"
)

// packed is openapi.yaml, which is seven times as large: gzip -9nkf openapi.yaml
//
//go:embed openapi.yaml.gz
var packed []byte

// Source returns the description as it is, in YAML.
func Source() []byte {
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		panic("unreachable: tests unpack openapi.yaml.gz: " + err.Error())
	}
	source, err := io.ReadAll(r)
	if err != nil {
		panic("unreachable: tests unpack openapi.yaml.gz: " + err.Error())
	}
	return source
}

const cacheControl = "public, max-age=3600"

// A Handler serves the description. JSON is made for the first request that asks for it: a
// server that starts waits for nothing.
type Handler struct {
	asYAML *negotiate.Document
	asJSON func() *negotiate.Document
}

// New returns the handler.
func New() *Handler {
	return &Handler{
		negotiate.NewDocument("application/yaml; charset=utf-8", cacheControl, Source()),
		sync.OnceValue(func() *negotiate.Document {
			return negotiate.NewDocument("application/json; charset=utf-8", cacheControl, toJSON())
		}),
	}
}

func toJSON() []byte {
	var doc map[string]any
	if err := yaml.Unmarshal(Source(), &doc); err != nil {
		panic("unreachable: tests parse openapi.yaml: " + err.Error())
	}
	data, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		panic("unreachable: tests convert openapi.yaml: " + err.Error())
	}
	return data
}

// Mount registers the routes.
func (h *Handler) Mount(r chi.Router) {
	route.Public(r, "/openapi.yaml", h.asYAML.ServeHTTP)
	route.Public(r, "/openapi.json", func(w http.ResponseWriter, r *http.Request) { h.asJSON().ServeHTTP(w, r) })
}
