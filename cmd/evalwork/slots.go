package evalwork

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/firstpick/firstpick/server/store/state"
)

// idlePolls is how many polls a run waits for an idle worker before another gives a slot
// to it.
const idlePolls = 5

// slots are the running runs of a worker. A run is given back in two cases, because its
// journal makes resuming cheap. All slots belong to one workspace and another one waits:
// then the last run goes. Or a run has had its turn, and the queue would serve another
// workspace.
type slots struct {
	worker  *Worker
	mu      sync.Mutex
	running []*slot // in claim order
}

// A slot is one running run.
type slot struct {
	workspace string
	since     time.Time
	yield     context.CancelCauseFunc // gives the run back
	yielding  bool
}

// A turnOverError is why a run is given back to a fair queue, for its owner.
type turnOverError struct{ note string }

func (t *turnOverError) Error() string { return t.note }

// use works on a run in a slot.
func (s *slots) use(ctx context.Context, row *state.EvalRun) {
	ctx, yield := context.WithCancelCause(ctx)
	defer yield(nil)
	current := &slot{workspace: row.WorkspaceID, since: s.worker.Now(), yield: yield}
	s.mu.Lock()
	s.running = append(s.running, current)
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.running = slices.DeleteFunc(s.running, func(t *slot) bool { return t == current })
	}()
	s.worker.runJob(ctx, row)
}

// share looks whether others wait, until ctx ends.
func (s *slots) share(ctx context.Context) {
	w := s.worker
	for w.Sleep(ctx, w.Poll) == nil {
		now, tx := w.Now(), w.DB.Read()
		for _, rule := range []struct {
			find func(now time.Time) []*slot
			wait func(ctx context.Context, workspace string, now time.Time, waited time.Duration) (bool, error)
			note string
		}{
			{s.crowding, tx.RunsStarve, "Waiting: another workspace needs a worker. The run continues from its journal."},
			{s.overdue, tx.TurnIsOver, fmt.Sprintf("Waiting: its turn of %s is over, and runs of other workspaces wait. The run continues from its journal.", w.Turn)},
		} {
			for _, found := range rule.find(now) {
				give, err := rule.wait(ctx, found.workspace, now, idlePolls*w.Poll)
				if err != nil && ctx.Err() == nil {
					w.Log.Warn("reading the queue of runs failed; retrying", "err", err)
				}
				if give && err == nil {
					s.give(found, &turnOverError{rule.note})
					break
				}
			}
		}
	}
}

// crowding returns the last claimed run if one workspace has all of several slots; none
// while a run is being given back.
func (s *slots) crowding(time.Time) []*slot {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.running); n < 2 || n < s.worker.Runs {
		return nil
	}
	last := s.running[len(s.running)-1]
	if slices.ContainsFunc(s.running, func(t *slot) bool { return t.yielding || t.workspace != last.workspace }) {
		return nil
	}
	return []*slot{last}
}

// overdue returns the runs whose turn is over, the longest first, if no slot is free; none
// while a run is being given back.
func (s *slots) overdue(now time.Time) (out []*slot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.running) < s.worker.Runs || slices.ContainsFunc(s.running, func(t *slot) bool { return t.yielding }) {
		return nil
	}
	for _, t := range s.running { // in claim order
		if now.Sub(t.since) >= s.worker.Turn {
			out = append(out, t)
		}
	}
	return out
}

// give gives a run back, unless it has ended.
func (s *slots) give(t *slot, why *turnOverError) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Contains(s.running, t) || t.yielding {
		return
	}
	t.yielding = true
	t.yield(why)
	s.worker.Log.Info("run gives its slot to a waiting workspace", "workspace", t.workspace, "note", why.note)
}
