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

// slots are the running runs of a worker. If all of them belong to one workspace and
// another one waits, the last run is given back: its journal makes resuming cheap, and
// one workspace cannot occupy a worker.
type slots struct {
	worker  *Worker
	mu      sync.Mutex
	running []*slot // in claim order
}

// A slot is one running run.
type slot struct {
	workspace string
	yield     context.CancelFunc // gives the run back
	yielding  bool
}

// use works on a run in a slot.
func (s *slots) use(ctx context.Context, row *state.EvalRun) {
	ctx, yield := context.WithCancel(ctx)
	defer yield()
	current := &slot{workspace: row.WorkspaceID, yield: yield}
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
	if len(s.running) < s.worker.Runs {
		return ""
	}
	first := s.running[0].workspace
	if slices.ContainsFunc(s.running, func(t *slot) bool { return t.yielding || t.workspace != first }) {
		return ""
	}
	return first
}

// giveLast gives back the last claimed run, if its workspace still has all slots.
func (s *slots) giveLast(workspace string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.holder() != workspace {
		return
	}
	last := s.running[len(s.running)-1]
	last.yielding = true
	last.yield()
	s.worker.Log.Info("run gives its slot to a waiting workspace", "workspace", workspace)
}
