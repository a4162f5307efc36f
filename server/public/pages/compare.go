package pages

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/kit/render"
	"github.com/firstpick/firstpick/server/kit/route"
	"github.com/firstpick/firstpick/server/public/snapshotview"
	"github.com/firstpick/firstpick/server/public/views"
)

// compare leads from the form to the comparison of two tools. With one tool, or two that cannot
// be compared, it shows what the first can be compared with; without a tool it is the list.
func (h *Handler) compare(w http.ResponseWriter, r *http.Request, s *snapshotview.Site) error {
	q := r.URL.Query()
	a, okA := s.Slug(cut(q.Get("a")))
	b, okB := s.Slug(cut(q.Get("b")))
	if !okA && q.Get("a") != "" {
		http.Redirect(w, r, "/search?"+url.Values{"q": {cut(q.Get("a"))}}.Encode(), http.StatusSeeOther)
		return nil
	}
	if !okA {
		return h.page(w, r, s)
	}
	if okB && a != b && s.Views.Comparable(a, b) {
		http.Redirect(w, r, views.ComparePath(a, b), http.StatusSeeOther)
		return nil
	}
	if !okB { // the page says that there is no such tool
		b = cut(q.Get("b"))
	} else if a == b {
		b = ""
	}
	err := h.compose(w, r, s, "/compare?"+url.Values{"a": {a}, "b": {b}}.Encode(), "", func(context.Context) (views.Page, error) {
		page, ok, err := s.Views.CompareWith(a, b)
		if !ok && err == nil {
			err = errNotCompared
		}
		return page, err
	})
	if errors.Is(err, errNotCompared) {
		return h.page(w, r, s)
	}
	return err
}

// comparison serves the comparison of two tools, at the path in the order of their slugs.
func (h *Handler) comparison(w http.ResponseWriter, r *http.Request, s *snapshotview.Site) error {
	a, b, _ := strings.Cut(render.PagePath(cut(route.Param(r, "pair"))), "-vs-")
	path := views.ComparePath(a, b)
	if at := render.PagePath(r.URL.Path); at != path && a != "" && b != "" {
		if strings.HasSuffix(r.URL.Path, ".md") {
			path = render.MarkdownPath(path)
		}
		http.Redirect(w, r, path, http.StatusMovedPermanently)
		return nil
	}
	err := h.compose(w, r, s, path, "", func(context.Context) (views.Page, error) {
		page, ok, err := s.Views.Compare(a, b)
		if !ok && err == nil {
			err = errNotCompared
		}
		return page, err
	})
	if !errors.Is(err, errNotCompared) {
		return err
	}
	out := snapshotview.NotFound{Error: apierr.ToolNotFound("No board ranks both tools.", nil), Fallback: snapshotview.HTML}
	for _, slug := range []string{a, b} {
		if l, ok := s.Views.Tool(slug); ok {
			out.Near = append(out.Near, l)
		}
	}
	out.Near = append(out.Near, s.Views.CompareLinks(a)...)
	h.Missing.Write(w, r, out)
	return nil
}

var errNotCompared = errors.New("no board ranks both tools")
