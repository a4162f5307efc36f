//go:build unix

package cli

import "syscall"

// keepPrivate makes the files of this process its owner's alone: databases make
// theirs, and their siblings, with any mode.
func keepPrivate() { syscall.Umask(0o077) }
