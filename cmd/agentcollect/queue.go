package agentcollect

import "sync"

// A queue holds events in order, the newest capacity of them.
type queue struct {
	mu      sync.Mutex
	ring    []Event
	first   int // of the oldest
	n       int
	closed  bool
	dropped int64
	// wake has something to read when a batch is full, or the queue was empty, or
	// was closed.
	wake chan struct{}
}

func newQueue(capacity int) *queue {
	return &queue{ring: make([]Event, capacity), wake: make(chan struct{}, 1)}
}

// put adds an event, at the cost of the oldest when the queue is full.
func (q *queue) put(e Event) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		q.dropped++
		return
	}
	if q.n == len(q.ring) {
		q.first, q.n = (q.first+1)%len(q.ring), q.n-1
		q.dropped++
	}
	q.ring[(q.first+q.n)%len(q.ring)] = e
	if q.n++; q.n == 1 || q.n == batchSize {
		q.signal()
	}
}

func (q *queue) signal() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.signal()
}

// take removes the oldest events, at most limit.
func (q *queue) take(limit int) []Event {
	q.mu.Lock()
	defer q.mu.Unlock()
	out := make([]Event, min(limit, q.n))
	for i := range out {
		at := &q.ring[(q.first+i)%len(q.ring)]
		out[i], *at = *at, Event{}
	}
	q.first, q.n = (q.first+len(out))%len(q.ring), q.n-len(out)
	return out
}

// state returns the number of queued and of dropped events, and whether the queue is
// closed.
func (q *queue) state() (waiting int, dropped int64, closed bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.n, q.dropped, q.closed
}
