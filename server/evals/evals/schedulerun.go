package evals

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/firstpick/firstpick/server/evals/cron"
	"github.com/firstpick/firstpick/server/evals/resource"
	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/store/state"
)

// maxFailures is how many failures in a row pause a schedule.
const maxFailures = 3

// PauseSchedule stops the ticks of a schedule; a run under way continues.
func (s *Service) PauseSchedule(ctx context.Context, a Actor, evalID string) (*Schedule, error) {
	return s.change(ctx, a, evalID, "schedule.paused", func(_ *state.Tx, row *state.Schedule, now time.Time) error {
		if row.PausedAt.IsZero() {
			row.NextAt, row.PausedAt, row.PauseReason, row.PauseNote = time.Time{}, now, resource.PauseRequested, ""
		}
		return nil
	})
}

// ResumeSchedule continues a paused schedule with its next time, and counts failures
// from zero.
func (s *Service) ResumeSchedule(ctx context.Context, a Actor, evalID string) (*Schedule, error) {
	if err := s.needPlan(a); err != nil {
		return nil, err
	}
	return s.change(ctx, a, evalID, "schedule.resumed", func(tx *state.Tx, row *state.Schedule, now time.Time) error {
		if row.PausedAt.IsZero() {
			return nil
		}
		x, err := cron.Parse(row.Cron, row.Zone)
		if err != nil {
			return badSchedule(err.Error() + ".")
		}
		row.PausedAt, row.PauseReason, row.PauseNote, row.Failures = time.Time{}, "", "", 0
		row.NextAt, err = undecided(ctx, tx, row.ID, x, now)
		return err
	})
}

// change applies fn to a schedule under its lock, and stores it.
func (s *Service) change(ctx context.Context, a Actor, evalID, event string, fn func(*state.Tx, *state.Schedule, time.Time) error) (out *Schedule, err error) {
	if err := a.may(ScopeRun); err != nil {
		return nil, err
	}
	now := s.Now().UTC().Truncate(time.Microsecond) // as it is stored
	err = s.write(ctx, func(tx *state.Tx) error {
		row, err := tx.LockScheduleOf(ctx, a.Workspace.ID, evalID)
		if err != nil {
			return noSchedule(err)
		}
		before := row.ScheduleState
		if err := fn(tx, row, now); err != nil {
			return err
		}
		if row.ScheduleState != before {
			if err := errors.Join(tx.UpdateSchedule(ctx, row), s.auditSchedule(ctx, tx, a, now, event, row)); err != nil {
				return err
			}
		}
		out, err = s.schedule(ctx, tx, row, now, true)
		return err
	})
	return out, err
}

// RunSchedule starts a run of a schedule now, also of a paused one. The run counts towards
// the monthly budget.
func (s *Service) RunSchedule(ctx context.Context, a Actor, evalID string) (r *Run, err error) {
	if err := errors.Join(a.may(ScopeRun), s.needPlan(a)); err != nil {
		return nil, s.fail(err)
	}
	now := s.Now().UTC().Truncate(time.Microsecond)
	err = s.write(ctx, func(tx *state.Tx) error {
		row, err := tx.LockScheduleOf(ctx, a.Workspace.ID, evalID)
		if err != nil {
			return noSchedule(err)
		}
		if err := s.settle(ctx, tx, a.Workspace, row, now); err != nil {
			return err
		}
		why, err := obstacle(ctx, tx, row, now)
		if err != nil {
			return err
		}
		if why != "" {
			return conflict("schedule_busy", why)
		}
		t := &state.Tick{ScheduleID: row.ID, At: now, Manual: true, Outcome: state.TickStarted}
		fresh, err := tx.AddTick(ctx, t)
		for ; err == nil && !fresh; fresh, err = tx.AddTick(ctx, t) {
			t.At = t.At.Add(time.Microsecond) // the time is one of the schedule's, or clocks were set back
		}
		if err != nil {
			return err
		}
		if r, err = s.launch(ctx, tx, a, row, t, now); err != nil {
			return err
		}
		return tx.UpdateSchedule(ctx, row)
	})
	return r, err
}

// obstacle returns a sentence on why a schedule must not start a run now; empty if absent.
func obstacle(ctx context.Context, tx *state.Tx, row *state.Schedule, now time.Time) (string, error) {
	if row.OpenRun != "" {
		return "The schedule's run before this one has not ended: " + row.OpenRun + ".", nil
	}
	m, err := monthOf(ctx, tx, row, now)
	if err != nil || m.used+row.BudgetMicros <= row.MonthMicros {
		return "", err
	}
	return fmt.Sprintf("Monthly budget: %s of %s USD are left until %s, and a run may cost %s USD.",
		cents(max(0, row.MonthMicros-m.used)), cents(row.MonthMicros), m.until.Format("2 January 2006"), cents(row.BudgetMicros)), nil
}

// cents formats millionths of a dollar, with more than two decimals only if they matter.
func cents(micros int64) string {
	if micros%10_000 == 0 {
		return strconv.FormatFloat(dollars(micros), 'f', 2, 64)
	}
	return usd(dollars(micros))
}

// launch queues a run of a schedule for a tick that is stored. Nothing is stored when it
// fails with an error for clients.
func (s *Service) launch(ctx context.Context, tx *state.Tx, a Actor, row *state.Schedule, t *state.Tick, now time.Time) (*Run, error) {
	caps := s.Caps.or()
	req := StartRequest{EvalID: row.EvalID, BudgetUSD: dollars(row.BudgetMicros)}
	if err := req.check(caps.BudgetUSD); err != nil {
		return nil, err
	}
	e, err := tx.Eval(ctx, row.WorkspaceID, row.EvalID)
	if err != nil {
		return nil, err
	}
	var sum Summary
	if err := json.Unmarshal(e.Latest.Summary, &sum); err != nil {
		return nil, err
	}
	if err := s.keysFor(ctx, tx, a, sum, e.Latest.Source); err != nil {
		return nil, err
	}
	stored, _, err := tx.AddRun(ctx, &state.EvalRun{
		ID: s.Secrets.ID("run_"), WorkspaceID: row.WorkspaceID, EvalID: e.ID, Version: e.Latest.Number, EvalName: e.Name, Category: sum.Category,
		BudgetMicros: row.BudgetMicros, RequestHash: req.hash(), CreatedAt: now, CreatedBy: a.By, RunProgress: state.RunProgress{Planned: sum.Trials},
	}, caps.Queued)
	if errors.Is(err, state.ErrQueueFull) {
		return nil, queueFull(caps.Queued)
	} else if err != nil {
		return nil, err
	}
	row.OpenRun, t.RunID, t.BudgetMicros = stored.ID, stored.ID, row.BudgetMicros
	if err := tx.UpdateTick(ctx, t); err != nil {
		return nil, err
	}
	r := s.run(stored)
	return r, s.audit(ctx, tx, a, now, "run.queued", map[string]string{"run": r.ID, "eval": e.ID, "schedule": row.ID, "budget_usd": usd(req.BudgetUSD)})
}

func queueFull(most int) error {
	return &apierr.Error{
		Status: http.StatusTooManyRequests, Code: "queue_full", RetryAfter: 60,
		Description: "This workspace has " + strconv.Itoa(most) + " runs waiting, which is the most. Wait until some have begun, or cancel one.",
	}
}

// settle counts the end of the schedule's last run. After too many failures in a row it
// pauses the schedule.
func (s *Service) settle(ctx context.Context, tx *state.Tx, w *state.Workspace, row *state.Schedule, now time.Time) error {
	if row.OpenRun == "" {
		return nil
	}
	r, err := tx.Run(ctx, row.WorkspaceID, row.OpenRun)
	switch {
	case errors.Is(err, state.ErrNotFound): // deleted
	case err != nil:
		return err
	case r.EndedAt.IsZero():
		return nil
	case r.Status == state.RunDone:
		row.Failures = 0
	case r.Status == state.RunFailed:
		row.OpenRun = ""
		return s.failed(ctx, tx, w, row, now, r.Failure)
	}
	row.OpenRun = ""
	return nil
}

// failed counts a failure, and pauses the schedule if it is one too many.
func (s *Service) failed(ctx context.Context, tx *state.Tx, w *state.Workspace, row *state.Schedule, now time.Time, why string) error {
	if row.Failures++; row.Failures < maxFailures || !row.PausedAt.IsZero() {
		return nil
	}
	return s.pause(ctx, tx, w, row, now, resource.PauseFailures, fmt.Sprintf("%d runs in a row failed. The last: %s", row.Failures, why))
}

// pause pauses a schedule for a reason that its owner did not ask for, and notifies them.
func (s *Service) pause(ctx context.Context, tx *state.Tx, w *state.Workspace, row *state.Schedule, now time.Time, reason, note string) error {
	row.NextAt, row.PausedAt, row.PauseReason, row.PauseNote = time.Time{}, now, reason, note
	if err := s.auditSchedule(ctx, tx, Actor{Workspace: w, By: row.ID}, now, "schedule.paused", row); err != nil || s.Notify == nil {
		return err
	}
	return s.Notify(ctx, tx, now, w, "The schedule of "+row.EvalName+" is paused", []string{
		note, "", "It starts no runs until you resume it. Find the reason first:", s.BaseURL + "/workspaces/" + w.Slug + "/evals/" + row.EvalID + "/schedule", "",
	})
}
