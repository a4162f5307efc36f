package sse

import (
	"context"
	"errors"
	"sync"
)

// ErrTooMany says that an owner, or the server, has as many streams as it may.
var ErrTooMany = errors.New("too many event streams are open")

// A Gate counts the streams of a server.
type Gate struct {
	most, each int
	open       context.Context //nolint:containedctx // it is the gate's life, no request's
	close      context.CancelFunc

	mu  sync.Mutex
	n   int
	own map[string]int
}

// NewGate returns a gate through which most streams go at a time, and each of one
// owner.
func NewGate(most, each int) *Gate {
	ctx, cancel := context.WithCancel(context.Background())
	return &Gate{most: most, each: each, open: ctx, close: cancel, own: map[string]int{}}
}

// Close ends all streams, and lets no more in: a server that stops waits for no
// watcher. Clients come back by themselves, to the next server.
func (g *Gate) Close() { g.close() }

// Enter takes a place for what is no stream of events and takes as long, a download
// say; leave gives it back. It fails with ErrTooMany.
func (g *Gate) Enter(owner string) (leave func(), err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.n >= g.most || g.own[owner] >= g.each || g.open.Err() != nil {
		return nil, ErrTooMany
	}
	g.n++
	g.own[owner]++
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.n--
		if g.own[owner]--; g.own[owner] == 0 {
			delete(g.own, owner)
		}
	}, nil
}
