package evalapi

import (
	"net/http"

	"github.com/firstpick/firstpick/server/evals/evals"
	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/kit/reqbody"
)

// providerKeys lists the keys of model providers that the workspace has set.
func (h *Handler) providerKeys(c *call) error {
	if _, err := c.query(); err != nil {
		return err
	}
	keys, err := h.Evals.ProviderKeys(c.r.Context(), c.Actor)
	if err != nil {
		return err
	}
	return c.ok(struct {
		Keys []*evals.ProviderKey `json:"providerKeys"`
	}{keys})
}

// setProviderKey stores a key. No response contains it.
func (h *Handler) setProviderKey(c *call) error {
	if _, err := c.query(); err != nil {
		return err
	}
	var body struct {
		Value *string  `json:"value"`
		Hosts []string `json:"hosts"`
	}
	if err := reqbody.StrictObject(c.r, &body); err != nil {
		return err
	}
	change := evals.KeyChange{Name: c.param("name"), Hosts: body.Hosts}
	switch {
	case body.Value == nil && body.Hosts == nil:
		return apierr.InvalidRequest("value is missing: the key of the provider.")
	case body.Value != nil && *body.Value == "":
		return apierr.InvalidRequest("value is empty. Leave it out to keep the key that is there.")
	case body.Value != nil:
		change.Value = *body.Value
	}
	key, err := h.Evals.SetProviderKey(c.r.Context(), c.Actor, change)
	if err != nil {
		return err
	}
	return c.done(http.StatusOK, key)
}

func (h *Handler) dropProviderKey(c *call) error {
	if _, err := c.query(); err != nil {
		return err
	}
	if err := h.Evals.DropProviderKey(c.r.Context(), c.Actor, c.param("name")); err != nil {
		return err
	}
	c.w.Header().Set("Cache-Control", "no-store")
	c.w.WriteHeader(http.StatusNoContent)
	return nil
}

// key returns the request's key, its workspace and the workspace's limits.
func (h *Handler) key(c *call) error {
	if _, err := c.query(); err != nil {
		return err
	}
	k, err := h.Evals.Key(c.r.Context(), c.Actor)
	if err != nil {
		return err
	}
	type workspace struct {
		Slug string `json:"slug"`
		Plan string `json:"plan"`
	}
	type limits struct {
		BudgetUSD    float64 `json:"budgetUsd"`
		Queued       int     `json:"queuedRuns"`
		Evals        int     `json:"evals"`
		Versions     int     `json:"versions"`
		ProviderKeys int     `json:"providerKeys"`
	}
	caps := h.Evals.Limits()
	return c.ok(struct {
		*evals.Key
		Workspace workspace `json:"workspace"`
		Limits    limits    `json:"limits"`
	}{k, workspace{c.Workspace.Slug, h.Evals.Plan(c.Workspace)}, limits{caps.BudgetUSD, caps.Queued, caps.Evals, caps.Versions, caps.ProviderKeys}})
}
