package cli

// Save remembers the terminal for Show: a live view changes it by itself.
func (t *Terminal) Save() {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.hidden == nil {
		t.hidden = saveEcho(t.fd)
	}
}

// Foreground reports whether this process may change the terminal: it is not the job of
// a shell in the background.
func (t *Terminal) Foreground() bool { return t == nil || foreground(t.fd) }
