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

// The supervisor's files, after the program's own three.
const (
	ordersFD  = 3
	reportsFD = 4
)

// The supervisor's exit statuses; the program's is in its report.
const (
	superviseOK     = 0
	superviseFailed = 127
)

// Supervise is the whole of the supervisor's process: it runs a program, sees that
// nothing of it stays behind, and returns the status to exit with. Spec.Supervisor
// is the argv that leads here, argv what follows it: the size of the largest file that
// may be written, in bytes, 0 for any, and the program. It takes orders from file 3, a
// signal per byte; when that ends, and when the program does, everything ends. It
// reports to file 4.
//
// The supervisor adopts whatever loses its parent below it, so that a walk through
// /proc finds all that the program started, in whatever group or session. If it is
// killed itself the program is killed by the kernel, and what the program started
// is not; nobody has a reason to.
func Supervise(argv []string) int {
	// The kernel kills the program when the thread that started it ends.
	runtime.LockOSThread()
	for _, name := range inheritedFiles() {
		unix.CloseOnExec(name)
	}
	orders, reports := os.NewFile(ordersFD, "orders"), os.NewFile(reportsFD, "reports")
	tell := json.NewEncoder(reports)
	s, err := newSupervisor(argv)
	if err != nil {
		_ = tell.Encode(report{Error: err.Error()})
		return superviseFailed
	}
	if tell.Encode(report{PID: s.program}) != nil {
		s.endAll()
	}
	go s.obey(orders)
	if tell.Encode(report{End: s.reap()}) != nil {
		return superviseFailed
	}
	return superviseOK
}

// inheritedFiles are the open files but stdin, stdout and stderr: whatever opened
// them, the program must not have them.
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
		return nil, fmt.Errorf("the size of the largest file: %w", err)
	}
	argv = argv[1:]
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		return nil, os.NewSyscallError("look for /proc, which is needed to find what a program starts", err)
	}
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return nil, os.NewSyscallError("prctl", err)
	}
	// A core file would lie in the workspace.
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

// obey takes orders until there are no more. A signal that asks the supervisor to
// end is an order to end everything.
func (s *supervisor) obey(orders *os.File) {
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM)
	go func() {
		<-asked
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

// send sends a signal to all that the program started. A sandbox's own process does
// not pass it on but dies of it, and takes all with it: it is left out.
func (s *supervisor) send(sig syscall.Signal) {
	for _, p := range descendants(s.self) {
		if p.name != "bwrap" {
			_ = syscall.Kill(p.pid, sig)
		}
	}
}

// endAll kills all there is below. What is started meanwhile is found by reap: the
// death of each is told there, and what it left is killed then.
func (s *supervisor) endAll() {
	s.ending.Store(true)
	for _, p := range descendants(s.self) {
		_ = syscall.Kill(p.pid, syscall.SIGKILL)
	}
}

// reap waits until nothing is left and says how the program ended.
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
	names, _ := proc.Readdirnames(-1) // those that it could read
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
