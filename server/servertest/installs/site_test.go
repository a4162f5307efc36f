package installs_test

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server/channel/setup"
)

// A project is a folder with a small site, and the files that a recipe has
// written into it.
type project struct {
	dir     string
	command []string
}

// newProject writes the recipe's files, as the service at url serves them, and
// those of testdata beside them.
func newProject(t *testing.T, slug, url string, from ...string) *project {
	t.Helper()
	p := &project{dir: t.TempDir()}
	stack, ok := setup.Find(slug)
	if !ok {
		t.Fatal("no recipe " + slug)
	}
	for _, dir := range from {
		if err := os.CopyFS(p.dir, os.DirFS(filepath.Join("testdata", dir))); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range stack.Files {
		path := filepath.Join(p.dir, filepath.FromSlash(f.Path))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(f.Code(url)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// A site is a project that runs.
type site struct {
	URL  string
	cmd  *exec.Cmd
	t    *testing.T
	done chan struct{}
	once sync.Once

	mu  sync.Mutex
	out strings.Builder
}

var address = regexp.MustCompile(`http://(127\.0\.0\.1|localhost):([1-9]\d*)`)

// start runs the project with more variables, and returns when it listens.
func (p *project) start(t *testing.T, env ...string) *site {
	t.Helper()
	s := &site{t: t, cmd: exec.CommandContext(context.WithoutCancel(t.Context()), p.command[0], p.command[1:]...), done: make(chan struct{})}
	s.cmd.Dir = p.dir
	s.cmd.Env = append(os.Environ(), append([]string{"NEXT_TELEMETRY_DISABLED=1", "PYTHONDONTWRITEBYTECODE=1", "TMPDIR=" + t.TempDir(), "FIRSTPICK_KEY=", "FIRSTPICK_URL="}, env...)...)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	s.cmd.Stdout, s.cmd.Stderr = w, w
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	listening := make(chan string, 1)
	go func() {
		defer close(listening)
		for lines := bufio.NewScanner(r); lines.Scan(); {
			s.mu.Lock()
			s.out.WriteString(lines.Text() + "\n")
			s.mu.Unlock()
			if at := address.FindStringSubmatch(lines.Text()); at != nil {
				select {
				case listening <- "http://127.0.0.1:" + at[2]:
				default:
				}
			}
		}
	}()
	go func() { defer close(s.done); _ = s.cmd.Wait() }() // how it ended is seen in ProcessState
	t.Cleanup(func() { s.kill(); r.Close() })
	if s.URL = <-listening; s.URL == "" {
		t.Fatalf("it ended before it listened:\n%s", s.output())
	}
	return s
}

func (s *site) output() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.out.String()
}

func (s *site) kill() {
	s.once.Do(func() { _ = syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL) }) // it may be gone
	<-s.done
}

// stopTimeout is how long a site may take to end; the code in it gives itself 5
// seconds for what waits.
const stopTimeout = 30 * time.Second

// stop ends the site as a platform does, and waits.
func (s *site) stop() {
	s.t.Helper()
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		s.t.Fatalf("%v; it said:\n%s", err, s.output())
	}
	late := time.NewTimer(stopTimeout)
	defer late.Stop()
	select {
	case <-s.done:
	case <-late.C:
		s.t.Errorf("it did not end within %v; it said:\n%s", stopTimeout, s.output())
		s.kill()
	}
}

// get sends a request and returns the status.
func (s *site) get(method, target string, header map[string]string) int {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.URL+target, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	for name, value := range header {
		req.Header.Set(name, value)
	}
	resp, err := http.DefaultTransport.RoundTrip(req) // redirects would be requests of their own
	if err != nil {
		s.t.Fatalf("%s %s: %v; the site said:\n%s", method, target, err, s.output())
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		s.t.Fatalf("%s %s: %v", method, target, err)
	}
	return resp.StatusCode
}
