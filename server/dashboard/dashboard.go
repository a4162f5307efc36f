// Package dashboard serves the pages of a workspace to its owner: what agents
// read, what they did not find, whom they sent, what came of it, and the settings.
//
//	/workspaces            the workspaces of who is signed in
//	/workspaces/{slug}     one of them, and its pages below
//
// Somebody else's workspace is answered like one that is not there. The pages
// are HTML made at every request; they need no script.
package dashboard

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/firstpick/firstpick/server/agents"
	"github.com/firstpick/firstpick/server/alert"
	"github.com/firstpick/firstpick/server/apierr"
	"github.com/firstpick/firstpick/server/collect"
	"github.com/firstpick/firstpick/server/reqctx"
	"github.com/firstpick/firstpick/server/session"
	"github.com/firstpick/firstpick/server/state"
	"github.com/firstpick/firstpick/server/traffic"
	"github.com/firstpick/firstpick/server/web"
)

// A Handler serves the routes. All fields but Reports and Alerts are required.
type Handler struct {
	Agents   *agents.Service
	Collect  *collect.Service
	Sessions *session.Manager
	Pages    session.Pages
	// Guard refuses requests of other sites (cross-origin forms).
	Guard func(http.Handler) http.Handler
	// Reports are of workspaces' traffic. Nil where another server makes them: then
	// pages say so.
	Reports traffic.Reports
	// Alerts are told to owners; nil leaves them out.
	Alerts *alert.Service
}

// Mount registers the routes.
func (h *Handler) Mount(r chi.Router) {
	r = r.With(h.Guard)
	r.Get("/workspaces", h.list)
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
		"/settings":         h.settings,
		"/export":           h.export,
	} {
		r.Get("/workspaces/{slug}"+path, h.get(page))
	}
	actions := map[string]action{
		"":             {do: h.change},
		"/keys":        {do: h.createKey, fresh: true},
		"/keys/revoke": {do: h.revokeKey, fresh: true},
		"/erase":       {do: h.erase, fresh: true},
	}
	if h.Alerts != nil {
		actions["/alerts/mail"] = action{do: h.setEmail}
		actions["/webhooks"] = action{do: h.addWebhook, fresh: true}
		actions["/webhooks/rotate"] = action{do: h.rotateWebhook, fresh: true}
		actions["/webhooks/remove"] = action{do: h.removeWebhook, fresh: true}
		actions["/alerts/test"] = action{do: h.test}
	}
	for path, a := range actions {
		r.Post("/workspaces/{slug}/settings"+path, h.post(a))
	}
}

// A visit is a request of somebody who is signed in for a workspace of theirs.
type visit struct {
	h         *Handler
	w         http.ResponseWriter
	r         *http.Request
	signed    *session.Signed
	workspace *state.Workspace
	query     *query
}

// open returns the visit, or answers.
func (h *Handler) open(w http.ResponseWriter, r *http.Request, back string) *visit {
	signed, err := h.Sessions.Current(r.Context(), r)
	if err != nil {
		h.broken(w, r, err)
		return nil
	}
	if signed == nil {
		h.Sessions.AskSignIn(w, r, back)
		return nil
	}
	v := &visit{h: h, w: w, r: r, signed: signed}
	if slug := chi.URLParam(r, "slug"); slug != "" {
		if v.workspace, err = h.Agents.OwnWorkspace(r.Context(), signed.Account, slug); err != nil {
			h.broken(w, r, err)
			return nil
		}
	}
	return v
}

// get serves a page of a workspace.
func (h *Handler) get(page func(*visit) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v := h.open(w, r, r.URL.RequestURI())
		if v == nil {
			return
		}
		var err error
		if v.query, err = readQuery(r, h.Sessions.Now()); err == nil {
			err = page(v)
		}
		if err != nil {
			h.broken(w, r, err)
		}
	}
}

// An action changes something in a workspace.
type action struct {
	do func(*visit) error
	// fresh demands a sign-in within the last hour: it cannot be undone.
	fresh bool
}

// post serves an action.
func (h *Handler) post(a action) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		settings := "/workspaces/" + url.PathEscape(chi.URLParam(r, "slug")) + "/settings"
		v := h.open(w, r, settings)
		if v == nil {
			return
		}
		if err := r.ParseForm(); err != nil || !v.signed.FormOK(r) {
			h.tell(w, http.StatusForbidden, "This form is old", "Go back, reload the page and try again.")
			return
		}
		if a.fresh && !v.signed.Fresh(h.Sessions.Now()) {
			h.Sessions.AskSignIn(w, r, settings)
			return
		}
		var err error
		if v.query, err = readQuery(r, h.Sessions.Now()); err == nil {
			err = a.do(v)
		}
		if err != nil {
			h.broken(w, r, err)
		}
	}
}

// errNoReports says that the server has no read model.
var errNoReports = errors.New("this server makes no reports")

func (h *Handler) tell(w http.ResponseWriter, status int, title, text string) {
	h.Pages.Tell(w, status, title, web.Message{Text: text, Next: web.Link{Path: "/workspaces", Text: "Your workspaces"}})
}

// broken answers with what went wrong.
func (h *Handler) broken(w http.ResponseWriter, r *http.Request, err error) {
	e := apierr.Of(err)
	switch {
	case errors.Is(err, errNoReports):
		h.tell(w, http.StatusServiceUnavailable, "No reports here", "This server makes none: another one on its data folder does. Ask whoever runs it.")
	case e.Status == http.StatusNotFound:
		h.tell(w, http.StatusNotFound, "Not found", e.Description)
	case e.Status < http.StatusInternalServerError:
		h.tell(w, e.Status, "That did not work", e.Description)
	case r.Context().Err() != nil: // nobody waits for the answer
		h.tell(w, http.StatusServiceUnavailable, "Try again in a moment", "The page took too long.")
	default:
		h.Pages.Log.Error("a page failed", "request_id", reqctx.ID(w), "path", r.URL.Path, "err", err)
		h.tell(w, http.StatusServiceUnavailable, "Try again in a moment", "Our store does not answer.")
	}
}

// list shows the workspaces of an account, or leads to the only one.
func (h *Handler) list(w http.ResponseWriter, r *http.Request) {
	v := h.open(w, r, "/workspaces")
	if v == nil {
		return
	}
	all, err := h.Agents.OwnWorkspaces(r.Context(), v.signed.Account)
	if err != nil {
		h.broken(w, r, err)
		return
	}
	if len(all) == 1 {
		session.See(w, r, "/workspaces/"+all[0].Slug)
		return
	}
	h.Pages.Show(w, http.StatusOK, "workspaces", "Your workspaces", struct {
		Workspaces []*state.Workspace
		BaseURL    string
	}{all, h.Agents.BaseURL})
}

// A page is what every page of a workspace shows.
type page struct {
	Slug, Name, Path string
	Site             string // empty while it is not known
	Tabs             []choice
	Filter           filter
	Health           health
	FormToken, Email string
	BaseURL          string
	query            *query
}

// To returns the address of a page of the workspace, with the query.
func (p page) To(parts ...string) string { return p.query.link(under(p.Path, parts...)) }

// under returns the address of a page below another.
func under(path string, parts ...string) string {
	for _, part := range parts {
		path += "/" + url.PathEscape(part)
	}
	return path
}

// A health says whether events come.
type health struct {
	Text, Through string
	Warn          bool
	None          bool // nothing came yet
}

// page returns the frame of a page; tab is which of the workspace's.
func (v *visit) page(tab string) page {
	p := page{
		Slug: v.workspace.Slug, Name: v.workspace.Slug, Path: "/workspaces/" + url.PathEscape(v.workspace.Slug), Site: v.workspace.Site,
		FormToken: v.signed.Session.FormToken, Email: v.signed.Account.Email, BaseURL: v.h.Agents.BaseURL, query: v.query,
	}
	if _, host, ok := strings.Cut(p.Site, "://"); ok {
		p.Name = host
	}
	for _, t := range []string{"Overview", "Agents", "Pages", "Gaps", "Referrals", "Conversions", "Noise", "Settings"} {
		path := p.Path
		if t != "Overview" {
			path += "/" + strings.ToLower(t)
		}
		p.Tabs = append(p.Tabs, choice{Name: t, Link: v.query.link(path), On: t == tab})
	}
	p.Filter = v.query.filter(v.r.URL.EscapedPath())
	return p
}

// show answers with a page.
func (v *visit) show(name, title string, data any) error {
	v.h.Pages.Show(v.w, http.StatusOK, name, title+" · "+v.workspace.Slug, data)
	return nil
}

// report asks for parts of the report, and fills in how events come.
func (v *visit) report(p *page, parts traffic.Parts, limit int) (*traffic.Report, error) {
	if v.h.Reports == nil {
		return nil, errNoReports
	}
	q := v.query.Query
	q.Parts, q.Limit = parts, limit
	r, err := v.h.Reports.Report(v.r.Context(), v.workspace.ID, q)
	if err != nil {
		return nil, err
	}
	p.Health = v.health(&r.Health, r.Window.CompleteThrough)
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
	out.Text, out.Warn = "Last event "+ago(since)+" · "+many(in.EventsLast24h, "event", "events")+" in 24 hours", since >= silent
	return out
}
