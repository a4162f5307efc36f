package authapi

import (
	"context"
	"errors"
	"net/http"

	"github.com/firstpick/firstpick/server/auth/registrations"
	"github.com/firstpick/firstpick/server/channel/traffic"
	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/kit/reqbody"
	"github.com/firstpick/firstpick/server/kit/route"
	"github.com/firstpick/firstpick/server/store/state"
)

type keyRequest struct {
	Kind    string   `json:"kind"`
	Label   string   `json:"label"`
	Origins []string `json:"origins"`
}

// A keyAnswer is a collector key. Key is the key itself, in the answer to its
// creation alone.
type keyAnswer struct {
	ID         string   `json:"id"`
	Kind       string   `json:"kind"`
	Label      string   `json:"label"`
	Key        string   `json:"key,omitempty"`
	Shown      string   `json:"shown"`
	Origins    []string `json:"origins,omitempty"`
	CreatedAt  string   `json:"created_at"`
	LastUsedAt string   `json:"last_used_at,omitempty"`
}

type createdKey struct {
	keyAnswer
	Workspace slugOnly `json:"workspace"`
}

func (createdKey) status() int { return http.StatusCreated }

func keyOf(k *state.CollectorKey, key string) keyAnswer {
	a := keyAnswer{ID: k.ID, Kind: k.Kind, Label: k.Label, Key: key, Shown: k.Shown, Origins: k.Origins, CreatedAt: stamp(k.CreatedAt)}
	if !k.LastUsedAt.IsZero() {
		a.LastUsedAt = stamp(k.LastUsedAt)
	}
	return a
}

func keysOf(keys []state.CollectorKey) []keyAnswer {
	out := make([]keyAnswer, len(keys))
	for i := range keys {
		out[i] = keyOf(&keys[i], "")
	}
	return out
}

func (h *Handler) createKey(c *registrations.Caller, r *http.Request) (any, error) {
	b, err := h.bearer(r)
	if err != nil {
		return nil, err
	}
	var req keyRequest
	if err := reqbody.Object(r, &req); err != nil {
		return nil, err
	}
	k, key, slug, err := h.Agents.CreateKey(r.Context(), c, b, registrations.KeyRequest(req))
	if err != nil {
		return nil, err
	}
	return createdKey{keyOf(k, key), slugOnly{slug}}, nil
}

// keys lists the collector keys that work.
func (h *Handler) keys(_ *registrations.Caller, r *http.Request) (any, error) {
	b, err := h.bearer(r)
	if err != nil {
		return nil, err
	}
	keys, err := h.Agents.Keys(r.Context(), b)
	return map[string]any{"keys": keysOf(keys)}, err
}

// revokeKey ends a collector key.
func (h *Handler) revokeKey(c *registrations.Caller, r *http.Request) (any, error) {
	b, err := h.bearer(r)
	if err != nil {
		return nil, err
	}
	id := route.Param(r, "id")
	return map[string]string{"revoked": id}, h.Agents.RevokeKey(r.Context(), c, b, id)
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
	Keys []keyAnswer `json:"keys"`
	*traffic.Report
}

func (h *Handler) workspace(_ *registrations.Caller, r *http.Request) (any, error) {
	b, err := h.bearer(r)
	if err != nil {
		return nil, err
	}
	ws, keys, err := h.Agents.ReadWorkspace(r.Context(), b)
	if err != nil {
		return nil, err
	}
	out := workspaceAnswer{Keys: keysOf(keys)}
	out.Workspace.Slug, out.Workspace.Plan, out.Workspace.State = ws.Slug, ws.Plan, ws.State(h.Agents.Now())
	out.Workspace.CreatedAt, out.Workspace.ClaimedAt = stamp(ws.CreatedAt), stamp(ws.ClaimedAt)
	out.Workspace.RetentionDays, out.Workspace.Site, out.Workspace.Currency = ws.RetentionDays, ws.Site, ws.Currency
	if h.Reports == nil {
		return out, nil
	}
	q, err := traffic.ParseQuery(r.URL.Query(), h.Agents.Now())
	if err != nil {
		return nil, err
	}
	if out.Report, err = h.Reports.Report(r.Context(), b.WorkspaceID, q); err != nil {
		return nil, unreported(r.Context(), err)
	}
	return out, nil
}

// unreported turns a report that failed into what is told.
func unreported(ctx context.Context, err error) error {
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
