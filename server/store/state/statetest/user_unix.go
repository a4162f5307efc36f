//go:build unix

package statetest

import (
	"os/exec"
	"syscall"
)

// runAs makes a program another user's.
func runAs(cmd *exec.Cmd, uid, gid uint32) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: gid}}
}
