package app

import (
	"context"
	"sync"
	"time"
)

// background runs a server's background tasks. They continue after an interrupt,
// because requests in flight may need them; close ends them.
type background struct {
	ctx     context.Context // of the tasks
	stop    func()
	running sync.WaitGroup
	closers []func()
	closed  sync.Once
}

func newBackground(ctx context.Context) *background {
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	return &background{ctx: ctx, stop: stop}
}

// start runs a task until its context ends.
func (b *background) start(run func(ctx context.Context)) { b.running.Go(func() { run(b.ctx) }) }

// every runs a task that acts at each tick.
func (b *background) every(d time.Duration, run func(ctx context.Context, tick <-chan time.Time)) {
	b.start(func(ctx context.Context) {
		tick := time.NewTicker(d)
		defer tick.Stop()
		run(ctx, tick.C)
	})
}

// repeat calls step at each tick, and fail with each of its errors but the last, of the end.
func (b *background) repeat(d time.Duration, step func(ctx context.Context) error, fail func(error)) {
	b.every(d, func(ctx context.Context, tick <-chan time.Time) {
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick:
			}
			if err := step(ctx); err != nil && ctx.Err() == nil {
				fail(err)
			}
		}
	})
}

// onClose calls f when all tasks have ended, in reverse order of registration.
func (b *background) onClose(f func()) { b.closers = append(b.closers, f) }

// close ends the tasks and waits for them. It may be called again.
func (b *background) close() {
	b.closed.Do(func() {
		b.stop()
		b.running.Wait()
		for i := len(b.closers) - 1; i >= 0; i-- {
			b.closers[i]()
		}
	})
}
