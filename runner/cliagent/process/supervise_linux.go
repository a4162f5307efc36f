package process

import (
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"
)

// File descriptors of the supervisor, after the program's standard three.
const (
	ordersFD  = 3
	reportsFD = 4
)

// The supervisor's exit statuses; the program's is in its report.
const (
	superviseOK     = 0
	superviseFailed = 127
)

// Supervise is the main function of the supervisor process: it runs a program, kills
// all its remaining processes, and returns the exit status. Spec.Supervisor is the argv
// that runs it, argv the arguments after it: the size limit of a written file in bytes,
// 0 for unlimited, and the program. It reads orders from file 3, a signal per byte; at
// end of file, or when the program ends, it kills everything. It writes reports to file
// 4.
//
// The supervisor adopts every orphan below it, so that a walk through /proc finds all
// processes of the program in any group or session. If the supervisor is killed, the
// kernel kills the program, but not the program's children.
func Supervise(argv []string) int {
	// The kernel kills the program when the thread that started it ends.
	runtime.LockOSThread()
	for _, name := range inheritedFiles() {
		unix.CloseOnExec(name)
	}
	orders, reports := os.NewFile(ordersFD, "orders"), os.NewFile(reportsFD, "reports")
	encoder := json.NewEncoder(reports)
	s, err := newSupervisor(argv)
	if err != nil {
		_ = encoder.Encode(report{Error: err.Error()})
		return superviseFailed
	}
	if encoder.Encode(report{PID: s.program}) != nil {
		s.endAll()
	}
	go s.obey(orders)
	if encoder.Encode(report{End: s.reap()}) != nil {
		return superviseFailed
	}
	return superviseOK
}

// inheritedFiles are the open files except stdin, stdout and stderr: the program must
// not inherit them.
func inheritedFiles() []int {
	var out []int
	entries, _ := os.ReadDir("/proc/self/fd") // checked by newSupervisor
	for _, e := range entries {
		if fd, err := strconv.Atoi(e.Name()); err == nil && fd > 2 {
			out = append(out, fd)
		}
	}
	return out
}

type supervisor struct {
	self, program int
	ending        atomic.Bool
}

func newSupervisor(argv []string) (*supervisor, error) {
	if len(argv) < 2 {
		return nil, errNoProgram
	}
	maxFile, err := strconv.ParseUint(argv[0], 10, 64)
	if err != nil {
		return nil, fmt.Errorf("parse the size limit of files: %w", err)
	}
	argv = argv[1:]
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		return nil, os.NewSyscallError("open /proc, which is needed to find a program's processes", err)
	}
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return nil, os.NewSyscallError("prctl", err)
	}
	// A core file would be written to the workspace.
	_ = unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{})
	if maxFile > 0 {
		if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: maxFile, Max: maxFile}); err != nil {
			return nil, os.NewSyscallError("setrlimit", err)
		}
	}
	pid, err := syscall.ForkExec(argv[0], argv, &syscall.ProcAttr{
		Env: syscall.Environ(), Files: []uintptr{0, 1, 2},
		Sys: &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL},
	})
	if err != nil {
		return nil, startError(argv[0], err)
	}
	return &supervisor{self: os.Getpid(), program: pid}, nil
}

// obey reads orders until end of file. A termination signal to the supervisor is an
// order to kill everything.
func (s *supervisor) obey(orders *os.File) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM)
	go func() {
		<-signals
		s.endAll()
	}()
	order := make([]byte, 1)
	for {
		if n, err := orders.Read(order); n == 0 || err != nil {
			s.endAll()
			return
		}
		s.send(syscall.Signal(order[0]))
	}
}

// send sends a signal to all processes of the program. A sandbox's own process is
// skipped: it would die without forwarding the signal.
func (s *supervisor) send(sig syscall.Signal) {
	for _, p := range descendants(s.self) {
		if p.name != "bwrap" {
			_ = syscall.Kill(p.pid, sig)
		}
	}
}

// endAll kills all processes below. Processes started meanwhile are found by reap,
// which is notified of each death and kills the orphans.
func (s *supervisor) endAll() {
	s.ending.Store(true)
	for _, p := range descendants(s.self) {
		_ = syscall.Kill(p.pid, syscall.SIGKILL)
	}
}

// reap waits until no process is left and returns how the program ended.
func (s *supervisor) reap() *end {
	var out end
	for {
		var ws syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &ws, syscall.WALL, nil)
		for pid > 0 { // all ended processes, before looking for their orphans
			if pid == s.program {
				out.Code, out.Signal = status(ws)
				s.ending.Store(true)
			}
			pid, _ = syscall.Wait4(-1, &ws, syscall.WALL|syscall.WNOHANG, nil)
		}
		if err == syscall.ECHILD {
			break
		}
		if s.ending.Load() {
			s.endAll()
		}
	}
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_CHILDREN, &u)
	out.CPU, out.MaxRSSKB = cpu(&u), u.Maxrss
	return &out
}

// A descendant is a process below another.
type descendant struct {
	pid  int
	name string
}

// descendants returns all processes below one.
func descendants(of int) []descendant {
	children := map[int][]descendant{}
	proc, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer func() { _ = proc.Close() }()
	names, _ := proc.Readdirnames(-1) // the readable ones
	for _, name := range names {
		if name[0] < '0' || name[0] > '9' {
			continue
		}
		data, err := os.ReadFile("/proc/" + name + "/stat")
		if err != nil {
			continue // it ended
		}
		if d, parent, ok := parseStat(string(data)); ok {
			children[parent] = append(children[parent], d)
		}
	}
	found := children[of]
	for i := 0; i < len(found); i++ {
		found = append(found, children[found[i].pid]...)
	}
	return found
}

// parseStat reads "12 (name) S 1 ...". A name may hold parentheses and spaces.
func parseStat(s string) (d descendant, parent int, ok bool) {
	from, to := strings.IndexByte(s, '('), strings.LastIndexByte(s, ')')
	if from < 0 || to < from {
		return d, 0, false
	}
	fields := strings.Fields(s[to+1:])
	if len(fields) < 2 {
		return d, 0, false
	}
	pid, err := strconv.Atoi(strings.TrimSpace(s[:from]))
	if err != nil {
		return d, 0, false
	}
	parent, err = strconv.Atoi(fields[1])
	return descendant{pid, s[from+1 : to]}, parent, err == nil
}
