// Package workspaceapi serves the data of a workspace to the holder of its access token:
// the report, conversions, events, and the data about a person.
package workspaceapi

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/firstpick/firstpick/server/channel/collect"
	"github.com/firstpick/firstpick/server/channel/traffic"
	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/kit/endpoint"
	"github.com/firstpick/firstpick/server/kit/route"
	"github.com/firstpick/firstpick/server/store/state"
)

// A Token is a valid access token of a request.
type Token interface {
	// Workspace returns the workspace of the token and its collector keys. It fails for a
	// token that may not read it.
	Workspace(ctx context.Context) (*state.Workspace, []state.CollectorKey, error)
	// MayErase fails for a token that may not change its workspace.
	MayErase() error
	// CountPerson counts a request about a person. It fails with a 429 after too many.
	CountPerson(ctx context.Context) error
	// AuditErasure records how many events of a person were erased.
	AuditErasure(ctx context.Context, events int) error
}

// A Handler serves the routes. All fields but Reports are required.
type Handler struct {
	endpoint.Server
	// Authenticate checks the access token of a request.
	Authenticate func(w http.ResponseWriter, r *http.Request) (Token, error)
	Collect      *collect.Service
	Now          func() time.Time
	// Reports are of the workspace's traffic; nil leaves them out.
	Reports traffic.Reports
}

// Mount registers the routes.
func (h *Handler) Mount(r chi.Router) {
	route.API(r, "Authorization, Content-Type", []route.Operation{
		route.On(http.MethodGet, "/api/agent/workspace", h.Handle(h.workspace)),
		route.On(http.MethodGet, "/api/agent/workspace/conversions", h.Handle(h.conversions)),
		route.On(http.MethodGet, "/api/agent/workspace/conversions/{id}", h.Handle(h.conversion)),
		route.On(http.MethodGet, "/api/agent/workspace/events", h.events),
		route.On(http.MethodPost, "/api/agent/workspace/person", h.Handle(h.person)),
		route.On(http.MethodPost, "/api/agent/workspace/erasure", h.Handle(h.erase)),
	})
}

// A Key is a collector key. Key is the key itself, in the response to its creation alone.
type Key struct {
	ID         string   `json:"id"`
	Kind       string   `json:"kind"`
	Label      string   `json:"label"`
	Key        string   `json:"key,omitempty"`
	Shown      string   `json:"shown"`
	Origins    []string `json:"origins,omitempty"`
	CreatedAt  string   `json:"created_at"`
	LastUsedAt string   `json:"last_used_at,omitempty"`
}

// KeyOf converts a stored key, with the key itself or without.
func KeyOf(k *state.CollectorKey, key string) Key {
	out := Key{ID: k.ID, Kind: k.Kind, Label: k.Label, Key: key, Shown: k.Shown, Origins: k.Origins, CreatedAt: endpoint.Time(k.CreatedAt)}
	if !k.LastUsedAt.IsZero() {
		out.LastUsedAt = endpoint.Time(k.LastUsedAt)
	}
	return out
}

// KeysOf converts stored keys.
func KeysOf(keys []state.CollectorKey) []Key {
	out := make([]Key, len(keys))
	for i := range keys {
		out[i] = KeyOf(&keys[i], "")
	}
	return out
}

type workspaceAnswer struct {
	Workspace struct {
		Slug          string `json:"slug"`
		State         string `json:"state"`
		Plan          string `json:"plan"`
		CreatedAt     string `json:"created_at"`
		ClaimedAt     string `json:"claimed_at"`
		RetentionDays int    `json:"retentionDays"`
		Site          string `json:"site,omitempty"`
		Currency      string `json:"currency,omitempty"`
	} `json:"workspace"`
	Keys []Key `json:"keys"`
	*traffic.Report
}

// read authenticates a request and returns the workspace that it may read.
func (h *Handler) read(w http.ResponseWriter, r *http.Request) (Token, *state.Workspace, []state.CollectorKey, error) {
	token, err := h.Authenticate(w, r)
	if err != nil {
		return nil, nil, nil, err
	}
	ws, keys, err := token.Workspace(r.Context())
	return token, ws, keys, err
}

func (h *Handler) workspace(w http.ResponseWriter, r *http.Request) (any, error) {
	_, ws, keys, err := h.read(w, r)
	if err != nil {
		return nil, err
	}
	now := h.Now()
	out := workspaceAnswer{Keys: KeysOf(keys)}
	out.Workspace.Slug, out.Workspace.Plan, out.Workspace.State = ws.Slug, ws.Plan, ws.State(now)
	out.Workspace.CreatedAt, out.Workspace.ClaimedAt = endpoint.Time(ws.CreatedAt), endpoint.Time(ws.ClaimedAt)
	out.Workspace.RetentionDays, out.Workspace.Site, out.Workspace.Currency = ws.RetentionDays, ws.Site, ws.Currency
	if h.Reports == nil {
		return out, nil
	}
	q, err := traffic.ParseQuery(r.URL.Query(), now)
	if err != nil {
		return nil, err
	}
	if out.Report, err = h.Reports.Report(r.Context(), ws.ID, q); err != nil {
		return nil, reportError(r.Context(), err)
	}
	return out, nil
}

// reportError converts the error of a report.
func reportError(ctx context.Context, err error) error {
	var known *apierr.Error
	if errors.As(err, &known) {
		return err
	}
	if ctx.Err() != nil {
		return apierr.Gone(err)
	}
	return &apierr.Error{
		Status: http.StatusServiceUnavailable, Code: "temporarily_unavailable", RetryAfter: 5, Cause: err, Description: "The report cannot be made now. Try again.",
	}
}
