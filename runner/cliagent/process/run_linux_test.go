package process

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A fakeClock stands until it is moved; what waits is fired by its duration.
type fakeClock struct {
	mu    sync.Mutex
	now   time.Time
	waits map[time.Duration]chan time.Time
	asked *sync.Cond
}

func newClock() *fakeClock {
	c := &fakeClock{now: time.Unix(1000, 0), waits: map[time.Duration]chan time.Time{}}
	c.asked = sync.NewCond(&c.mu)
	return c
}

func (c *fakeClock) clock() Clock {
	return Clock{
		Now: func() time.Time { c.mu.Lock(); defer c.mu.Unlock(); return c.now },
		After: func(d time.Duration) <-chan time.Time {
			c.mu.Lock()
			defer c.mu.Unlock()
			ch := make(chan time.Time, 1)
			c.waits[d] = ch
			c.asked.Broadcast()
			return ch
		},
	}
}

// fire waits until somebody waits for d, moves the clock and lets them go.
func (c *fakeClock) fire(d, move time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.waits[d] == nil {
		c.asked.Wait()
	}
	c.now = c.now.Add(move)
	c.waits[d] <- c.now
	delete(c.waits, d)
}

func spec(mode string) Spec {
	return Spec{
		Argv: []string{"/proc/self/exe"}, Dir: "/", Env: []string{"CHILD=" + mode}, Supervisor: []string{"/proc/self/exe", "supervise"},
	}
}

// A collector takes lines.
type collector struct {
	lines chan string
	pids  []int
}

func collect(s *Spec) *collector {
	c := &collector{lines: make(chan string, 100_000)}
	s.Stdout = func(_ time.Duration, _ int64, line []byte) { c.lines <- string(line) }
	return c
}

// wait returns the next line that begins with want.
func (c *collector) wait(t *testing.T, want string) string {
	t.Helper()
	for {
		select {
		case line := <-c.lines:
			var pid int
			if n, _ := fmt.Sscanf(line, "pid %d", &pid); n == 1 {
				c.pids = append(c.pids, pid)
			}
			if strings.HasPrefix(line, want) {
				return line
			}
		case <-time.After(2 * time.Minute):
			t.Fatalf("no line %q", want)
		}
	}
}

type result struct {
	Exit
	err error
}

func start(ctx context.Context, c Clock, s Spec) <-chan result {
	out := make(chan result, 1)
	go func() {
		e, err := Run(ctx, c, s)
		out <- result{e, err}
	}()
	return out
}

func ended(t *testing.T, ch <-chan result) Exit {
	t.Helper()
	select {
	case r := <-ch:
		if r.err != nil {
			t.Fatal(r.err)
		}
		return r.Exit
	case <-time.After(2 * time.Minute):
		t.Fatal("Run did not return")
		return Exit{}
	}
}

// gone fails where a process still runs; one that has ended and was not waited for
// yet is gone.
func gone(t *testing.T, pids []int, patience time.Duration) {
	t.Helper()
	for _, pid := range pids {
		fd, err := unix.PidfdOpen(pid, 0)
		if errors.Is(err, syscall.ESRCH) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, int(patience.Milliseconds()))
		unix.Close(fd)
		if err != nil || n == 0 {
			t.Errorf("process %d is still there (%v)", pid, err)
		}
	}
}

func TestRunPlain(t *testing.T) {
	for _, supervised := range []bool{true, false} {
		s := spec("plain")
		if !supervised {
			s.Supervisor = nil
		}
		s.Dir = t.TempDir()
		s.Env = append(s.Env, "SOME=thing")
		type line struct {
			off  int64
			text string
		}
		var out, errs []line
		s.Stdout = func(at time.Duration, off int64, l []byte) { out = append(out, line{off, string(l)}) }
		s.Stderr = func(at time.Duration, off int64, l []byte) { errs = append(errs, line{off, string(l)}) }
		e := ended(t, start(t.Context(), realClock(), s))
		if e.Code != 3 || e.Signal != "" || e.Why != Exited || e.CPU <= 0 || e.MaxRSSMB <= 0 || e.Wall <= 0 || e.CouldNotKill {
			t.Errorf("exit %+v", e)
		}
		want := fmt.Sprintf("tty false, stdin \"\", dir %s, env CHILD=plain SOME=thing", s.Dir)
		if len(out) != 4 || out[0] != (line{0, "one"}) || out[1] != (line{4, "two"}) || out[2] != (line{8, want}) || supervised && out[3].text != "2 pipes" {
			t.Errorf("supervised %t: stdout %v", supervised, out)
		}
		if len(errs) != 2 || errs[0].text != "warning" || errs[1] != (line{8, "last"}) || string(e.Stderr) != "warning\nlast" {
			t.Errorf("stderr %v, %q", errs, e.Stderr)
		}
		if string(e.Raw) != "one\ntwo\n"+want+"\n"+out[3].text || e.RawBytes != int64(len(e.Raw)) || e.Cut != 0 {
			t.Errorf("raw %q", e.Raw)
		}
	}
}

func TestRunSignalled(t *testing.T) {
	e := ended(t, start(t.Context(), realClock(), spec("signal")))
	if e.Code != -1 || e.Signal != "killed" || e.Why != Exited {
		t.Errorf("exit %+v", e)
	}
}

func TestRunCannotStart(t *testing.T) {
	dir := t.TempDir()
	plain := dir + "/plain"
	script := dir + "/script"
	if err := errors.Join(os.WriteFile(plain, nil, 0o600), os.WriteFile(script, []byte("#!/no/such/interpreter\n"), 0o700)); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		change func(*Spec)
		want   string
	}{
		"missing":     {func(s *Spec) { s.Argv = []string{"no-such-program"}; s.Env = []string{"PATH=/bin"} }, "not in PATH (/bin): install it"},
		"no file":     {func(s *Spec) { s.Argv = []string{dir + "/none"} }, dir + "/none is missing"},
		"not allowed": {func(s *Spec) { s.Argv = []string{plain} }, "is not a program"},
		"interpreter": {func(s *Spec) { s.Argv = []string{script} }, "or its folder or interpreter is"},
		"folder":      {func(s *Spec) { s.Dir = dir + "/none" }, "is missing"},
		"nothing":     {func(s *Spec) { s.Argv = nil }, "no program"},
		"supervisor":  {func(s *Spec) { s.Supervisor = []string{"/bin/true"} }, "did not start"},
	} {
		for _, supervised := range []bool{true, false} {
			s := spec("plain")
			c.change(&s)
			if !supervised {
				s.Supervisor = nil
			}
			if name == "supervisor" && !supervised {
				continue
			}
			if _, err := Run(t.Context(), realClock(), s); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s, supervised %t: %v, want %q", name, supervised, err, c.want)
			}
		}
	}
}

func TestRunFindsInPathOfEnv(t *testing.T) {
	s := Spec{Argv: []string{"true"}, Dir: "/", Env: []string{"PATH=/nowhere:/usr/bin:/bin"}}
	if e, err := Run(t.Context(), realClock(), s); err != nil || e.Code != 0 {
		t.Errorf("%+v %v", e, err)
	}
}

// TestRunLadder sees that a family that hears nothing is asked, asked again and
// killed, all of it, and that its open pipes hold nobody up.
func TestRunLadder(t *testing.T) {
	clock := newClock()
	s := spec("family")
	s.Wall, s.Interrupt, s.Terminate = time.Hour, 5*time.Second, 6*time.Second
	c := collect(&s)
	run := start(t.Context(), clock.clock(), s)
	c.wait(t, "pid")
	c.wait(t, "pid")
	clock.fire(time.Hour, time.Hour)
	c.wait(t, "heard interrupt")
	c.wait(t, "heard interrupt")
	clock.fire(5*time.Second, 5*time.Second)
	c.wait(t, "heard terminated")
	c.wait(t, "heard terminated")
	clock.fire(6*time.Second, 6*time.Second)
	e := ended(t, run)
	if e.Why != Wall || e.Code != -1 || e.Signal != "killed" || e.Wall != time.Hour+11*time.Second || e.CouldNotKill {
		t.Errorf("exit %+v", e)
	}
	gone(t, c.pids, 0)
}

// TestRunLadderInSandbox sees that a program in bubblewrap is asked first as well,
// although bubblewrap itself dies of the first signal.
func TestRunLadderInSandbox(t *testing.T) {
	bwrap, err := exec.LookPath("bwrap")
	if err != nil {
		if slices.Contains(strings.Split(os.Getenv("FIRSTPICK_REQUIRE"), ","), "bwrap") {
			t.Fatal("FIRSTPICK_REQUIRE names bwrap, and it is not installed")
		}
		t.Skip("bubblewrap is not installed")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	clock := newClock()
	s := spec("deaf")
	s.Argv = []string{bwrap, "--die-with-parent", "--new-session", "--unshare-pid", "--dev-bind", "/", "/", "--", self}
	s.Interrupt, s.Terminate = 5*time.Second, 6*time.Second
	c := collect(&s)
	run := start(ctx, clock.clock(), s)
	c.wait(t, "pid")
	var pids []int
	for _, d := range descendants(os.Getpid()) {
		pids = append(pids, d.pid)
	}
	cancel()
	c.wait(t, "heard interrupt")
	clock.fire(5*time.Second, 5*time.Second)
	c.wait(t, "heard terminated")
	clock.fire(6*time.Second, 6*time.Second)
	if e := ended(t, run); e.Why != Cancelled || e.Signal != "killed" || e.CouldNotKill {
		t.Errorf("exit %+v", e)
	}
	if len(pids) < 4 {
		t.Errorf("pids %v: want the supervisor, bwrap twice and the program", pids)
	}
	gone(t, pids, 0)
}

// TestRunDaemon sees that a daemon does not outlive the program.
func TestRunDaemon(t *testing.T) {
	s := spec("daemon")
	c := collect(&s)
	e := ended(t, start(t.Context(), realClock(), s))
	c.wait(t, "done")
	if e.Why != Exited || e.Code != 0 {
		t.Errorf("exit %+v", e)
	}
	if len(c.pids) == 0 {
		t.Error("the daemon was never there")
	}
	gone(t, c.pids, 0)
}

func TestRunBomb(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := spec("bomb")
	s.Interrupt, s.Terminate = time.Millisecond, time.Millisecond
	c := collect(&s)
	run := start(ctx, realClock(), s)
	for range 20 {
		c.wait(t, "ready")
	}
	cancel()
	e := ended(t, run)
	if e.Why != Cancelled || e.CouldNotKill {
		t.Errorf("why %s, could not kill %t, signal %q after %s; stderr:\n%s", e.Why, e.CouldNotKill, e.Signal, e.Wall, e.Stderr)
	}
	for line := range strings.Lines(string(e.Raw)) {
		var pid int
		if n, _ := fmt.Sscanf(line, "pid %d", &pid); n == 1 {
			c.pids = append(c.pids, pid)
		}
	}
	gone(t, c.pids, 0)
}

func TestRunStall(t *testing.T) {
	clock := newClock()
	s := spec("hang")
	s.Stall = 3 * time.Minute
	c := collect(&s)
	heard := make(chan bool, 9)
	s.Stdout = func(_ time.Duration, _ int64, line []byte) { c.lines <- string(line); heard <- true }
	clock.mu.Lock()
	clock.now = clock.now.Add(time.Minute) // the line comes a minute after the start or later
	clock.mu.Unlock()
	run := start(t.Context(), clock.clock(), s)
	<-heard
	clock.fire(3*time.Minute, 2*time.Minute) // too early: two minutes without a byte
	clock.fire(time.Minute, time.Minute)
	e := ended(t, run)
	if e.Why != Stall || e.Signal != "interrupt" && e.Code != 2 {
		t.Errorf("exit %+v", e)
	}
}

// TestRunStallCountsBytes sees that output without a line is output.
func TestRunStallCountsBytes(t *testing.T) {
	s := spec("dots")
	s.Stall, s.Wall = 2*time.Second, 4*time.Second
	if e := ended(t, start(t.Context(), realClock(), s)); e.Why != Wall || e.RawBytes < 10 {
		t.Errorf("why %s after %d bytes", e.Why, e.RawBytes)
	}
}

// TestRunGrace sees that after a result only the grace counts.
func TestRunGrace(t *testing.T) {
	clock := newClock()
	s := spec("result")
	s.Wall, s.Stall, s.Grace = time.Hour, time.Minute, 20*time.Second
	seen := false
	s.Stdout = func(_ time.Duration, _ int64, line []byte) { seen = string(line) == "result" }
	s.Ended = func() bool { return seen }
	run := start(t.Context(), clock.clock(), s)
	clock.fire(20*time.Second, 20*time.Second)
	if e := ended(t, run); e.Why != Grace || string(e.Raw) != "result\n" {
		t.Errorf("exit %+v", e)
	}
}

func TestRunCancelled(t *testing.T) {
	for _, supervised := range []bool{true, false} {
		ctx, cancel := context.WithCancel(t.Context())
		s := spec("hang")
		if !supervised {
			s.Supervisor = nil
		}
		c := collect(&s)
		run := start(ctx, realClock(), s)
		c.wait(t, "ready")
		cancel()
		if e := ended(t, run); e.Why != Cancelled {
			t.Errorf("exit %+v", e)
		}
	}
}

// TestRunAloneWithPipesHeld sees that output that something holds open does not
// hold up Run where there is no supervisor.
func TestRunAloneWithPipesHeld(t *testing.T) {
	clock := newClock()
	s := spec("daemon")
	s.Supervisor = nil
	c := collect(&s)
	run := start(t.Context(), clock.clock(), s)
	c.wait(t, "pid")
	clock.fire(drainTimeout, drainTimeout)
	if e := ended(t, run); e.Code != 0 || e.Why != Exited {
		t.Errorf("exit %+v", e)
	}
	for _, pid := range c.pids {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

// TestRunLongLine sees that a line of 200 MB takes no such memory.
func TestRunLongLine(t *testing.T) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	s := spec("long")
	s.MaxLine, s.MaxRaw = 1<<20, 8<<20
	var lines []string
	s.Stdout = func(_ time.Duration, off int64, line []byte) {
		lines = append(lines, fmt.Sprint(off, " ", string(line)))
	}
	e := ended(t, start(t.Context(), realClock(), s))
	runtime.ReadMemStats(&after)
	total := int64(200<<20 + 1 + 6)
	if e.RawBytes != total || e.CutAt != 4<<20 || e.Cut != total-8<<20 || len(e.Raw) != 8<<20 || e.LongLines != 1 {
		t.Errorf("%d bytes, %d cut at %d, %d kept, %d long", e.RawBytes, e.Cut, e.CutAt, len(e.Raw), e.LongLines)
	}
	if !bytes.HasSuffix(e.Raw, []byte("x\nafter\n")) || len(lines) != 1 || lines[0] != fmt.Sprint(200<<20+1, " after") {
		t.Errorf("lines %q", lines)
	}
	if grown := int64(after.HeapSys) - int64(before.HeapSys); grown > 100<<20 {
		t.Errorf("memory grew by %d MB", grown>>20)
	}
}

// TestParentKilled sees that nothing outlives the process that called Run when it
// is killed.
func TestParentKilled(t *testing.T) {
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = []string{"CHILD=parent"}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var pids []int
	for range 2 {
		var pid int
		if _, err := fmt.Fscanf(out, "pid %d\n", &pid); err != nil {
			t.Fatal(err)
		}
		pids = append(pids, pid)
	}
	for _, d := range descendants(cmd.Process.Pid) {
		pids = append(pids, d.pid)
	}
	if len(pids) < 6 { // the two, again among the supervisor, the program and them
		t.Errorf("only %d processes", len(pids))
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	gone(t, pids, 10*time.Second)
}

// TestSupervisorKilled sees that the program does not outlive its supervisor.
func TestSupervisorKilled(t *testing.T) {
	s := spec("hang")
	c := collect(&s)
	run := start(t.Context(), realClock(), s)
	c.wait(t, "ready")
	var pids []int
	for i, d := range descendants(os.Getpid()) {
		if i == 0 {
			_ = syscall.Kill(d.pid, syscall.SIGKILL)
		}
		pids = append(pids, d.pid)
	}
	if e := ended(t, run); e.Code != -1 || !e.CouldNotKill {
		t.Errorf("exit %+v", e)
	}
	gone(t, pids, 10*time.Second)
}
