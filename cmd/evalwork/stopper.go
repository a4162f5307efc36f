package evalwork

import (
	"context"
	"sync"
	"time"

	"github.com/firstpick/firstpick/runner"
)

const (
	// cancelDrain is how long questions under way may take when a run is cancelled.
	// Those that take longer are given up, and billed at their worst.
	cancelDrain = 30 * time.Second
	drainLook   = 50 * time.Millisecond
)

// A stopper tells a run to end early, because it is cancelled or because its worker
// stops.
type stopper struct {
	worker <-chan struct{} // closed when the worker stops
	asked  chan struct{}   // closed when the run is cancelled
	once   sync.Once
}

func newStopper(worker context.Context, cancelled bool) *stopper {
	s := &stopper{worker: worker.Done(), asked: make(chan struct{})}
	if cancelled {
		s.cancel()
	}
	return s
}

func (s *stopper) cancel() { s.once.Do(func() { close(s.asked) }) }

func (s *stopper) cancelled() bool {
	select {
	case <-s.asked:
		return true
	default:
		return false
	}
}

// steer waits until the run is to end early, or ends. Then nothing further is asked,
// what is under way may end for a while, and the rest is interrupted.
func (s *stopper) steer(ctx context.Context, c *runner.Control, w *Worker, interrupt func()) {
	defer interrupt()
	grace := w.Drain
	select {
	case <-s.asked:
		grace = min(grace, cancelDrain)
	case <-s.worker:
	case <-ctx.Done():
		return
	}
	if c.Pause(ctx) != nil {
		return
	}
	for end := w.Now().Add(grace); w.Now().Before(end); {
		if st, err := c.Status(ctx); err != nil || st.InFlight == 0 {
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
