//go:build linux || darwin

package cli

import "golang.org/x/sys/unix"

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

// interrupt sends the signal to the processes that a terminal sends it to at Ctrl-C.
func interrupt() { _ = unix.Kill(0, unix.SIGINT) }
