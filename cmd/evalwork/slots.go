package evalwork

import (
	"context"
	"slices"
	"sync"

	"github.com/firstpick/firstpick/server/store/state"
)

// idlePolls is how many polls a run waits for an idle worker before another gives a slot
// to it.
const idlePolls = 5

// slots are the runs that a worker has under way. Where all of them are of one
// workspace and another waits, the run that was taken last is given back: its journal
// makes going on cheap, and one workspace cannot hold a worker.
type slots struct {
	worker *Worker
	mu     sync.Mutex
	taken  []*slot // in the order in which they were taken
}

// A slot is one run under way.
type slot struct {
	workspace string
	yield     context.CancelFunc // gives the run back
	yielding  bool
}

// use works on a run in a slot.
func (s *slots) use(ctx context.Context, row *state.EvalRun) {
	ctx, yield := context.WithCancel(ctx)
	defer yield()
	mine := &slot{workspace: row.WorkspaceID, yield: yield}
	s.mu.Lock()
	s.taken = append(s.taken, mine)
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.taken = slices.DeleteFunc(s.taken, func(t *slot) bool { return t == mine })
	}()
	s.worker.runJob(ctx, row)
}

// share looks whether others wait, until ctx ends.
func (s *slots) share(ctx context.Context) {
	w := s.worker
	for w.Runs > 1 && w.Sleep(ctx, w.Poll) == nil {
		workspace := s.only()
		if workspace == "" {
			continue
		}
		starve, err := w.DB.Read().RunsStarve(ctx, workspace, w.Now(), idlePolls*w.Poll)
		if err != nil && ctx.Err() == nil {
			w.Log.Warn("reading the queue of runs failed; retrying", "err", err)
		}
		if starve {
			s.giveLast(workspace)
		}
	}
}

// only returns the workspace that has all slots, unless one of them is being given
// back; else "".
func (s *slots) only() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.holder()
}

// holder is only, for callers that hold the lock.
func (s *slots) holder() string {
	if len(s.taken) < s.worker.Runs {
		return ""
	}
	first := s.taken[0].workspace
	if slices.ContainsFunc(s.taken, func(t *slot) bool { return t.yielding || t.workspace != first }) {
		return ""
	}
	return first
}

// giveLast gives back the run that was taken last, if its workspace still has all slots.
func (s *slots) giveLast(workspace string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.holder() != workspace {
		return
	}
	last := s.taken[len(s.taken)-1]
	last.yielding = true
	last.yield()
	s.worker.Log.Info("run gives its slot to a waiting workspace", "workspace", workspace)
}
