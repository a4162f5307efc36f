//go:build !unix

package statetest

import (
	"errors"
	"time"
)

// Freeze is for Unix alone: other systems cannot stop a process from running.
func (*Cluster) Freeze(time.Duration) error { return errors.ErrUnsupported }
