package cli

import "golang.org/x/sys/windows"

func foreground(int) bool { return true }

func saveEcho(int) *echoState { return nil }

// interrupt sends Ctrl-C to the processes of the console.
func interrupt() { _ = windows.GenerateConsoleCtrlEvent(windows.CTRL_C_EVENT, 0) }
