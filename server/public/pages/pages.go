// Package pages serves the pages of the current site, as HTML and as markdown, the search
// for a tool, and the style sheets and scripts of all pages.
package pages

import (
	"net/http"
	"path"
	"strings"

	"github.com/go-chi/chi/v5"

	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/kit/render"
	"github.com/firstpick/firstpick/server/kit/route"
	"github.com/firstpick/firstpick/server/public/snapshotview"
)

// A Handler answers from the current site. All fields are required.
type Handler struct {
	Current func() *snapshotview.Site
	Sender  *snapshotview.Sender
	Errors  apierr.Writer
	Missing *snapshotview.Missing
	Archive Archive

	pictures gallery
	made     composed
}

// Mount registers the routes.
func (h *Handler) Mount(r chi.Router) {
	route.Public(r, "/search", h.search)
	for _, path := range []string{
		"/", "/index.md", "/leaderboards", "/leaderboards.md", "/tools", "/tools.md", "/tools/{tool}", "/observed/{category}",
		"/ai-agents", "/ai-agents.md", "/ai-agents/{agent}", "/changes", "/changes.md", "/for-vendors", "/for-vendors.md",
	} {
		route.Public(r, path, h.page)
	}
	h.mountArchive(r)
	route.Public(r, "/compare", h.compare)
	route.Public(r, "/compare.md", h.page)
	route.Public(r, "/compare/{pair}", h.comparison)
	route.Public(r, "/observed", list)
	route.Public(r, "/og/*", h.og)
	route.Public(r, "/badge/{tool}", h.badge)
	route.Public(r, "/feed.atom", h.feed)
	for _, a := range render.Assets() {
		r.Get(a.Path, asset(a))
	}
}

func (h *Handler) page(w http.ResponseWriter, r *http.Request) {
	render.Guard(w.Header())
	s := h.Current()
	if s == nil {
		h.empty(w)
		return
	}
	page := s.Page(render.PagePath(r.URL.Path))
	if page == (snapshotview.Page{}) {
		h.missing(w, r, s)
		return
	}
	h.Sender.SendPage(w, r, page)
}

// missing answers a request for a tool or a category that has no page.
func (h *Handler) missing(w http.ResponseWriter, r *http.Request, s *snapshotview.Site) {
	name := render.PagePath(path.Base(r.URL.Path))
	near := find(s, cut(name))
	out := snapshotview.NotFound{Error: apierr.CategoryNotFound(nil), Fallback: snapshotview.HTML}
	if strings.HasPrefix(r.URL.Path, "/tools/") {
		out.Error = apierr.ToolNotFound("No tool of this name is measured.", nil)
		for _, t := range near.Suggestions {
			out.Error.Suggestions = append(out.Error.Suggestions, t.Slug)
			out.Near = append(out.Near, render.Link{Path: strings.TrimPrefix(t.URL, s.BaseURL), Text: t.Tool})
		}
	}
	for _, c := range near.Categories {
		if out.Error.Code == "category_not_found" {
			out.Error.Suggestions = append(out.Error.Suggestions, c.Slug)
		}
		out.Near = append(out.Near, render.Link{Path: strings.TrimPrefix(c.URL, s.BaseURL), Text: c.Name})
	}
	for _, o := range near.Observed {
		out.Near = append(out.Near, render.Link{Path: strings.TrimPrefix(o.URL, s.BaseURL), Text: o.heading})
	}
	h.Missing.Write(w, r, out)
}

func (h *Handler) empty(w http.ResponseWriter) {
	writeHTML(w, http.StatusServiceUnavailable, render.ErrorPage("No snapshot yet", "Nothing is published here yet. Try again in a moment."))
}

func writeHTML(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

// list leads to the list of observed boards.
func list(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Access-Control-Allow-Origin", "*")
	w.Header().Set("Location", "/leaderboards#observed")
	w.WriteHeader(http.StatusFound)
}

func asset(a render.Asset) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", a.ContentType)
		w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		_, _ = w.Write(a.Body)
	}
}
