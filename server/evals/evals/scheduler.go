package evals

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/firstpick/firstpick/server/evals/cron"
	"github.com/firstpick/firstpick/server/evals/resource"
	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/store/state"
)

// tickGrace is how late a tick may start its run, such as after a restart. A later one is
// missed: it is skipped, and not made up.
const tickGrace = 5 * time.Minute

// A Scheduler starts the runs of schedules. Every server process has one; those that
// share a store start one run for each tick.
type Scheduler struct {
	*Service
	last time.Time // of the last step; zero before the first
}

// Step decides the ticks that are due, and counts runs that ended. Call it every few
// seconds, from one goroutine. A schedule that cannot be read now does not hold up others.
func (s *Scheduler) Step(ctx context.Context) error {
	now := s.Now().UTC().Truncate(time.Microsecond) // as it is stored
	tx := s.DB.Read()
	var errs []error
	each := func(ids []string, err error, do func(ctx context.Context, tx *state.Tx, w *state.Workspace, row *state.Schedule, now time.Time) error) {
		errs = append(errs, err)
		for _, id := range ids {
			if err := s.with(ctx, id, now, do); err != nil {
				errs = append(errs, fmt.Errorf("schedule %s: %w", id, err))
			}
		}
	}
	if s.last.IsZero() || now.Before(s.last) {
		ids, err := tx.WaitingSchedules(ctx, now)
		each(ids, err, rewind)
	}
	s.last = now
	ids, err := tx.SettledSchedules(ctx)
	each(ids, err, s.settle)
	ids, err = tx.DueSchedules(ctx, now)
	each(ids, err, s.decide)
	return errors.Join(errs...)
}

// with applies do to a schedule under its lock, and stores what it changed.
func (s *Scheduler) with(ctx context.Context, id string, now time.Time, do func(context.Context, *state.Tx, *state.Workspace, *state.Schedule, time.Time) error) error {
	return s.DB.Write(ctx, func(tx *state.Tx) error {
		row, err := tx.LockSchedule(ctx, id)
		if errors.Is(err, state.ErrNotFound) {
			return nil // deleted since
		} else if err != nil {
			return err
		}
		w, err := tx.Workspace(ctx, row.WorkspaceID)
		if err != nil {
			return err
		}
		before := row.ScheduleState
		if err := do(ctx, tx, w, row, now); err != nil || row.ScheduleState == before {
			return err
		}
		return tx.UpdateSchedule(ctx, row)
	})
}

// rewind moves the next tick of a schedule back when the clock was ahead before: ticks
// that are decided stay so.
func rewind(ctx context.Context, tx *state.Tx, _ *state.Workspace, row *state.Schedule, now time.Time) error {
	x, err := cron.Parse(row.Cron, row.Zone)
	if err != nil || row.NextAt.IsZero() {
		return nil //nolint:nilerr // an unreadable schedule is paused at its tick
	}
	next, err := undecided(ctx, tx, row.ID, x, now)
	if err == nil && next.Before(row.NextAt) {
		row.NextAt = next
	}
	return err
}

// decide starts the run of a due tick, or records why it does not.
func (s *Scheduler) decide(ctx context.Context, tx *state.Tx, w *state.Workspace, row *state.Schedule, now time.Time) error {
	if row.NextAt.IsZero() || row.NextAt.After(now) {
		return nil // another server was faster, or it is paused
	}
	if err := s.settle(ctx, tx, w, row, now); err != nil || !row.PausedAt.IsZero() {
		return err
	}
	x, err := cron.Parse(row.Cron, row.Zone)
	if err != nil {
		return s.pause(ctx, tx, w, row, now, resource.PauseUnusable, "The schedule cannot be read any more: "+err.Error()+". Save it again.")
	}
	stored, tick := row.NextAt, x.Next(now.Add(-tickGrace))
	row.NextAt = x.Next(now)
	if tick.After(now) || !tick.Equal(stored) {
		// Later ticks may have passed too; this one stands for them.
		if _, err := tx.AddTick(ctx, &state.Tick{
			ScheduleID: row.ID, At: stored, Outcome: state.TickMissed,
			Note: "No server ran at this time. Missed runs are not made up; the schedule went on at " + now.Format("2006-01-02 15:04") + " UTC.",
		}); err != nil {
			return err
		}
	}
	if tick.IsZero() || tick.After(now) {
		return nil
	}
	return s.start(ctx, tx, w, row, tick, now)
}

// start starts the run of a tick that nobody has decided yet.
func (s *Scheduler) start(ctx context.Context, tx *state.Tx, w *state.Workspace, row *state.Schedule, tick, now time.Time) error {
	t := &state.Tick{ScheduleID: row.ID, At: tick, Outcome: state.TickStarted}
	if fresh, err := tx.AddTick(ctx, t); err != nil || !fresh {
		return err
	}
	a := Actor{Workspace: w, By: row.ID}
	why, err := s.barred(ctx, tx, a)
	if err == nil && why == "" {
		why, err = obstacle(ctx, tx, row, now)
	}
	if err != nil {
		return err
	}
	if why != "" {
		t.Outcome, t.Note = state.TickSkipped, why
		return tx.UpdateTick(ctx, t)
	}
	_, err = s.launch(ctx, tx, a, row, t, now)
	var refused *apierr.Error
	if !errors.As(err, &refused) || refused.Status >= http.StatusInternalServerError {
		return err
	}
	t.Outcome, t.Note = state.TickFailed, refused.Description
	if refused.Status == http.StatusTooManyRequests {
		t.Outcome = state.TickSkipped
		return tx.UpdateTick(ctx, t)
	}
	return errors.Join(tx.UpdateTick(ctx, t), s.failed(ctx, tx, w, row, now, refused.Description))
}

// barred returns a sentence on why a workspace may not run evals now; empty if it may.
func (s *Scheduler) barred(ctx context.Context, tx *state.Tx, a Actor) (string, error) {
	var refused *apierr.Error
	if errors.As(s.needPlan(a), &refused) {
		return refused.Description, nil
	}
	err := s.ownerIn(ctx, tx, a.Workspace)
	if errors.As(err, &refused) && refused.Status < http.StatusInternalServerError {
		return "The account of the workspace's owner is disabled.", nil
	}
	return "", err
}
