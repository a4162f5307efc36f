package runner

import (
	"context"
	"errors"
)

// A feed hands events to the sinks through one goroutine.
type feed struct {
	sinks []Sink
	items chan Event
	done  chan struct{}
	err   error // read after done
}

// newFeed starts the goroutine. Sinks get every event that the journal holds, also after
// the context ended. fail is called on the first error.
func newFeed(ctx context.Context, sinks []Sink, fail func(error)) *feed {
	f := &feed{sinks: sinks, items: make(chan Event, 256), done: make(chan struct{})}
	go func() {
		defer close(f.done)
		f.serve(context.WithoutCancel(ctx), fail)
	}()
	return f
}

func (f *feed) serve(ctx context.Context, fail func(error)) {
	failed := make([]bool, len(f.sinks))
	for e := range f.items {
		for i, s := range f.sinks {
			if failed[i] {
				continue
			}
			if err := s.Event(ctx, e); err != nil {
				failed[i] = true
				f.err = errors.Join(f.err, err)
				fail(err)
			}
		}
	}
}

func (f *feed) send(e Event) { f.items <- e }

// close waits until every sink has every event.
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
