// Package setupdocs serves how to install the collector: /setup.md, a recipe for
// each stack, how credit is given, and how webhooks are signed. What they say is in
// packages setup and alert.
package setupdocs

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/firstpick/firstpick/server/alert"
	"github.com/firstpick/firstpick/server/apierr"
	"github.com/firstpick/firstpick/server/setup"
)

// A Handler serves the documents. They do not change while it lives.
type Handler struct {
	errors  apierr.Writer
	guide   document
	credit  document
	hooks   document
	recipes map[string]document // by slug
}

type document struct {
	text []byte
	etag string
}

// New renders the documents for the service at base, an address without trailing
// slash.
func New(base string, errors apierr.Writer) *Handler {
	h := &Handler{errors: errors, guide: newDocument(setup.Guide(base)), credit: newDocument(setup.Attribution(base)), hooks: newDocument(alert.Docs()), recipes: map[string]document{}}
	for _, s := range setup.Stacks() {
		h.recipes[s.Slug] = newDocument(s.Recipe(base))
	}
	return h
}

func newDocument(text string) document {
	sum := sha256.Sum256([]byte(text))
	return document{[]byte(text), `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`}
}

// Mount registers the routes.
func (h *Handler) Mount(r chi.Router) {
	for path, f := range map[string]http.HandlerFunc{
		"/setup.md":            h.guide.serve,
		"/setup/{stack}.md":    h.recipe,
		"/docs/attribution.md": h.credit.serve,
		"/docs/webhooks.md":    h.hooks.serve,
	} {
		r.Get(path, f)
		r.Head(path, f)
	}
}

func (h *Handler) recipe(w http.ResponseWriter, r *http.Request) {
	d, ok := h.recipes[chi.URLParam(r, "stack")]
	if !ok {
		e := apierr.NotFound()
		e.Description, e.Suggestions = "There is no recipe of this name; suggestions holds all there are. /setup.md says how to choose.", setup.Slugs()
		h.errors.Write(w, r, e)
		return
	}
	d.serve(w, r)
}

func (d document) serve(w http.ResponseWriter, r *http.Request) {
	head := w.Header()
	head.Set("Content-Type", "text/markdown; charset=utf-8")
	head.Set("Cache-Control", "public, max-age=300")
	head.Set("Access-Control-Allow-Origin", "*")
	head.Set("ETag", d.etag)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(d.text))
}
