package cli

import "golang.org/x/sys/unix"

// Reading and writing the state of a terminal; flushing drops unread input.
const (
	readTermios, writeTermios, flushTermios = unix.TCGETS, unix.TCSETS, unix.TCSETSF
)
