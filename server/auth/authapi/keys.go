package authapi

import (
	"net/http"

	"github.com/firstpick/firstpick/server/auth/registrations"
	"github.com/firstpick/firstpick/server/channel/workspaceapi"
	"github.com/firstpick/firstpick/server/kit/reqbody"
	"github.com/firstpick/firstpick/server/kit/route"
)

type keyRequest struct {
	Kind    string   `json:"kind"`
	Label   string   `json:"label"`
	Origins []string `json:"origins"`
}

type createdKey struct {
	workspaceapi.Key
	Workspace slugOnly `json:"workspace"`
}

func (createdKey) Status() int { return http.StatusCreated }

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
	return createdKey{workspaceapi.KeyOf(k, key), slugOnly{slug}}, nil
}

// keys lists the collector keys that work.
func (h *Handler) keys(_ *registrations.Caller, r *http.Request) (any, error) {
	b, err := h.bearer(r)
	if err != nil {
		return nil, err
	}
	keys, err := h.Agents.Keys(r.Context(), b)
	return map[string]any{"keys": workspaceapi.KeysOf(keys)}, err
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
