//go:build !unix

package statetest

import "os/exec"

// runAs does nothing: there is no root that PostgreSQL would refuse to run as.
func runAs(*exec.Cmd, uint32, uint32) {}
