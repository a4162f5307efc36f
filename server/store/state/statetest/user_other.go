//go:build !unix

package statetest

import "os/exec"

// runAs does nothing: this system has no root user.
func runAs(*exec.Cmd, uint32, uint32) {}
