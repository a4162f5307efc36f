//go:build unix

package cli

import "syscall"

// keepPrivate makes the files of this process its owner's alone: databases make
// theirs, and those beside them, with the modes they like.
func keepPrivate() { syscall.Umask(0o077) }
