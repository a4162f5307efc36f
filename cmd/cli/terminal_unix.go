//go:build linux || darwin

package cli

import (
	"os/signal"

	"golang.org/x/sys/unix"
)

// An echoState is how a terminal was before its echo was switched off.
type echoState struct{ before unix.Termios }

// hideEcho switches the echo off and, with keys, reading by lines. It returns nil where there is nothing to undo: no terminal, or one that is
// another process's just now, which a process in the background must not change.
func hideEcho(fd int, keys bool) *echoState {
	if group, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP); err != nil || group != unix.Getpgrp() {
		return nil
	}
	now, err := unix.IoctlGetTermios(fd, readTermios)
	if err != nil || now.Lflag&unix.ECHO == 0 {
		return nil
	}
	s := &echoState{before: *now}
	now.Lflag &^= unix.ECHO
	if keys {
		now.Lflag &^= unix.ICANON
		now.Cc[unix.VMIN], now.Cc[unix.VTIME] = 1, 0
		signal.Ignore(unix.SIGTTIN) // moved to the background, reading fails and does not stop the process
	}
	if unix.IoctlSetTermios(fd, writeTermios, now) != nil {
		return nil
	}
	return s
}

func (s *echoState) restore(fd int) { _ = unix.IoctlSetTermios(fd, flushTermios, &s.before) }
