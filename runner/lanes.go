package runner

import (
	"maps"
	"sync"
)

// lanes remembers which agents are not asked further, and why.
type lanes struct {
	mu     sync.Mutex
	closed map[string]string
}

func newLanes() *lanes { return &lanes{closed: map[string]string{}} }

// close closes an agent's lane; the first reason stands.
func (l *lanes) close(agent, reason string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, ok := l.closed[agent]; !ok {
		l.closed[agent] = reason
	}
}

func (l *lanes) open(agent string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, closed := l.closed[agent]
	return !closed
}

func (l *lanes) reasons() map[string]string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.closed)
}
