package evalwork

import (
	"context"
	"sync"
	"time"

	"github.com/firstpick/firstpick/runner"
	"github.com/firstpick/firstpick/server/store/state"
)

const (
	// cancelDrain is how long questions under way may take when a run is cancelled.
	// Those that take longer are given up, and billed at their worst.
	cancelDrain = 30 * time.Second
	drainLook   = 50 * time.Millisecond
)

// A stopper tells a run to end early, because it is cancelled, because it took too long,
// or because its worker gives it back.
type stopper struct {
	worker <-chan struct{} // closed when the worker stops
	asked  chan struct{}   // closed when the run is cancelled
	once   sync.Once
	note   string // why it is cancelled, if its owner did not; set before asked is closed

	late chan struct{} // closed when its time is over
	over string        // a sentence on that; set before late is closed
}

func newStopper(worker context.Context, o state.Order) *stopper {
	s := &stopper{worker: worker.Done(), asked: make(chan struct{}), late: make(chan struct{})}
	s.cancel(o)
	return s
}

// cancel ends the run if the store says so. The first reason stands.
func (s *stopper) cancel(o state.Order) {
	if !o.Cancel && o.Stop == "" {
		return
	}
	s.once.Do(func() {
		if !o.Cancel {
			s.note = stopNote(o.Stop)
		}
		close(s.asked)
	})
}

// stopNote is what the owner of a run reads that was cancelled for them.
func stopNote(stop string) string {
	switch stop {
	case state.StopPlan:
		return "Cancelled: the plan of the workspace is no longer paid. Start a new run when it is."
	case state.StopOwner:
		return "Cancelled: the account of the workspace's owner is disabled. Ask whoever runs this service."
	default:
		return "Cancelled by the service: " + stop + "."
	}
}

func (s *stopper) cancelled() bool { return closed(s.asked) }

// expire ends the run with what it has. It is called at most once.
func (s *stopper) expire(why string) {
	s.over = why
	close(s.late)
}

func (s *stopper) expired() bool { return closed(s.late) }

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// ends reports whether the run ends for good, and not only with this worker.
func (s *stopper) ends() bool { return s.cancelled() || s.expired() }

// steer waits until the run is to end early, or ends. Then nothing further is asked,
// what is under way may end for a while, and the rest is interrupted. Answers that are
// to be read are under way too where the run ends for good: nobody reads them later.
func (s *stopper) steer(ctx context.Context, c *runner.Control, w *Worker, interrupt func()) {
	defer interrupt()
	grace := w.Drain
	select {
	case <-s.asked:
		grace = min(grace, cancelDrain)
	case <-s.late:
	case <-s.worker:
	case <-ctx.Done():
		return
	}
	if c.Pause(ctx) != nil {
		return
	}
	for end := w.Now().Add(grace); w.Now().Before(end); {
		st, err := c.Status(ctx)
		if err != nil || st.InFlight == 0 && (st.Storing == 0 || !s.ends()) {
			return
		}
		if sooner := w.Now().Add(cancelDrain); s.cancelled() && sooner.Before(end) { // cancelled meanwhile
			end = sooner
		}
		if w.Sleep(ctx, drainLook) != nil {
			return
		}
	}
}
