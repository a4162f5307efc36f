//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A pty is a terminal with what was written on it.
type pty struct {
	person, program *os.File

	mu  sync.Mutex
	out strings.Builder
}

func newPTY(t *testing.T) *pty {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	fd := int(person.Fd())
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 30, Col: 120})
	}
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	p := &pty{person: person, program: program}
	t.Cleanup(func() { _ = program.Close(); _ = person.Close() })
	go func() {
		buf := make([]byte, 4096)
		for {
			n, err := person.Read(buf)
			p.mu.Lock()
			p.out.Write(buf[:n])
			p.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	return p
}

func (p *pty) seen() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out.String()
}

// await polls until something is so.
func (p *pty) await(t *testing.T, what string, so func() bool) {
	t.Helper()
	for began := time.Now(); !so(); time.Sleep(20 * time.Millisecond) {
		if time.Since(began) > 2*time.Minute {
			t.Fatalf("%s: not so after 2 minutes; on the terminal: %q", what, p.seen())
		}
	}
}

// echoes reports whether the terminal is as a shell leaves it.
func (p *pty) echoes(t *testing.T) bool {
	t.Helper()
	state, err := unix.IoctlGetTermios(int(p.program.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	return state.Lflag&(unix.ECHO|unix.ICANON|unix.ISIG) == unix.ECHO|unix.ICANON|unix.ISIG
}

// unread is how many typed bytes no program has read.
func (p *pty) unread(t *testing.T) int {
	t.Helper()
	n, err := unix.IoctlGetInt(int(p.program.Fd()), unix.TIOCINQ)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// start runs the program in the foreground of the terminal.
func (p *pty) start(t *testing.T, dir string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := firstpick(t, dir, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = p.program, p.program, p.program
	cmd.Env = append(os.Environ(), "TERM=xterm", "CI=")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	return cmd
}

// typed has a key of the live view that pauses, and none that ends it.
const typed = "sk-typed-while-it-ran"

const altScreen, mainScreen = "\x1b[?1049h", "\x1b[?1049l"

// TestWhatIsTypedStaysOutOfTheLiveView types during a run that has nothing else to show,
// and ends it in each way.
func TestWhatIsTypedStaysOutOfTheLiveView(t *testing.T) {
	for name, end := range map[string]func(*pty, *exec.Cmd) error{
		"an interrupt by key": func(p *pty, _ *exec.Cmd) error { _, err := p.person.WriteString("\x03"); return err },
		"q and yes":           func(p *pty, _ *exec.Cmd) error { _, err := p.person.WriteString("qy"); return err },
		"kill -TERM":          func(_ *pty, c *exec.Cmd) error { return c.Process.Signal(syscall.SIGTERM) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			eval := "name: e\ncategory: auth\nprompts: [{id: p, text: Add a login page.}]\nagents: [{name: m, kind: openai-chat, base_url: 'http://" + freeAddress(t) + "/v1', model: x, max_tokens: 9}]\n"
			if err := os.WriteFile(filepath.Join(dir, "e.yaml"), []byte(eval), 0o600); err != nil {
				t.Fatal(err)
			}
			p := newPTY(t)
			cmd := p.start(t, dir, "run", "e.yaml")
			p.await(t, "the live view is drawn", func() bool { return strings.Contains(p.seen(), "no connection yet") })
			if p.echoes(t) {
				t.Error("the terminal echoes under the live view")
			}
			if _, err := p.person.WriteString(typed + "\r"); err != nil {
				t.Fatal(err)
			}
			p.await(t, "the keys are read", func() bool { return strings.Contains(p.seen(), "PAUSED") && p.unread(t) == 0 })
			if err := end(p, cmd); err != nil {
				t.Fatal(err)
			}
			if err := cmd.Wait(); cmd.ProcessState.ExitCode() != 130 {
				t.Errorf("%v, want exit code 130; on the terminal: %q", err, p.seen())
			}
			if strings.LastIndex(p.seen(), mainScreen) < strings.LastIndex(p.seen(), altScreen) {
				t.Errorf("the alternate screen is left on: %q", p.seen())
			}
			if strings.Contains(p.seen(), typed) {
				t.Errorf("what was typed is on the terminal: %q", p.seen())
			}
			if !p.echoes(t) {
				t.Error("the terminal does not echo any more")
			}
			if left := p.unread(t); left != 0 {
				t.Errorf("%d bytes are left for the shell", left)
			}
		})
	}
}

func TestATypedProviderKeyIsNotShown(t *testing.T) {
	t.Setenv("FIRSTPICK_SERVER", "http://"+freeAddress(t))
	t.Setenv("FIRSTPICK_EVAL_KEY", "fpe_"+strings.Repeat("a", 43))
	p := newPTY(t)
	cmd := p.start(t, t.TempDir(), "evals", "provider-key", "set", "SOME_API_KEY")
	p.await(t, "the key is asked for", func() bool { return strings.Contains(p.seen(), "SOME_API_KEY (not shown): ") })
	if _, err := p.person.WriteString(typed + "\r"); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // nobody answers there
	if strings.Contains(p.seen(), typed) || !p.echoes(t) {
		t.Errorf("echo %v; on the terminal: %q", p.echoes(t), p.seen())
	}
}
