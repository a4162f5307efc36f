//go:build !linux && !darwin && !windows

package cli

import "os"

// An echoState is empty where the echo of terminals is not switched off.
type echoState struct{}

func foreground(int) bool { return true }

func saveEcho(int) *echoState { return nil }

func interrupt() {
	if p, err := os.FindProcess(os.Getpid()); err == nil {
		_ = p.Signal(os.Interrupt)
	}
}

func hideEcho(int) *echoState { return nil }

func (*echoState) restore(int) {}
