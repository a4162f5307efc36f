package cli

import (
	"context"
	"sync"
	"time"
)

// tasks are what a server does beside answering. They go on until end, also when
// the command was interrupted: requests in flight may need them.
type tasks struct {
	ctx     context.Context // their life
	stop    func()
	running sync.WaitGroup
	closers []func()
}

func newTasks(ctx context.Context) *tasks {
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	return &tasks{ctx: ctx, stop: stop}
}

// start runs a task until its context ends.
func (t *tasks) start(run func(ctx context.Context)) { t.running.Go(func() { run(t.ctx) }) }

// every runs a task that does something at each tick.
func (t *tasks) every(d time.Duration, run func(ctx context.Context, tick <-chan time.Time)) {
	t.start(func(ctx context.Context) {
		tick := time.NewTicker(d)
		defer tick.Stop()
		run(ctx, tick.C)
	})
}

// atEnd calls f when all tasks have ended; what was named last is called first.
func (t *tasks) atEnd(f func()) { t.closers = append(t.closers, f) }

// end ends the tasks and waits for them.
func (t *tasks) end() {
	t.stop()
	t.running.Wait()
	for i := len(t.closers) - 1; i >= 0; i-- {
		t.closers[i]()
	}
}
