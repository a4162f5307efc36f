package evalwork

import (
	"context"
	"sync"
	"time"

	"github.com/firstpick/firstpick/runner"
	"github.com/firstpick/firstpick/server/store/state"
)

const (
	// cancelDrain is how long attempts in flight may take after a run is cancelled.
	// Longer ones are aborted and billed at their worst case.
	cancelDrain = 30 * time.Second
	drainLook   = 50 * time.Millisecond
)

// A stopper ends a run early: it is cancelled, over one of its limits, or its worker
// gives it back.
type stopper struct {
	worker     <-chan struct{} // closed when the worker stops
	cancelling chan struct{}   // closed when the run is cancelled
	once       sync.Once
	note       string // why it is cancelled, unless its owner cancelled it; set before cancelling is closed

	late   chan struct{} // closed at a limit of the run
	expiry sync.Once
	over   string // a sentence on the limit; set before late is closed
}

func newStopper(worker context.Context, o state.Order) *stopper {
	s := &stopper{worker: worker.Done(), cancelling: make(chan struct{}), late: make(chan struct{})}
	s.cancel(o)
	return s
}

// cancel ends the run if the store orders it. The first reason wins.
func (s *stopper) cancel(o state.Order) {
	if !o.Cancel && o.Stop == "" {
		return
	}
	s.once.Do(func() {
		if !o.Cancel {
			s.note = stopNote(o.Stop)
		}
		close(s.cancelling)
	})
}

// stopNote explains to the owner of a run why the service cancelled it.
func stopNote(stop string) string {
	switch stop {
	case state.StopPlan:
		return "Cancelled: the workspace's plan is no longer paid. Start a new run once it is paid."
	case state.StopOwner:
		return "Cancelled: the account of the workspace's owner is disabled. Ask the operator of this service."
	default:
		return "Cancelled by the service: " + stop + "."
	}
}

func (s *stopper) cancelled() bool { return closed(s.cancelling) }

// expire ends the run at one of its limits. The first reason wins.
func (s *stopper) expire(why string) {
	s.expiry.Do(func() {
		s.over = why
		close(s.late)
	})
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

// steer waits until the run must end early, or ends. It then pauses the run, gives
// attempts in flight a grace period, and interrupts the rest. If the run ends for good,
// unread answers get the grace period too: no later worker reads them.
func (s *stopper) steer(ctx context.Context, c *runner.Control, w *Worker, interrupt func()) {
	defer interrupt()
	grace := w.Drain
	select {
	case <-s.cancelling:
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
