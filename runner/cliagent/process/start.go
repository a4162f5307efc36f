//go:build unix

package process

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"syscall"
	"time"
)

// A report is a message of the supervisor: the program's id once it runs or the error,
// and how it ended.
type report struct {
	PID   int    `json:"pid,omitempty"`
	Error string `json:"error,omitempty"`
	End   *end   `json:"end,omitempty"`
}

type end struct {
	Code     int           `json:"code"`
	Signal   string        `json:"signal,omitempty"`
	CPU      time.Duration `json:"cpu_ns"`
	MaxRSSKB int64         `json:"max_rss_kb"`
}

// Supported returns why programs cannot be agents here, or nil if they can.
func Supported() error { return nil }

// start starts the program with its output going to the two files.
func (s *Spec) start(stdout, stderr *os.File) (*child, error) {
	if len(s.Argv) == 0 {
		return nil, errNoProgram
	}
	program, err := lookPath(s.Argv[0], s.Dir, s.Env)
	if err != nil {
		return nil, err
	}
	argv := append([]string{program}, s.Argv[1:]...)
	cmd := &exec.Cmd{
		Path: program, Args: argv, Dir: s.Dir, Env: s.Env, Stdout: stdout, Stderr: stderr,
		// A new session has no terminal, so programs cannot prompt.
		SysProcAttr: &syscall.SysProcAttr{Setsid: true},
	}
	if len(s.Supervisor) == 0 {
		return startAlone(cmd)
	}
	cmd.Path, cmd.Args = s.Supervisor[0], slices.Concat(s.Supervisor, []string{strconv.FormatInt(s.Limits.maxFile(), 10)}, argv)
	return startSupervised(cmd, program)
}

// startAlone starts a program in its own process group.
func startAlone(cmd *exec.Cmd) (*child, error) {
	if err := cmd.Start(); err != nil {
		return nil, startError(cmd.Path, err)
	}
	group := func(sig syscall.Signal) { _ = syscall.Kill(-cmd.Process.Pid, sig) }
	done := make(chan Exit, 1)
	go func() {
		_ = cmd.Wait() // the state has more than the error
		group(syscall.SIGKILL)
		var e Exit
		if u, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
			e = (&end{CPU: cpu(u), MaxRSSKB: u.Maxrss}).exit()
		}
		e.Code, e.Signal = status(cmd.ProcessState.Sys().(syscall.WaitStatus))
		done <- e
	}()
	kill := func() { group(syscall.SIGKILL) }
	return &child{signal: group, kill: kill, abandon: kill, done: done}, nil
}

// startSupervised starts the supervisor, which starts the program. Orders go through a
// pipe that is closed when this process ends for any reason.
func startSupervised(cmd *exec.Cmd, program string) (*child, error) {
	ordersEnd, orders, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	reports, reportsEnd, err := os.Pipe()
	if err != nil {
		_, _ = ordersEnd.Close(), orders.Close()
		return nil, err
	}
	cmd.ExtraFiles = []*os.File{ordersEnd, reportsEnd} // 3 and 4
	err = cmd.Start()
	_, _ = ordersEnd.Close(), reportsEnd.Close()
	if err != nil {
		_, _ = orders.Close(), reports.Close()
		return nil, startError(cmd.Path, err)
	}
	dec := json.NewDecoder(reports)
	var first report
	if err := dec.Decode(&first); err != nil || first.Error != "" {
		_, _, _ = orders.Close(), reports.Close(), cmd.Wait()
		if err != nil {
			return nil, fmt.Errorf("the supervisor %s did not start %s: %v", cmd.Path, program, cmd.ProcessState)
		}
		return nil, fmt.Errorf("%s: %s", program, first.Error)
	}
	done := make(chan Exit, 1)
	go func() {
		var last report
		lost := dec.Decode(&last) != nil || last.End == nil
		_, _, _ = cmd.Wait(), orders.Close(), reports.Close()
		if lost { // the supervisor was killed, and the program with it, but not its other processes
			_ = syscall.Kill(-first.PID, syscall.SIGKILL)
			done <- Exit{Code: -1, Signal: "killed", CouldNotKill: true}
			return
		}
		done <- last.End.exit()
	}()
	return &child{
		pid:     cmd.Process.Pid,
		signal:  func(sig syscall.Signal) { _, _ = orders.Write([]byte{byte(sig)}) },
		kill:    func() { _ = orders.Close() },
		abandon: func() { _ = cmd.Process.Kill() },
		done:    done,
	}, nil
}

func (e *end) exit() Exit {
	return Exit{Code: e.Code, Signal: e.Signal, CPU: e.CPU, MaxRSSMB: int(e.MaxRSSKB >> 10)}
}

func status(ws syscall.WaitStatus) (code int, signal string) {
	if ws.Signaled() {
		return -1, ws.Signal().String()
	}
	return ws.ExitStatus(), ""
}

func cpu(u *syscall.Rusage) time.Duration {
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
