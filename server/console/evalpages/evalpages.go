// Package evalpages serves the pages of a workspace's own evals to its members:
//
//	/workspaces/{slug}/evals           the list, the editor, the proposal from a site, schedules, the own catalogue
//	/workspaces/{slug}/runs            every run: live, its result, its traces, the comparison, why a tool loses
//	/workspaces/{slug}/settings/evals  keys of programs and of model providers
//
// The pages are HTML made at every request and work without script; a small one
// keeps a run under way up to date and finds lines in the editor.
package evalpages

import (
	"errors"
	"net/http"

	"github.com/go-chi/chi/v5"

	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/server/auth/session"
	"github.com/firstpick/firstpick/server/console/layout"
	"github.com/firstpick/firstpick/server/evals/evals"
	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/kit/reqctx"
	"github.com/firstpick/firstpick/server/kit/route"
	"github.com/firstpick/firstpick/server/kit/sse"
	"github.com/firstpick/firstpick/server/store/identity"
)

// A Handler serves the routes. All fields but Categories are required.
type Handler struct {
	*layout.Frame
	Evals *evals.Service
	// Streams bounds how many runs are watched at a time.
	Streams *sse.Limiter
	// Categories are those that an eval may measure, for a beginning to choose from.
	Categories []*catalog.Category
}

// Mount registers the routes.
func (h *Handler) Mount(r chi.Router) {
	r = r.With(h.Guard)
	for path, page := range map[string]func(*visit) error{
		"/evals":                      (*visit).list,
		"/evals/catalog":              (*visit).catalog,
		"/evals/catalog/versions/{n}": (*visit).catalogVersion,
		"/evals/{eval}":               (*visit).eval,
		"/evals/{eval}/versions/{n}":  (*visit).version,
		"/runs":                       (*visit).history,
		"/runs/{run}":                 (*visit).run,
		"/runs/{run}/events":          (*visit).events,
		"/runs/{run}/traces":          (*visit).traces,
		"/runs/{run}/traces/{trial}":  (*visit).trace,
		"/runs/{run}/compare":         (*visit).compare,
		"/runs/{run}/files/{name}":    (*visit).file,
		"/runs/{run}/explain":         (*visit).explain,
	} {
		r.Get(workspacePath+path, h.get(identity.Viewer, page))
	}
	for path, page := range map[string]func(*visit) error{
		"/evals/new":             (*visit).newEval,
		"/evals/measure":         (*visit).measure,
		"/evals/{eval}/edit":     (*visit).editEval,
		"/evals/{eval}/schedule": (*visit).schedule,
		"/settings/evals":        (*visit).settings,
	} {
		r.Get(workspacePath+path, h.get(identity.Editor, page))
	}
	for path, a := range actions() {
		r.Post(workspacePath+path, h.Post(layout.Action{
			Do: func(v *layout.Visit) error { return a.do(&visit{Visit: v, h: h}) }, Back: a.back, Fresh: a.fresh,
		}))
	}
}

// get serves a page to members whose role includes need.
func (h *Handler) get(need identity.Role, page func(*visit) error) http.HandlerFunc {
	return h.Get(need, func(v *layout.Visit) error { return page(&visit{Visit: v, h: h}) })
}

const workspacePath = "/workspaces/{slug}"

// maxForm bounds forms with an eval: escaped, a byte may take three.
const maxForm = 3*evals.MaxSource + route.DefaultMaxBody

// Limits implements route.Limited.
func (h *Handler) Limits() map[string]route.Limits {
	out := map[string]route.Limits{}
	for path, a := range actions() {
		out[workspacePath+path] = route.Limits{MaxBody: a.maxBody}
	}
	return out
}

// An action is what a form does.
type action struct {
	do      func(*visit) error
	back    string // where signing in leads
	fresh   bool   // asks for a fresh sign-in
	maxBody int64  // of the form; 0 means the default
}

func actions() map[string]action {
	return map[string]action{
		"/evals/catalog":                   {do: (*visit).saveCatalog, back: "/evals/catalog", maxBody: maxForm},
		"/evals/new":                       {do: (*visit).save, back: "/evals/new", maxBody: maxForm},
		"/evals/measure":                   {do: (*visit).propose, back: "/evals/measure", maxBody: maxForm},
		"/evals/{eval}/edit":               {do: (*visit).save, back: "/evals", maxBody: maxForm},
		"/evals/{eval}/runs":               {do: (*visit).start, back: "/evals", maxBody: maxForm},
		"/evals/{eval}/schedule":           {do: (*visit).saveSchedule, back: "/evals"},
		"/evals/{eval}/schedule/pause":     {do: (*visit).pauseSchedule, back: "/evals"},
		"/evals/{eval}/schedule/resume":    {do: (*visit).resumeSchedule, back: "/evals"},
		"/evals/{eval}/schedule/runs":      {do: (*visit).runSchedule, back: "/evals"},
		"/evals/{eval}/schedule/delete":    {do: (*visit).deleteSchedule, back: "/evals"},
		"/evals/{eval}/erase":              {do: (*visit).eraseEval, back: "/evals", fresh: true},
		"/runs/{run}/erase":                {do: (*visit).eraseRun, back: "/runs", fresh: true},
		"/runs/{run}/cancel":               {do: (*visit).cancel, back: "/runs"},
		"/settings/evals/keys":             {do: (*visit).createKey, back: "/settings/evals", fresh: true, maxBody: maxForm},
		"/settings/evals/keys/revoke":      {do: (*visit).revokeKey, back: "/settings/evals", fresh: true, maxBody: maxForm},
		"/settings/evals/providers":        {do: (*visit).setProvider, back: "/settings/evals", fresh: true, maxBody: maxForm},
		"/settings/evals/providers/remove": {do: (*visit).dropProvider, back: "/settings/evals", fresh: true, maxBody: maxForm},
	}
}

// A visit is a request for one of the pages.
type visit struct {
	*layout.Visit
	h   *Handler
	own []*catalog.Category // as categories found them
	// follows is the slug of the tool that the workspace follows; nil until it was read.
	follows *string
}

// actor is the member, with the role that the workspace gave.
func (v *visit) actor() evals.Actor {
	return evals.Actor{Workspace: v.Workspace, By: v.Signed.Account.ID, Role: v.Role, IP: reqctx.Client(v.W), UserAgent: v.R.UserAgent()}
}

func (v *visit) param(name string) string { return route.Param(v.R, name) }

// page returns the frame of a page of evals.
func (v *visit) page() layout.Page { return v.Page("Evals", nil) }

// at returns the address of a page of the workspace.
func (v *visit) at(parts ...string) string {
	return layout.Under("/workspaces", append([]string{v.Workspace.Slug}, parts...)...)
}

// see leads to a page of the workspace.
func (v *visit) see(path string) error {
	session.See(v.W, v.R, path)
	return nil
}

// paid says whether the workspace's plan includes running evals.
func (v *visit) paid() bool { return v.h.Evals.Plan(v.Workspace) == "paid" }

// wrong returns the problem of a form; nil when err is something else, such as
// a thing that is not there.
func wrong(err error) *apierr.Error {
	var e *apierr.Error
	if errors.As(err, &e) && e.Status < http.StatusInternalServerError && e.Status != http.StatusNotFound {
		return e
	}
	return nil
}
