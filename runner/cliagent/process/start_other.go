//go:build !unix

package process

import (
	"errors"
	"os"
	"runtime"
)

// Supported returns why programs cannot be agents here: their processes could not be
// killed reliably.
func Supported() error {
	return errors.New("programs as agents need Linux or macOS, not " + runtime.GOOS + ": use a model behind an API, or run firstpick in WSL")
}

func (s *Spec) start(_, _ *os.File) (*child, error) { return nil, Supported() }
