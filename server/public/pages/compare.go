package pages

import (
	"net/http"
	"strings"

	"github.com/go-chi/chi/v5"

	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/kit/render"
	"github.com/firstpick/firstpick/server/public/snapshotview"
	"github.com/firstpick/firstpick/server/public/views"
)

// compare leads from the form to the comparison of two tools; without two it is the list.
func (h *Handler) compare(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	s := h.Current()
	if s == nil || q.Get("a") == "" || q.Get("b") == "" {
		h.page(w, r)
		return
	}
	a, okA := s.Slug(cut(q.Get("a")))
	b, okB := s.Slug(cut(q.Get("b")))
	if !okA || !okB || a == b {
		h.page(w, r)
		return
	}
	http.Redirect(w, r, views.ComparePath(a, b), http.StatusSeeOther)
}

// comparison serves the comparison of two tools, at the path in the order of their slugs.
func (h *Handler) comparison(w http.ResponseWriter, r *http.Request) {
	render.Guard(w.Header())
	s := h.Current()
	if s == nil {
		h.empty(w)
		return
	}
	a, b, _ := strings.Cut(render.PagePath(cut(chi.URLParam(r, "pair"))), "-vs-")
	path := views.ComparePath(a, b)
	if at := render.PagePath(r.URL.Path); at != path && a != "" && b != "" {
		if strings.HasSuffix(r.URL.Path, ".md") {
			path = render.MarkdownPath(path)
		}
		http.Redirect(w, r, path, http.StatusMovedPermanently)
		return
	}
	page, ok, err := s.Views.Compare(a, b)
	switch {
	case err != nil:
		h.Errors.Write(w, r, apierr.Internal(err))
		return
	case !ok:
		out := snapshotview.NotFound{Error: apierr.ToolNotFound("No board ranks both tools.", nil), Fallback: snapshotview.HTML}
		for _, slug := range []string{a, b} {
			if report, by, _ := s.Find(slug); by != "" {
				out.Near = append(out.Near, render.Link{Path: "/tools/" + report.Slug, Text: report.Tool})
			}
		}
		h.Missing.Write(w, r, out)
		return
	}
	h.Sender.SendPage(w, r, snapshotview.UnpackedPage(s.BaseURL, path, page.HTML, page.Markdown))
}
