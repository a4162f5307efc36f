package runner

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/firstpick/firstpick/runner/plan"
)

// An execution is one call of Run.
type execution struct {
	*Runner
	todo    []plan.Trial
	prompts map[string]string
	lanes   *lanes
	money   *budget
	tally   *tally
	feed    *feed
	broke   atomic.Bool // the budget is reached
}

func (x *execution) run(parent context.Context) (Summary, error) {
	ctx, stop := context.WithCancelCause(parent)
	defer stop(nil)
	x.feed = newFeed(parent, x.Sinks, x.tally, stop)
	x.tell(Event{Kind: EventStart})

	failure := x.work(ctx, stop)

	end := x.summarise(parent)
	x.tell(Event{Kind: EventEnd, Summary: &end})
	heard := x.feed.close()
	return end, errors.Join(failure, heard, closeSinks(x.Sinks))
}

// work asks every trial and returns the first error that stopped it.
func (x *execution) work(ctx context.Context, stop func(error)) error {
	jobs := make(chan job)
	var workers sync.WaitGroup
	var once sync.Once
	var failure error
	for range max(1, min(x.concurrency(), len(x.todo))) {
		workers.Go(func() {
			for j := range jobs {
				if err := x.trial(ctx, j); err != nil {
					once.Do(func() { failure = err })
					stop(err)
				}
			}
		})
	}
	x.dispatch(ctx, jobs)
	close(jobs)
	workers.Wait()
	return failure
}

// A job is a trial whose worst case is reserved.
type job struct {
	trial  plan.Trial
	prompt string
	worst  float64
}

// dispatch hands out trials in plan order until they, the context or the
// budget end.
func (x *execution) dispatch(ctx context.Context, jobs chan<- job) {
	for _, t := range x.todo {
		if ctx.Err() != nil || x.broke.Load() {
			return
		}
		if !x.lanes.open(t.Agent) {
			continue
		}
		j := job{trial: t, prompt: x.prompts[t.PromptID]}
		j.worst = x.money.worst(t.Agent, j.prompt)
		if !x.money.reserve(ctx, j.worst) {
			x.broke.Store(x.broke.Load() || ctx.Err() == nil)
			return
		}
		select {
		case jobs <- j:
		case <-ctx.Done():
			x.money.release(j.worst)
			return
		}
	}
}

// summarise reads the tally once the feed, which owns it, is idle.
func (x *execution) summarise(parent context.Context) Summary {
	x.feed.drain()
	stopped := ""
	switch {
	case parent.Err() != nil:
		stopped = StoppedInterrupted
	case x.broke.Load():
		stopped = StoppedBudget
	}
	s := x.tally.summary(x.lanes.reasons(), stopped)
	s.SpentUSD, s.SpentKnown = x.money.state()
	return s
}

func (x *execution) tell(e Event) {
	e.At, e.Run = x.Now(), x.tally.runID
	x.feed.tell(e)
}
