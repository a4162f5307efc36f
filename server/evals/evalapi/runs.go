package evalapi

import (
	"context"
	"net/http"
	"net/url"

	"github.com/firstpick/firstpick/server/evals/evals"
	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/kit/reqbody"
)

// start puts a run of an eval into the queue.
func (h *Handler) start(c *call) error {
	if _, err := c.query(); err != nil {
		return err
	}
	var body struct {
		BudgetUSD *float64 `json:"budgetUsd"`
		Version   *int     `json:"version"`
	}
	if err := reqbody.StrictObject(c.r, &body); err != nil {
		return err
	}
	if body.BudgetUSD == nil {
		return apierr.BadBody("budget_required", "budgetUsd is missing: the maximum cost of the run, in US dollars. No request is sent beyond it.")
	}
	if body.Version != nil && *body.Version < 1 {
		return apierr.BadBody("invalid_version", "version counts from 1; leave it out for the latest.")
	}
	keys := c.r.Header.Values("Idempotency-Key")
	if len(keys) > 1 || len(keys) == 1 && keys[0] == "" {
		return apierr.BadBody("invalid_idempotency_key", "Send at most one Idempotency-Key.")
	}
	req := evals.StartRequest{EvalID: c.param("id"), BudgetUSD: *body.BudgetUSD}
	if len(keys) == 1 {
		req.IdempotencyKey = keys[0]
	}
	if body.Version != nil {
		req.Version = *body.Version
	}
	run, replayed, err := h.Evals.Start(c.r.Context(), c.Actor, req)
	if err != nil {
		return err
	}
	c.w.Header().Set("Location", h.Errors.Base+"/api/v1/runs/"+run.ID)
	if replayed {
		c.w.Header().Set("Idempotent-Replayed", "true")
	}
	return c.done(http.StatusAccepted, run)
}

func (h *Handler) runs(c *call) error {
	values, err := c.query("eval", "status", "limit", "cursor")
	if err != nil {
		return err
	}
	return h.list(c, values, values.Get("eval"))
}

// runsOfEval is the history of an eval.
func (h *Handler) runsOfEval(c *call) error {
	values, err := c.query("status", "limit", "cursor")
	if err != nil {
		return err
	}
	if _, err := h.Evals.Eval(c.r.Context(), c.Actor, c.param("id")); err != nil {
		return err
	}
	return h.list(c, values, c.param("id"))
}

// list answers with runs, newest first.
func (h *Handler) list(c *call, values url.Values, eval string) error {
	limit, err := rows(values, pageRows, maxRows)
	if err != nil {
		return err
	}
	list, next, err := h.Evals.Runs(c.r.Context(), c.Actor, evals.RunQuery{
		EvalID: eval, Status: values.Get("status"), Cursor: values.Get("cursor"), Limit: limit,
	})
	if err != nil {
		return err
	}
	return c.ok(struct {
		Runs []*evals.Run `json:"runs"`
		Next *string      `json:"nextCursor"`
	}{list, h.next(c, values, next)})
}

// run answers with a run and its scores.
func (h *Handler) run(c *call) error {
	return get(c, func(ctx context.Context) (*evals.Report, error) {
		return h.Evals.Report(ctx, c.Actor, c.param("runId"))
	})
}

// cancel asks to cancel a run: 200 when it has ended, by this or before, 202 while
// its worker has yet to hear of it.
func (h *Handler) cancel(c *call) error {
	if _, err := c.query(); err != nil {
		return err
	}
	run, err := h.Evals.Cancel(c.r.Context(), c.Actor, c.param("runId"))
	if err != nil {
		return err
	}
	status := http.StatusAccepted
	if run.EndedAt != nil {
		status = http.StatusOK
	}
	return c.done(status, run)
}

// compare writes the comparison of two runs.
func (h *Handler) compare(c *call) error {
	values, err := c.query("with")
	if err != nil {
		return err
	}
	if values.Get("with") == "" {
		return apierr.InvalidRequest("The parameter with is missing: the id of the run to compare with.")
	}
	comparison, err := h.Evals.Compare(c.r.Context(), c.Actor, c.param("runId"), values.Get("with"))
	if err != nil {
		return err
	}
	return c.ok(comparison)
}
