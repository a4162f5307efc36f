//go:build !unix

package process

import (
	"errors"
	"os"
	"runtime"
)

// Supported says why programs cannot be agents here: what they start could not be ended
// for certain.
func Supported() error {
	return errors.New("programs as agents need Linux or macOS, not " + runtime.GOOS + ": take a model behind an API, or run firstpick in WSL")
}

func (s *Spec) start(_, _ *os.File) (*child, error) { return nil, Supported() }
