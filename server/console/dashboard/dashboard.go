// Package dashboard serves the pages of a workspace to its members: agents, pages,
// missing pages, referrals, conversions, and the settings.
//
//	/workspaces            the workspaces of who is signed in
//	/workspaces/{slug}     one of them, and its pages below
//
// Somebody else's workspace is answered like one that is not there. The pages
// are HTML made at every request; they need no script.
package dashboard

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/firstpick/firstpick/server/auth/session"
	"github.com/firstpick/firstpick/server/channel/alert"
	"github.com/firstpick/firstpick/server/channel/collect"
	"github.com/firstpick/firstpick/server/channel/picks"
	"github.com/firstpick/firstpick/server/channel/traffic"
	"github.com/firstpick/firstpick/server/console/layout"
	"github.com/firstpick/firstpick/server/kit/sse"
	"github.com/firstpick/firstpick/server/store/identity"
)

// A Handler serves the routes. All fields but Reports, Alerts and Picks are required.
type Handler struct {
	*layout.Frame
	Collect *collect.Service
	// Reports are of workspaces' traffic. Nil where another server makes them: then
	// pages say so.
	Reports traffic.Reports
	// Alerts are sent to owners; nil disables them.
	Alerts *alert.Service
	// Picks knows what is measured of the workspaces' tools; nil leaves it out.
	Picks picks.Source
	// Streams bounds how many pages wait for a first event at a time.
	Streams *sse.Limiter
	// Sleep waits between two looks for it, or returns the error of the context.
	Sleep func(ctx context.Context, d time.Duration) error
}

// Mount registers the routes.
func (h *Handler) Mount(r chi.Router) {
	r = r.With(h.Guard)
	r.Get("/workspaces", h.list)
	r.Post("/workspaces", h.Post(layout.Action{Do: h.create}))
	r.Post("/account/erase", h.Post(layout.Action{Do: h.eraseAccount, Fresh: true, Back: "?all"}))
	for path, page := range map[string]func(*visit) error{
		"":                  h.overview,
		"/agents":           h.agents,
		"/agents/{agent}":   h.agent,
		"/pages":            h.pages,
		"/gaps":             h.gaps,
		"/referrals":        h.referrals,
		"/conversions":      h.conversions,
		"/conversions/{id}": h.conversion,
		"/noise":            h.noise,
		"/install":          h.install,
		"/first-event":      h.firstEvent,
	} {
		r.Get("/workspaces/{slug}"+path, h.get(identity.Viewer, page))
	}
	for path, page := range map[string]func(*visit) error{"/settings": h.settings, "/export": h.export} {
		r.Get("/workspaces/{slug}"+path, h.get(identity.Editor, page))
	}
	actions := map[string]action{
		"":             {do: h.change},
		"/keys":        {do: h.createKey, fresh: true},
		"/keys/revoke": {do: h.revokeKey, fresh: true},
		"/erase":       {do: h.erase, fresh: true, need: identity.Owner},
		"/delete":      {do: h.eraseWorkspace, fresh: true, need: identity.Owner},
	}
	if h.Alerts != nil {
		actions["/alerts/mail"] = action{do: h.setEmail}
		actions["/webhooks"] = action{do: h.addWebhook, fresh: true}
		actions["/webhooks/rotate"] = action{do: h.rotateWebhook, fresh: true}
		actions["/webhooks/remove"] = action{do: h.removeWebhook, fresh: true}
		actions["/alerts/test"] = action{do: h.test}
	}
	if h.Alerts != nil && h.Picks != nil {
		actions["/tool"] = action{do: h.followTool}
	}
	r.Post("/workspaces/{slug}/install", h.post(action{do: h.withKey}))
	for path, a := range actions {
		r.Post("/workspaces/{slug}/settings"+path, h.post(a))
	}
}

// A visit is a request for a page of a workspace, with its query.
type visit struct {
	*layout.Visit
	h     *Handler
	query *query
}

// get serves a page of a workspace to members whose role includes need.
func (h *Handler) get(need identity.Role, page func(*visit) error) http.HandlerFunc {
	return h.Get(need, func(v *layout.Visit) error { return h.visit(v, page) })
}

func (h *Handler) visit(v *layout.Visit, do func(*visit) error) error {
	q, err := readQuery(v.R, h.Sessions.Now())
	if tab := tabOf(v.R.URL.Path); err != nil && v.R.Method == http.MethodGet && tab != "" {
		return h.showWrong(v, tab, err)
	}
	if err == nil {
		err = do(&visit{v, h, q})
	}
	if errors.Is(err, errNoReports) {
		if v.R.URL.RawQuery == layout.JoinedQuery { // a new member would see no page of the workspace
			session.See(v.W, v.R, layout.Under("/workspaces", v.Workspace.Slug, "settings", "members")+"?"+layout.JoinedQuery)
			return nil
		}
		h.ShowMessage(v.W, http.StatusServiceUnavailable, "No reports on this server", "Another server on its data folder computes them. Ask the operator.")
		return nil
	}
	return err
}

// An action changes something in the settings; fresh demands a sign-in within the
// last hour, and need a role other than editor.
type action struct {
	do    func(*visit) error
	fresh bool
	need  identity.Role
}

// post serves an action.
func (h *Handler) post(a action) http.HandlerFunc {
	return h.Post(layout.Action{Need: a.need, Fresh: a.fresh, Back: "/settings", Do: func(v *layout.Visit) error { return h.visit(v, a.do) }})
}

// errNoReports says that the server has no read model.
var errNoReports = errors.New("reports are disabled on this server")

// A page is the shared part of traffic pages.
type page struct {
	layout.Page
	Filter filter
	Health health
	query  *query
}

// To returns the address of a page of the workspace, with the query.
func (p page) To(parts ...string) string { return p.query.link(layout.Under(p.Path, parts...)) }

// NoVisits says that no visit of an agent is in the window, and why.
func (p page) NoVisits() string { return p.query.noVisits() }

// only returns the address of the overview with one more filter.
func (p *page) only(name, value string) string {
	if value == "" {
		return ""
	}
	return p.query.link(p.Path, name, value)
}

// A health says whether events come.
type health struct {
	Text, Through string
	Warn          bool
	None          bool // nothing came yet
}

// page returns the frame of a page; tab is which of the workspace's.
func (v *visit) page(tab string) page {
	p := page{Filter: v.query.filter(v.R.URL.EscapedPath()), query: v.query}
	if tab == "Settings" {
		p.Page = v.Settings("site", v.link)
	} else {
		p.Page = v.Page(tab, v.link)
	}
	return p
}

// link returns the address of a tab; its tables have columns of their own.
func (v *visit) link(path string) string { return v.query.link(path, "sort", "") }

// show answers with a page.
func (v *visit) show(name, title string, data any) error {
	return v.Show(http.StatusOK, name, title, data)
}

// report asks for parts of the report, and fills in how events come.
func (v *visit) report(p *page, parts traffic.Parts, limit int) (*traffic.Report, error) {
	if v.h.Reports == nil {
		return nil, errNoReports
	}
	q := v.query.Query
	q.Parts, q.Limit = parts, limit
	r, err := v.h.Reports.Report(v.R.Context(), v.Workspace.ID, q)
	if err != nil {
		return nil, err
	}
	p.Health = v.health(&r.Health, r.Window.CompleteThrough)
	p.Filter.suggest(r)
	return r, nil
}

// silent is how long nothing may come until the page warns.
const silent = 24 * time.Hour

func (v *visit) health(in *traffic.Health, through string) health {
	out := health{Through: moment(through, v.query.TZ)}
	if in.LastEventAt == nil {
		out.None = true
		return out
	}
	last, err := time.Parse(time.RFC3339, *in.LastEventAt)
	if err != nil {
		return out
	}
	since := v.query.now.Sub(last)
	out.Text, out.Warn = "Last event received "+ago(since), since >= silent
	return out
}
