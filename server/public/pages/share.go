package pages

import (
	"net/http"
	"strings"
	"sync"

	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/kit/render"
	"github.com/firstpick/firstpick/server/kit/route"
	"github.com/firstpick/firstpick/server/public/share"
	"github.com/firstpick/firstpick/server/public/snapshotview"
)

// A gallery keeps the pictures of one snapshot that were drawn, the newest maxPictures. There
// are too many comparisons to draw all of them at once.
type gallery struct {
	mu      sync.Mutex
	painter *share.Painter
	site    *snapshotview.Site
	drawn   map[string]*snapshotview.Resource
	order   []string
}

const maxPictures = 256 // of about 20 KB

// picture draws the picture of a page, or returns the one that was drawn; nil for a page
// without one. One is drawn at a time.
func (g *gallery) picture(s *snapshotview.Site, path string) (*snapshotview.Resource, error) {
	p, ok := s.Views.Picture(path)
	if !ok {
		return nil, nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.site != s {
		g.site, g.drawn, g.order = s, map[string]*snapshotview.Resource{}, nil
	}
	if res := g.drawn[path]; res != nil {
		return res, nil
	}
	if g.painter == nil {
		painter, err := share.NewPainter()
		if err != nil {
			return nil, err
		}
		g.painter = painter
	}
	body, err := g.painter.PNG(p)
	if err != nil {
		return nil, err
	}
	if len(g.order) == maxPictures {
		delete(g.drawn, g.order[0])
		g.order = g.order[1:]
	}
	g.drawn[path], g.order = snapshotview.Unpacked("image/png", body), append(g.order, path)
	return g.drawn[path], nil
}

// og serves the picture for links to a page.
func (h *Handler) og(w http.ResponseWriter, r *http.Request, s *snapshotview.Site) error {
	res, err := h.pictures.picture(s, strings.TrimSuffix(cut("/"+route.Param(r, "*")), ".png"))
	switch {
	case err != nil:
		return err
	case res == nil:
		h.Errors.Write(w, r, apierr.NotFound())
	default:
		h.Sender.Send(w, r, res)
	}
	return nil
}

// badge serves the badge of a tool. One that is not measured has one too: a README that names
// it must not show a broken picture.
func (h *Handler) badge(w http.ResponseWriter, r *http.Request, s *snapshotview.Site) error {
	label, text, title, ok := s.Views.Badge(strings.TrimSuffix(cut(route.Param(r, "tool")), ".svg"))
	if !ok {
		text, title = "not measured", "not measured"
	}
	w.Header().Set("Content-Security-Policy", "default-src 'none'")
	h.Sender.Send(w, r, snapshotview.Unpacked("image/svg+xml", share.Badge(label, text, title)))
	return nil
}

// embed serves the plot of a board for the pages of others.
func (h *Handler) embed(w http.ResponseWriter, r *http.Request, s *snapshotview.Site) error {
	html, ok, err := s.Views.Embed(cut(route.Param(r, "category")))
	if err != nil {
		return err
	}
	if !ok {
		h.missing(w, r, s)
		return nil
	}
	render.GuardEmbed(w.Header())
	h.Sender.Send(w, r, snapshotview.Unpacked("text/html; charset=utf-8", html))
	return nil
}

// feed serves what moved: on the site, for a tool or on a board.
func (h *Handler) feed(w http.ResponseWriter, r *http.Request, s *snapshotview.Site) error {
	query := r.URL.Query()
	tool, category := cut(query.Get("tool")), cut(query.Get("category"))
	var f share.Feed
	ok := true
	switch kind := query.Get("kind"); {
	case kind != "" && kind != "trials" && kind != "observed":
		h.Errors.Write(w, r, apierr.InvalidRequest("The query parameter kind must be trials or observed."))
		return nil
	case tool != "":
		f, ok = s.Views.FeedOfTool(tool)
	case category != "" && kind == "observed":
		f, ok = s.Views.FeedOfObserved(category)
	case category != "":
		f, ok = s.Views.FeedOfBoard(category)
	default:
		f = s.Views.Feed()
	}
	if !ok {
		h.Errors.Write(w, r, apierr.NotFound())
		return nil
	}
	body, err := share.Atom(f)
	if err == nil {
		h.Sender.Send(w, r, snapshotview.Unpacked("application/atom+xml; charset=utf-8", body))
	}
	return err
}
