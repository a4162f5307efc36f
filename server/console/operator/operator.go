// Package operator serves the pages of operators, who run the server:
//
//	/operator             health, queue of runs, failed runs, counts
//	/operator/workspaces  workspaces, with search, and their plans
//	/operator/snapshots   published snapshots: promote, roll back
//	/operator/issuers     trusted identity providers
//	/operator/log         the audit log over all workspaces
//
// For accounts that are not operators the pages do not exist. A page shows that something
// of a workspace exists, never its content: no secrets, events, prompts or answers. The
// pages are HTML made at every request and work without script.
package operator

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/firstpick/firstpick/server/console/layout"
)

// A Handler serves the routes.
type Handler struct {
	*layout.Frame
	// Health returns the state of this server.
	Health func(context.Context) Health
	// Snapshots are the published snapshots; nil for a server that does not know them.
	Snapshots Snapshots
}

// Health is the state of a server, as its probes report it.
type Health struct {
	Version   string
	Store     string // ok, read-only, or down
	Engine    string // of the store
	LimitsOff bool
	Evals     bool      // workspaces may have evals
	Snapshot  string    // id of the served snapshot; empty without one
	AsOf      time.Time // of its data; zero for unknown
	Synthetic bool
	Retracted string // the reason for which the log retracts it
	Boards    int
	// FreeDisk is the free space of the data folder in bytes; negative for unknown.
	FreeDisk int64
}

const (
	home = "/operator"
	// shown bounds the lists of runs.
	shown = 50
)

// Mount registers the routes.
func (h *Handler) Mount(r chi.Router) {
	r = r.With(h.Guard)
	r.Get(home, h.GetOperator(h.overview))
	r.Get(workspacesPath, h.GetOperator(func(v *layout.Visit) error { return h.workspaces(v, http.StatusOK, problem{}) }))
	r.Post(workspacesPath+"/plan", h.post(workspacesPath, h.setPlan))
	r.Get(snapshotsPath, h.GetOperator(func(v *layout.Visit) error { return h.snapshots(v, http.StatusOK, problem{}) }))
	r.Post(snapshotsPath+"/promote", h.post(snapshotsPath, h.promote))
	r.Get(issuersPath, h.GetOperator(func(v *layout.Visit) error { return h.issuers(v, http.StatusOK, problem{}, issuerForm{}) }))
	r.Post(issuersPath+"/add", h.post(issuersPath, h.addIssuer))
	r.Post(issuersPath+"/remove", h.post(issuersPath, h.removeIssuer))
	r.Get(logPath, h.GetOperator(h.log))
}

// post serves a form of the page at back. All forms demand a sign-in within the last hour.
func (h *Handler) post(back string, do func(*layout.Visit) error) http.HandlerFunc {
	return h.Post(layout.Action{Operator: true, Fresh: true, Back: back, Do: do})
}

// actionTimeout bounds an action that whole carries out: a promotion reads every file of the
// snapshot.
const actionTimeout = 5 * time.Minute

// whole returns the context of an action that must not stop halfway: it goes on when the
// browser is gone, and the response may take as long.
func whole(v *layout.Visit) (context.Context, context.CancelFunc, error) {
	until := time.Now().Add(actionTimeout) //nolint:forbidigo // connections use the system clock
	if err := http.NewResponseController(v.W).SetWriteDeadline(until); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return nil, nil, err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(v.R.Context()), actionTimeout)
	return ctx, cancel, nil
}

// A page is the frame of the pages.
type page struct {
	Tabs      []layout.Tab
	FormToken string
	Email     string
	Stale     bool // changes need a new sign-in
	Notice    string
	Problem   problem
}

// A problem is why a form was not carried out. Command does it in a terminal; optional.
type problem struct{ Form, Text, Command string }

// page returns the frame of a page under a tab.
func (h *Handler) page(v *layout.Visit, tab string, wrong problem) page {
	p := page{FormToken: v.Signed.FormToken(), Email: v.Signed.Account.Email, Stale: !v.Fresh(), Problem: wrong}
	for _, t := range []struct{ name, path string }{{"Overview", ""}, {"Workspaces", "/workspaces"}, {"Snapshots", "/snapshots"}, {"Issuers", "/issuers"}, {"Log", "/log"}} {
		p.Tabs = append(p.Tabs, layout.Tab{Name: t.name, Link: home + t.path, On: t.name == tab})
	}
	return p
}
