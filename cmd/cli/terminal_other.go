//go:build !linux && !darwin

package cli

// An echoState is empty where the echo of terminals is not switched off.
type echoState struct{}

func hideEcho(int, bool) *echoState { return nil }

func (*echoState) restore(int) {}
