package evalapi

import (
	"context"
	"net/http"

	"github.com/firstpick/firstpick/server/evals/evals"
	"github.com/firstpick/firstpick/server/kit/reqbody"
)

// schedules lists the schedules of the workspace, by the names of their evals.
func (h *Handler) schedules(c *call) error {
	return get(c, func(ctx context.Context) (any, error) {
		list, err := h.Evals.Schedules(ctx, c.Actor)
		return struct {
			Schedules []*evals.Schedule `json:"schedules"`
		}{list}, err
	})
}

func (h *Handler) schedule(c *call) error {
	return get(c, func(ctx context.Context) (*evals.Schedule, error) {
		return h.Evals.Schedule(ctx, c.Actor, c.param("id"))
	})
}

// putSchedule creates or changes the schedule of an eval.
func (h *Handler) putSchedule(c *call) error {
	if _, err := c.query(); err != nil {
		return err
	}
	var body struct {
		Cron             string  `json:"cron"`
		TimeZone         string  `json:"timeZone"`
		BudgetUSD        float64 `json:"budgetUsd"`
		MonthlyBudgetUSD float64 `json:"monthlyBudgetUsd"`
	}
	if err := reqbody.StrictObject(c.r, &body); err != nil {
		return err
	}
	s, created, err := h.Evals.PutSchedule(c.r.Context(), c.Actor, evals.ScheduleRequest{
		EvalID: c.param("id"), Cron: body.Cron, TimeZone: body.TimeZone, BudgetUSD: body.BudgetUSD, MonthlyBudgetUSD: body.MonthlyBudgetUSD,
	})
	if err != nil {
		return err
	}
	status := http.StatusOK
	if created {
		status = http.StatusCreated
		c.w.Header().Set("Location", s.URL)
	}
	return c.done(status, s)
}

func (h *Handler) dropSchedule(c *call) error {
	if _, err := c.query(); err != nil {
		return err
	}
	if err := h.Evals.DeleteSchedule(c.r.Context(), c.Actor, c.param("id")); err != nil {
		return err
	}
	c.w.Header().Set("Cache-Control", "no-store")
	c.w.WriteHeader(http.StatusNoContent)
	return nil
}

func (h *Handler) pauseSchedule(c *call) error  { return h.changeSchedule(c, h.Evals.PauseSchedule) }
func (h *Handler) resumeSchedule(c *call) error { return h.changeSchedule(c, h.Evals.ResumeSchedule) }

func (h *Handler) changeSchedule(c *call, change func(context.Context, evals.Actor, string) (*evals.Schedule, error)) error {
	if _, err := c.query(); err != nil {
		return err
	}
	s, err := change(c.r.Context(), c.Actor, c.param("id"))
	if err != nil {
		return err
	}
	return c.done(http.StatusOK, s)
}

// runSchedule queues a run of a schedule now.
func (h *Handler) runSchedule(c *call) error {
	if _, err := c.query(); err != nil {
		return err
	}
	run, err := h.Evals.RunSchedule(c.r.Context(), c.Actor, c.param("id"))
	if err != nil {
		return err
	}
	c.w.Header().Set("Location", h.Errors.Base+"/api/v1/runs/"+run.ID)
	return c.done(http.StatusAccepted, run)
}
