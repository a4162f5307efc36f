//go:build unix

package cliagent

import "syscall"

// ownSession makes a child that its parent's group does not hold.
func ownSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
