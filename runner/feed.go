package runner

import (
	"context"
	"errors"
)

// A feed hands events to the sinks through one goroutine.
type feed struct {
	sinks []Sink
	items chan item
	done  chan struct{}
	err   error // read after done
}

// An item is an event, or a mark that says how far the sinks have come.
type item struct {
	event   Event
	reached chan<- struct{}
}

// newFeed starts the goroutine. The context's end does not keep events from
// the sinks: what the journal holds, they hear. fail is called on the first
// error.
func newFeed(ctx context.Context, sinks []Sink, tally *tally, fail func(error)) *feed {
	f := &feed{sinks: sinks, items: make(chan item, 256), done: make(chan struct{})}
	go func() {
		defer close(f.done)
		f.serve(context.WithoutCancel(ctx), tally, fail)
	}()
	return f
}

func (f *feed) serve(ctx context.Context, tally *tally, fail func(error)) {
	deaf := make([]bool, len(f.sinks))
	for it := range f.items {
		if it.reached != nil {
			close(it.reached)
			continue
		}
		e := it.event
		e.Planned, e.Done = tally.planned, tally.take(e)
		for i, s := range f.sinks {
			if deaf[i] {
				continue
			}
			if err := s.Event(ctx, e); err != nil {
				deaf[i] = true
				f.err = errors.Join(f.err, err)
				fail(err)
			}
		}
	}
}

func (f *feed) tell(e Event) { f.items <- item{event: e} }

// drain waits until the sinks have heard everything told so far.
func (f *feed) drain() {
	reached := make(chan struct{})
	f.items <- item{reached: reached}
	<-reached
}

// close waits until every sink has heard everything.
func (f *feed) close() error {
	close(f.items)
	<-f.done
	return f.err
}

func closeSinks(sinks []Sink) error {
	var errs []error
	for _, s := range sinks {
		errs = append(errs, s.Close())
	}
	return errors.Join(errs...)
}
