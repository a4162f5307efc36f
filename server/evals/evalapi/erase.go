package evalapi

import (
	"context"
	"net/http"

	"github.com/firstpick/firstpick/server/evals/evals"
)

// eraseEval deletes an eval with its runs.
func (h *Handler) eraseEval(c *call) error { return c.erase(h.Evals.EraseEval, c.param("id")) }

// eraseRun deletes a run with its results.
func (h *Handler) eraseRun(c *call) error { return c.erase(h.Evals.EraseRun, c.param("runId")) }

// erase answers 200 when the thing is deleted, 202 while a run of it has to stop first.
func (c *call) erase(do func(context.Context, evals.Actor, string) (*evals.Erased, error), id string) error {
	if _, err := c.query(); err != nil {
		return err
	}
	erased, err := do(c.r.Context(), c.Actor, id)
	if err != nil {
		return err
	}
	status := http.StatusAccepted
	if erased.Erased {
		status = http.StatusOK
	}
	return c.done(status, erased)
}
