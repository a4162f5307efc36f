//go:build !linux && !darwin && !windows

package cli

import "os"

func foreground(int) bool { return true }

func saveEcho(int) *echoState { return nil }

func interrupt() {
	if p, err := os.FindProcess(os.Getpid()); err == nil {
		_ = p.Signal(os.Interrupt)
	}
}
