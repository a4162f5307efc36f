package cli

import "sync"

// A Terminal is where a person types. What is typed is hidden while a live view or a
// secret needs that, and shown again at the end, at an interrupt and at a panic.
type Terminal struct {
	fd     int
	mu     sync.Mutex
	hidden *echoState
}

// Hide stops the echo of what is typed. Interrupts still come as signals.
func (t *Terminal) Hide() {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.hidden == nil {
		t.hidden = hideEcho(t.fd)
	}
}

// Show undoes Hide and drops what was typed meanwhile: a shell would run it.
func (t *Terminal) Show() {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.hidden != nil {
		t.hidden.restore(t.fd)
		t.hidden = nil
	}
}
