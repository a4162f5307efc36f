// Package filelock locks files between processes. A lock belongs to an open file, and
// the system gives it back when the file is closed or the process ends, however it ends.
package filelock

import (
	"errors"
	"os"
)

// ErrHeld means that another process, or another open file of this one, has the lock.
var ErrHeld = errors.New("another process holds the lock")

// Lock waits for the lock of f.
func Lock(f *os.File) error { return lock(f, true) }

// TryLock acquires the lock of f, or fails with ErrHeld.
func TryLock(f *os.File) error { return lock(f, false) }
