package cli

import "golang.org/x/sys/windows"

// An echoState is empty: the echo of consoles is not switched off.
type echoState struct{}

func foreground(int) bool { return true }

func saveEcho(int) *echoState { return nil }

func hideEcho(int) *echoState { return nil }

func (*echoState) restore(int) {}

// interrupt sends Ctrl-C to the processes of the console.
func interrupt() { _ = windows.GenerateConsoleCtrlEvent(windows.CTRL_C_EVENT, 0) }
