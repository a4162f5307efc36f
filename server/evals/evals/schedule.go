package evals

import (
	"context"
	"errors"
	"math"
	"net/url"
	"strconv"
	"time"

	"github.com/firstpick/firstpick/server/evals/cron"
	"github.com/firstpick/firstpick/server/evals/resource"
	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/store/state"
)

const (
	scheduleID = "sch_" // of ids
	// ticksShown is how many ticks a schedule shows.
	ticksShown = 20
	// maxMonths is how many times the largest budget of a run a month may cost.
	maxMonths = 1000
)

// A ScheduleRequest sets the schedule of an eval.
type ScheduleRequest struct {
	EvalID   string
	Cron     string
	TimeZone string // empty for UTC
	// BudgetUSD is the maximum cost of each run, MonthlyBudgetUSD that of all runs of a
	// calendar month.
	BudgetUSD, MonthlyBudgetUSD float64
}

func badSchedule(description string) error { return apierr.BadBody("invalid_schedule", description) }

func (r *ScheduleRequest) check(most float64) (*cron.Expression, error) {
	if r.TimeZone == "" {
		r.TimeZone = "UTC"
	}
	if r.Cron == "" {
		return nil, badSchedule("cron is missing: five fields, such as 0 6 * * MON for Mondays at 06:00.")
	}
	x, err := cron.Parse(r.Cron, r.TimeZone)
	if err != nil {
		return nil, badSchedule(err.Error() + ".")
	}
	if err := (&StartRequest{BudgetUSD: r.BudgetUSD}).check(most); err != nil {
		return nil, err
	}
	switch {
	case math.IsNaN(r.MonthlyBudgetUSD) || r.MonthlyBudgetUSD < r.BudgetUSD:
		return nil, badSchedule("monthlyBudgetUsd must be at least budgetUsd: no run is started that could exceed it.")
	case r.MonthlyBudgetUSD > most*maxMonths:
		return nil, badSchedule("monthlyBudgetUsd is at most " + usd(most*maxMonths) + " here.")
	}
	return x, nil
}

func usd(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

func noSchedule(err error) error {
	return orMissing(err, "schedule_not_found", "This eval has no schedule, or the workspace no such eval. GET /api/v1/schedules lists them.")
}

// PutSchedule creates the schedule of an eval, or changes it. A paused schedule stays
// paused. Its runs use the latest version of the eval.
func (s *Service) PutSchedule(ctx context.Context, a Actor, req ScheduleRequest) (out *Schedule, created bool, err error) {
	if err := errors.Join(a.may(ScopeRun), s.needPlan(a)); err != nil {
		return nil, false, s.fail(err)
	}
	x, err := req.check(s.Caps.or().BudgetUSD)
	if err != nil {
		return nil, false, err
	}
	now := s.Now()
	err = s.write(ctx, func(tx *state.Tx) error {
		e, err := tx.Eval(ctx, a.Workspace.ID, req.EvalID)
		if err != nil {
			return noEval(err)
		}
		row, err := tx.LockScheduleOf(ctx, a.Workspace.ID, e.ID)
		if created = errors.Is(err, state.ErrNotFound); err != nil && !created {
			return err
		}
		if created {
			row = &state.Schedule{ID: s.Secrets.ID(scheduleID), WorkspaceID: a.Workspace.ID, EvalID: e.ID, EvalName: e.Name, CreatedAt: now, CreatedBy: a.By}
		}
		row.Cron, row.Zone, row.BudgetMicros, row.MonthMicros, row.UpdatedAt = req.Cron, req.TimeZone, micros(req.BudgetUSD), micros(req.MonthlyBudgetUSD), now
		if row.PausedAt.IsZero() {
			if row.NextAt, err = undecided(ctx, tx, row.ID, x, now); err != nil {
				return err
			}
		}
		event, store := "schedule.changed", tx.UpdateSchedule
		if created {
			event, store = "schedule.created", tx.AddSchedule
		}
		if err := store(ctx, row); err != nil {
			return err
		}
		if out, err = s.schedule(ctx, tx, row, now, true); err != nil {
			return err
		}
		return s.auditSchedule(ctx, tx, a, now, event, row)
	})
	return out, created, err
}

// undecided returns the first time after t that has no outcome yet: clocks may have been
// set back.
func undecided(ctx context.Context, tx *state.Tx, id string, x *cron.Expression, t time.Time) (time.Time, error) {
	for next := x.Next(t); ; next = x.Next(next) {
		done, err := tx.HasTick(ctx, id, next)
		if err != nil || !done {
			return next, err
		}
	}
}

func (s *Service) auditSchedule(ctx context.Context, tx *state.Tx, a Actor, now time.Time, event string, row *state.Schedule) error {
	return s.audit(ctx, tx, a, now, event, map[string]string{
		"schedule": row.ID, "eval": row.EvalID, "cron": row.Cron, "time_zone": row.Zone, "budget_usd": usd(dollars(row.BudgetMicros)), "monthly_budget_usd": usd(dollars(row.MonthMicros)),
	})
}

// Schedule returns the schedule of an eval, with its latest ticks.
func (s *Service) Schedule(ctx context.Context, a Actor, evalID string) (*Schedule, error) {
	if err := a.may(ScopeRead); err != nil {
		return nil, err
	}
	tx := s.DB.Read()
	row, err := tx.ScheduleOf(ctx, a.Workspace.ID, evalID)
	if err != nil {
		return nil, s.fail(noSchedule(err))
	}
	out, err := s.schedule(ctx, tx, row, s.Now(), true)
	return out, s.fail(err)
}

// Schedules returns the schedules of a workspace, by the names of their evals, without
// ticks.
func (s *Service) Schedules(ctx context.Context, a Actor) ([]*Schedule, error) {
	if err := a.may(ScopeRead); err != nil {
		return nil, err
	}
	tx, now := s.DB.Read(), s.Now()
	rows, err := tx.Schedules(ctx, a.Workspace.ID)
	if err != nil {
		return nil, s.fail(err)
	}
	out := make([]*Schedule, len(rows))
	for i, row := range rows {
		if out[i], err = s.schedule(ctx, tx, row, now, false); err != nil {
			return nil, s.fail(err)
		}
	}
	return out, nil
}

// DeleteSchedule deletes the schedule of an eval. Its runs stay, also one that is running.
func (s *Service) DeleteSchedule(ctx context.Context, a Actor, evalID string) error {
	if err := a.may(ScopeRun); err != nil {
		return err
	}
	now := s.Now()
	return s.write(ctx, func(tx *state.Tx) error {
		row, err := tx.LockScheduleOf(ctx, a.Workspace.ID, evalID)
		if err != nil {
			return noSchedule(err)
		}
		return errors.Join(tx.DeleteSchedule(ctx, a.Workspace.ID, evalID), s.auditSchedule(ctx, tx, a, now, "schedule.deleted", row))
	})
}

// schedule converts a stored schedule to its API form.
func (s *Service) schedule(ctx context.Context, tx *state.Tx, row *state.Schedule, now time.Time, ticks bool) (*Schedule, error) {
	out := &Schedule{
		ID: row.ID, EvalID: row.EvalID, EvalName: row.EvalName, Cron: row.Cron, TimeZone: row.Zone, BudgetUSD: dollars(row.BudgetMicros), MonthlyBudgetUSD: dollars(row.MonthMicros),
		Status: resource.Active, FailuresInARow: row.Failures, NextRunAt: optional(row.NextAt), CreatedAt: row.CreatedAt.UTC(), UpdatedAt: row.UpdatedAt.UTC(),
		URL: s.BaseURL + "/api/v1/evals/" + url.PathEscape(row.EvalID) + "/schedule",
	}
	if !row.PausedAt.IsZero() {
		out.Status, out.Pause = resource.Paused, &resource.Pause{At: row.PausedAt, Reason: row.PauseReason, Note: row.PauseNote}
	}
	last, err := tx.LastStarted(ctx, row.ID)
	if err != nil {
		return nil, err
	}
	if last != nil {
		t := toTick(last)
		out.LastRun = &t
	}
	m, err := monthOf(ctx, tx, row, now)
	if err != nil {
		return nil, err
	}
	out.Month = resource.ScheduleMonth{StartsAt: m.from.UTC(), EndsAt: m.until.UTC(), UsedUSD: dollars(m.used), LeftUSD: dollars(max(0, row.MonthMicros-m.used))}
	if !ticks {
		return out, nil
	}
	stored, err := tx.Ticks(ctx, row.ID, ticksShown)
	for _, t := range stored {
		out.Ticks = append(out.Ticks, toTick(t))
	}
	return out, err
}

// Upcoming returns the next times of an active schedule.
func Upcoming(s *Schedule, n int) []time.Time {
	x, err := cron.Parse(s.Cron, s.TimeZone)
	if err != nil || s.NextRunAt == nil {
		return nil
	}
	out := []time.Time{*s.NextRunAt}
	for len(out) < n {
		next := x.Next(out[len(out)-1])
		if next.IsZero() {
			break
		}
		out = append(out, next)
	}
	return out
}

func toTick(t *state.Tick) resource.ScheduleTick {
	return resource.ScheduleTick{At: t.At, Manual: t.Manual, Outcome: t.Outcome, RunID: t.RunID, RunStatus: t.RunStatus, Note: t.Note}
}

// A month is a calendar month in a schedule's time zone, and the most that its runs cost,
// in millionths of a US dollar.
type month struct {
	from, until time.Time
	used        int64
}

func monthOf(ctx context.Context, tx *state.Tx, row *state.Schedule, now time.Time) (m month, err error) {
	zone := time.UTC
	if x, err := cron.Parse(row.Cron, row.Zone); err == nil { // else it is paused at its next tick
		zone = x.Zone()
	}
	at := now.In(zone)
	m.from = time.Date(at.Year(), at.Month(), 1, 0, 0, 0, 0, zone)
	m.until = time.Date(at.Year(), at.Month()+1, 1, 0, 0, 0, 0, zone)
	m.used, err = tx.ScheduleSpent(ctx, row.ID, m.from, m.until)
	return m, err
}
