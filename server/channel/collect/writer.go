package collect

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/firstpick/firstpick/server/store/state"
)

const (
	// maxWaiting bounds the events that wait for the store, and so the memory that a
	// store that hangs can cost.
	maxWaiting = 20_000
	// maxBatch bounds the events of one commit.
	maxBatch = 5_000
	// commitTimeout is how long a request waits for its commit.
	commitTimeout = 1500 * time.Millisecond
)

// ErrBusy means that the store cannot accept events now. The sender may retry.
var ErrBusy = errors.New("the collector's queue is full, or the store does not answer")

// A Writer stores events. While one commit is under way, requests gather; the
// next commit stores them all. There is no timer: a lone request does not wait.
type Writer struct {
	db      *state.DB
	jobs    chan *job
	waiting atomic.Int64
	done    chan struct{}

	mu     sync.RWMutex
	closed bool
}

// A job is the events of one request.
type job struct {
	events    []state.CollectedEvent
	abandoned atomic.Bool // the request timed out and was answered
	result    chan result
}

type result struct {
	fresh []bool
	err   error
}

// NewWriter starts a writer; Close ends it.
func NewWriter(db *state.DB) *Writer {
	w := &Writer{db: db, jobs: make(chan *job, maxWaiting), done: make(chan struct{})}
	go w.run()
	return w
}

// Store stores events and reports which of them are new. When it returns without
// error they are on disk. It fails with ErrBusy at once when too many wait, and
// soon when the store does not answer; of a request that failed, events may be
// stored yet when its commit was under way.
func (w *Writer) Store(ctx context.Context, events []state.CollectedEvent) ([]bool, error) {
	if len(events) == 0 {
		return nil, nil
	}
	n := int64(len(events))
	j := &job{events: events, result: make(chan result, 1)}
	w.mu.RLock()
	if w.closed || w.waiting.Add(n) > maxWaiting {
		if !w.closed {
			w.waiting.Add(-n)
		}
		w.mu.RUnlock()
		return nil, ErrBusy
	}
	w.jobs <- j // it has room for as many jobs as events may wait
	w.mu.RUnlock()
	timer := time.NewTimer(commitTimeout)
	defer timer.Stop()
	select {
	case r := <-j.result:
		return r.fresh, r.err
	case <-timer.C:
		j.abandoned.Store(true)
		return nil, ErrBusy
	case <-ctx.Done():
		j.abandoned.Store(true)
		return nil, ctx.Err()
	}
}

// Close stores queued events and stops the writer.
func (w *Writer) Close() {
	w.mu.Lock()
	if !w.closed {
		w.closed = true
		close(w.jobs)
	}
	w.mu.Unlock()
	<-w.done
}

func (w *Writer) run() {
	defer close(w.done)
	for j := range w.jobs {
		batch, n := []*job{j}, len(j.events)
	gather:
		for n < maxBatch {
			select {
			case next, open := <-w.jobs:
				if !open {
					break gather
				}
				batch, n = append(batch, next), n+len(next.events)
			default:
				break gather
			}
		}
		w.waiting.Add(-int64(n))
		w.commit(batch)
	}
}

// commit stores a batch, or, when one request spoils it, each request by itself.
func (w *Writer) commit(batch []*job) {
	var events []state.CollectedEvent
	live := batch[:0]
	for _, j := range batch {
		if !j.abandoned.Load() { // abandoned jobs were not stored and have no waiting request
			live, events = append(live, j), append(events, j.events...)
		}
	}
	if len(live) == 0 {
		return
	}
	fresh, err := w.store(events)
	if err != nil && len(live) > 1 && !w.db.IsDown(err) {
		for _, j := range live {
			fresh, err := w.store(j.events)
			j.result <- result{fresh, err}
		}
		return
	}
	for _, j := range live {
		if err != nil {
			j.result <- result{err: err}
			continue
		}
		j.result <- result{fresh: fresh[:len(j.events):len(j.events)]}
		fresh = fresh[len(j.events):]
	}
}

func (w *Writer) store(events []state.CollectedEvent) (fresh []bool, err error) {
	ctx := context.Background()
	err = w.db.Write(ctx, func(tx *state.Tx) error {
		fresh, err = tx.AddEvents(ctx, events)
		return err
	})
	return fresh, err
}
