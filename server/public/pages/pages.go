// Package pages serves the pages of the current site, as HTML and as markdown, the search
// for a tool, and the style sheets and scripts of all pages.
package pages

import (
	"context"
	"net/http"
	"path"
	"strconv"
	"strings"

	"github.com/go-chi/chi/v5"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/analytics/nights"
	"github.com/firstpick/firstpick/publish/trialset"
	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/kit/negotiate"
	"github.com/firstpick/firstpick/server/kit/render"
	"github.com/firstpick/firstpick/server/kit/route"
	"github.com/firstpick/firstpick/server/public/archive"
	"github.com/firstpick/firstpick/server/public/snapshotview"
	"github.com/firstpick/firstpick/server/public/views"
)

// A Handler answers from the current site. All fields are required.
type Handler struct {
	Current func() *snapshotview.Site
	Sender  *snapshotview.Sender
	Errors  apierr.Writer
	Missing *snapshotview.Missing
	Archive Archive
	SignIn  bool // this server has accounts

	pictures gallery
	made     composed
}

// An Archive has what pages show besides the current snapshot. Errors are *apierr.Error.
type Archive interface {
	Series(ctx context.Context, category string) (nights.Series, error)
	List(ctx context.Context) ([]archive.Snapshot, error)
	Manifest(ctx context.Context, id string) (views.Manifest, error)
	Cells(ctx context.Context, s *snapshotview.Site, category string) ([]analytics.Cell, error)
	Trials(ctx context.Context, q archive.TrialsQuery) (archive.TrialPage, error)
	Trial(ctx context.Context, id string) (archive.FullTrial, error)
	Neighbours(ctx context.Context, t archive.FullTrial, e trialset.Entry) (archive.Neighbours, error)
}

// A handler answers a request from a site. An error becomes a page.
type handler func(w http.ResponseWriter, r *http.Request, s *snapshotview.Site) error

// Mount registers the routes.
func (h *Handler) Mount(r chi.Router) {
	for _, path := range []string{
		"/", "/index.md", "/leaderboards", "/leaderboards.md", "/tools", "/tools.md", "/tools/{tool}", "/observed/{category}",
		"/ai-agents", "/ai-agents.md", "/ai-agents/{agent}", "/changes", "/changes.md", "/for-vendors", "/for-vendors.md", "/compare.md",
	} {
		h.mount(r, path, h.page)
	}
	h.mount(r, "/leaderboards/{category}", h.board)
	h.mount(r, "/leaderboards/{category}/history", h.history)
	h.mount(r, "/leaderboards/{category}/history.md", h.history)
	h.mount(r, "/leaderboards/{category}/trials", h.trials)
	h.mount(r, "/leaderboards/{category}/trials.md", h.trials)
	h.mount(r, "/leaderboards/{category}/prompts/*", h.prompt)
	h.mount(r, "/trials/{trial}", h.trial)
	h.mount(r, "/compare", h.compare)
	h.mount(r, "/compare/{pair}", h.comparison)
	h.mount(r, "/snapshots", h.snapshots)
	h.mount(r, "/snapshots.md", h.snapshots)
	h.mount(r, "/snapshots/{snapshot}", h.snapshot)
	h.mount(r, "/search", h.search)
	h.mount(r, "/og/*", h.og)
	h.mount(r, "/badge/{tool}", h.badge)
	h.mount(r, "/feed.atom", h.feed)
	h.mount(r, "/embed/leaderboards/{category}", h.embed)
	route.Public(r, "/observed", list)
	for _, a := range render.Assets() {
		route.Public(r, a.Path, negotiate.NewDocument(a.ContentType, "public, max-age=31536000, immutable", a.Body).ServeHTTP)
		if strings.HasSuffix(a.Path, ".png") { // for clients that read no page
			route.Public(r, "/favicon.ico", negotiate.NewDocument(a.ContentType, "public, max-age=86400", a.Body).ServeHTTP)
		}
	}
}

func (h *Handler) mount(r chi.Router, path string, serve handler) {
	route.Public(r, path, func(w http.ResponseWriter, r *http.Request) {
		render.Guard(w.Header())
		s := h.Current()
		if s == nil && wantsJSON(r) {
			h.Errors.Write(w, r, apierr.Unavailable())
			return
		}
		if s == nil {
			writeHTML(w, http.StatusServiceUnavailable, h.empty())
			return
		}
		if err := serve(w, r, s); err != nil {
			h.fail(w, r, s, err)
		}
	})
}

// empty is the page of a server without a snapshot.
func (h *Handler) empty() []byte {
	next := []render.Link{{Path: "/docs", Text: "Read the documentation"}}
	if h.SignIn {
		next = append([]render.Link{{Path: "/signin", Text: "Sign in to create a workspace"}}, next...)
	}
	return render.ErrorPage("No snapshot yet", "This server has no leaderboards yet. Its operator publishes the first snapshot with the command “firstpick publish”.", next...)
}

// page serves a page that is the same for all.
func (h *Handler) page(w http.ResponseWriter, r *http.Request, s *snapshotview.Site) error {
	page := s.Page(render.PagePath(r.URL.Path))
	if page == (snapshotview.Page{}) {
		h.missing(w, r, s)
		return nil
	}
	h.Sender.SendPage(w, r, page)
	return nil
}

// compose answers with a page that is made for the request, at its path with its query.
// version is what the page depends on besides the snapshot.
func (h *Handler) compose(w http.ResponseWriter, r *http.Request, s *snapshotview.Site, path, version string, make func(context.Context) (views.Page, error)) error {
	page, err := h.made.get(r.Context(), s, path, version, make)
	if err == nil {
		h.Sender.SendPage(w, r, page)
	}
	return err
}

// fail answers an error.
func (h *Handler) fail(w http.ResponseWriter, r *http.Request, s *snapshotview.Site, err error) {
	e := *apierr.Of(err)
	switch {
	case e.Status == http.StatusServiceUnavailable && !wantsJSON(r):
		w.Header().Set("Retry-After", strconv.Itoa(max(1, e.RetryAfter)))
		writeHTML(w, e.Status, render.ErrorPage("Try again in a moment", e.Description))
	case e.Status >= http.StatusInternalServerError:
		h.Errors.Write(w, r, &e)
	case r.URL.Query().Get("cursor") != "" && e.Status == http.StatusBadRequest: // of another snapshot: back to the first page
		q := r.URL.Query()
		q.Del("cursor")
		http.Redirect(w, r, r.URL.Path+"?"+q.Encode(), http.StatusSeeOther)
	default:
		out := snapshotview.NotFound{Error: &e, Near: near(s, r, &e), Fallback: snapshotview.HTML}
		if text, _, found := strings.Cut(e.Description, ";"); found { // what JSON has behind it
			e.Description = text + "."
		}
		h.Missing.Write(w, r, out)
	}
}

// missing answers a request for a tool, a category or an agent that has no page.
func (h *Handler) missing(w http.ResponseWriter, r *http.Request, s *snapshotview.Site) {
	name := render.PagePath(path.Base(r.URL.Path))
	out := snapshotview.NotFound{Error: apierr.CategoryNotFound(nil), Fallback: snapshotview.HTML}
	if strings.HasPrefix(r.URL.Path, "/ai-agents/") {
		out.Error = apierr.NotFound()
		out.Error.Description = "No agent of this name is measured."
		out.Near = append(s.Views.NearAgents(cut(name)), render.Link{Path: "/ai-agents", Text: "All agents"})
		h.Missing.Write(w, r, out)
		return
	}
	near := find(s, cut(name))
	if strings.HasPrefix(r.URL.Path, "/tools/") {
		out.Error = apierr.ToolNotFound("No tool of this name is measured.", nil)
		if text := s.Unused(cut(name)); text != "" {
			out.Error.Description = "No trials measure this tool. " + text
		}
		for _, t := range near.Suggestions {
			out.Error.Suggestions = append(out.Error.Suggestions, t.Slug)
			out.Near = append(out.Near, render.Link{Path: strings.TrimPrefix(t.URL, s.BaseURL), Text: t.Tool})
		}
		for _, slug := range near.tools {
			if tool, ok := s.Views.ObservedTool(slug); ok {
				out.Near = append(out.Near, render.Link{Path: "/tools/" + slug, Text: tool})
			}
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
