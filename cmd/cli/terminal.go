package cli

import (
	"sync"

	"golang.org/x/term"
)

// A Terminal is the terminal of a person. Typed keys are hidden while a live view or a
// secret needs that, and shown again at the end, at an interrupt and at a panic.
type Terminal struct {
	fd     int
	mu     sync.Mutex
	hidden *echoState
}

// Hide stops the echo of keys. Interrupts still arrive as signals.
func (t *Terminal) Hide() {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.hidden == nil {
		t.hidden = hideEcho(t.fd, false)
	}
}

// Keys is Hide, and lets each key be read as it is typed. It reports whether that is so: a
// process in the background must not read.
func (t *Terminal) Keys() bool {
	if t == nil {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.hidden == nil {
		t.hidden = hideEcho(t.fd, true)
	}
	return t.hidden != nil
}

// Show undoes Hide and drops keys typed meanwhile: a shell would run them.
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

// Width returns the number of columns, or 0 where it is unknown.
func (t *Terminal) Width() int {
	if t == nil {
		return 0
	}
	width, _, err := term.GetSize(t.fd)
	if err != nil {
		return 0
	}
	return width
}
