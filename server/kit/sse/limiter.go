package sse

import (
	"context"
	"errors"
	"sync"
)

// ErrTooMany means that an owner, or the server, has the maximum of open streams.
var ErrTooMany = errors.New("too many event streams are open")

// A Limiter limits the open streams of a server.
type Limiter struct {
	most, each int
	open       context.Context //nolint:containedctx // of the limiter, not of a request
	close      context.CancelFunc

	mu sync.Mutex
	n  int
	by map[string]int // by owner
}

// NewLimiter returns a limiter of most open streams in all, and each per owner.
func NewLimiter(most, each int) *Limiter {
	ctx, cancel := context.WithCancel(context.Background())
	return &Limiter{most: most, each: each, open: ctx, close: cancel, by: map[string]int{}}
}

// Close ends all streams and refuses new ones, so that a server stops without waiting
// for its clients. They reconnect to the next server.
func (l *Limiter) Close() { l.close() }

// Enter takes a place for a long response that is not an event stream, such as a
// download; leave gives it back. It fails with ErrTooMany.
func (l *Limiter) Enter(owner string) (leave func(), err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.n >= l.most || l.by[owner] >= l.each || l.open.Err() != nil {
		return nil, ErrTooMany
	}
	l.n++
	l.by[owner]++
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.n--
		if l.by[owner]--; l.by[owner] == 0 {
			delete(l.by, owner)
		}
	}, nil
}
