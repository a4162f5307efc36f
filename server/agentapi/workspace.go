package agentapi

import (
	"context"
	"net/http"

	"github.com/firstpick/firstpick/server/agents"
	"github.com/firstpick/firstpick/server/apierr"
	"github.com/firstpick/firstpick/server/state"
	"github.com/firstpick/firstpick/server/traffic"
)

type keyRequest struct {
	Kind    string   `json:"kind"`
	Label   string   `json:"label"`
	Origins []string `json:"origins"`
}

// A keyAnswer is a collector key. Key is the key itself, in the answer to its
// creation alone.
type keyAnswer struct {
	ID        string `json:"id"`
	Kind      string `json:"kind"`
	Label     string `json:"label"`
	Key       string `json:"key,omitempty"`
	Shown     string `json:"shown"`
	CreatedAt string `json:"created_at"`
}

type createdKey struct {
	keyAnswer
	Workspace slugOnly `json:"workspace"`
}

func (createdKey) status() int { return http.StatusCreated }

func keyOf(k *state.CollectorKey, key string) keyAnswer {
	return keyAnswer{k.ID, k.Kind, k.Label, key, k.Shown, stamp(k.CreatedAt)}
}

func (h *Handler) createKey(c *agents.Caller, r *http.Request) (any, error) {
	b, err := h.bearer(r)
	if err != nil {
		return nil, err
	}
	var req keyRequest
	if err := object(r, &req); err != nil {
		return nil, err
	}
	k, key, slug, err := h.Agents.CreateKey(r.Context(), c, b, agents.KeyRequest(req))
	if err != nil {
		return nil, err
	}
	return createdKey{keyOf(k, key), slugOnly{slug}}, nil
}

type workspaceAnswer struct {
	Workspace struct {
		Slug      string `json:"slug"`
		State     string `json:"state"`
		Plan      string `json:"plan"`
		CreatedAt string `json:"created_at"`
		ClaimedAt string `json:"claimed_at"`
	} `json:"workspace"`
	Keys []keyAnswer `json:"keys"`
	*traffic.Report
}

func (h *Handler) workspace(_ *agents.Caller, r *http.Request) (any, error) {
	b, err := h.bearer(r)
	if err != nil {
		return nil, err
	}
	ws, keys, err := h.Agents.ReadWorkspace(r.Context(), b)
	if err != nil {
		return nil, err
	}
	out := workspaceAnswer{Keys: []keyAnswer{}}
	out.Workspace.Slug, out.Workspace.Plan, out.Workspace.State = ws.Slug, ws.Plan, ws.State(h.Agents.Now())
	out.Workspace.CreatedAt, out.Workspace.ClaimedAt = stamp(ws.CreatedAt), stamp(ws.ClaimedAt)
	for i := range keys {
		if keys[i].RevokedAt.IsZero() {
			out.Keys = append(out.Keys, keyOf(&keys[i], ""))
		}
	}
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
	if ctx.Err() != nil {
		return apierr.Gone(err)
	}
	return &apierr.Error{
		Status: http.StatusServiceUnavailable, Code: "temporarily_unavailable", RetryAfter: 5, Cause: err, Description: "The report cannot be made now. Try again.",
	}
}
