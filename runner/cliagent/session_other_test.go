//go:build !unix

package cliagent

import "syscall"

func ownSession() *syscall.SysProcAttr { return nil }
