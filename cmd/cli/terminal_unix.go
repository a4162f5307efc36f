//go:build linux || darwin

package cli

import "golang.org/x/sys/unix"

// An echoState is how a terminal was before its echo was switched off.
type echoState struct{ before unix.Termios }

// foreground is true without job control.
func foreground(fd int) bool {
	group, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP)
	return err != nil || group == unix.Getpgrp()
}

// saveEcho returns nil where it cannot be read.
func saveEcho(fd int) *echoState {
	now, err := unix.IoctlGetTermios(fd, readTermios)
	if err != nil || !foreground(fd) {
		return nil
	}
	return &echoState{before: *now}
}

// hideEcho returns nil where there is nothing to undo: no terminal, or one that is
// another process's just now, which a process in the background must not change.
func hideEcho(fd int) *echoState {
	if group, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP); err != nil || group != unix.Getpgrp() {
		return nil
	}
	now, err := unix.IoctlGetTermios(fd, readTermios)
	if err != nil || now.Lflag&unix.ECHO == 0 {
		return nil
	}
	s := &echoState{before: *now}
	now.Lflag &^= unix.ECHO
	if unix.IoctlSetTermios(fd, writeTermios, now) != nil {
		return nil
	}
	return s
}

// interrupt sends the signal to the foreground's processes, as a terminal does at Ctrl-C.
func interrupt() { _ = unix.Kill(0, unix.SIGINT) }

func (s *echoState) restore(fd int) { _ = unix.IoctlSetTermios(fd, flushTermios, &s.before) }
