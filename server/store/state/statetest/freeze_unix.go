//go:build unix

package statetest

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Freeze keeps all processes of the server from running for a while.
func (c *Cluster) Freeze(d time.Duration) error {
	pids := []int{c.process.Process.Pid}
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pids[0], pids[0]))
	if err != nil {
		return err
	}
	for _, field := range strings.Fields(string(children)) {
		pid, err := strconv.Atoi(field)
		if err != nil {
			return err
		}
		pids = append(pids, pid)
	}
	for _, pid := range pids {
		err = errors.Join(err, syscall.Kill(pid, syscall.SIGSTOP))
	}
	time.Sleep(d)
	for _, pid := range pids {
		_ = syscall.Kill(pid, syscall.SIGCONT) // the process may have exited
	}
	return err
}
