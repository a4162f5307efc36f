// Package pages serves the pages of the current site, as HTML and as markdown, the search
// for a tool, and the style sheets and scripts of all pages.
package pages

import (
	"net/http"
	"sync"

	"github.com/go-chi/chi/v5"

	"github.com/firstpick/firstpick/server/apierr"
	"github.com/firstpick/firstpick/server/site"
	"github.com/firstpick/firstpick/server/web"
)

// A Handler answers from the current site. All fields are required.
type Handler struct {
	Current func() *site.Site
	Sender  *site.Sender
	Errors  apierr.Writer

	searches func() *web.SearchRenderer
}

// Mount registers the routes.
func (h *Handler) Mount(r chi.Router) {
	h.searches = sync.OnceValue(web.NewSearchRenderer)
	r.Get("/search", h.search)
	r.Head("/search", h.search)
	for _, path := range []string{"/", "/index.md", "/leaderboards/{category}", "/tools/{tool}"} {
		r.Get(path, h.page)
		r.Head(path, h.page)
	}
	for _, a := range web.Assets() {
		r.Get(a.Path, asset(a))
		r.Head(a.Path, asset(a))
	}
}

func (h *Handler) page(w http.ResponseWriter, r *http.Request) {
	web.GuardOffer(w.Header())
	s := h.Current()
	if s == nil {
		h.empty(w)
		return
	}
	page := s.Page(web.PagePath(r.URL.Path))
	if page == (site.Page{}) {
		plain(w, http.StatusNotFound, web.ErrorPage("Not measured", "There is no page of this name. The leaderboards are listed on the first page."))
		return
	}
	h.Sender.SendPage(w, r, page)
}

func (h *Handler) empty(w http.ResponseWriter) {
	plain(w, http.StatusServiceUnavailable, web.ErrorPage("No snapshot yet", "Nothing is published here yet. Try again in a moment."))
}

func plain(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

func asset(a web.Asset) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", a.ContentType)
		w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		_, _ = w.Write(a.Body)
	}
}
