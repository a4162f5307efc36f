package ship_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/cmd/ship"
)

func TestBackfill(t *testing.T) {
	w := newWorld(t)
	line := func(at time.Time, path string) string {
		return fmt.Sprintf(`203.0.113.7 - - [%s] "GET %s HTTP/1.1" 200 5 "-" "ClaudeBot/1.0"`, at.Format("02/Jan/2006:15:04:05 -0700"), path) + "\n"
	}
	w.write(w.log+".2", line(start().AddDate(0, 0, -401), "/older")+line(start().AddDate(0, 0, -399), "/old"))
	w.pack(w.log+".2", w.log+".2.gz")
	w.do(os.Remove(w.log + ".2"))
	w.write(w.log+".1", line(start().AddDate(0, 0, -31), "/month"))
	w.write(w.log, line(start().Add(-time.Hour), "/hour"))
	w.cfg.Files = []string{w.log, w.log + ".1", w.log + ".2.gz"}

	if _, err := w.run(); err == nil || !strings.Contains(err.Error(), "add --backfill") {
		t.Error(err)
	}
	w.cfg.Backfill = true
	got := w.shipped(func() {}, func() { w.write(w.log, line(w.now, "/now")) }, w.pass(time.Minute), func() {})
	if got.Old != 1 || got.Sent != 4 {
		t.Errorf("%+v", got)
	}
	for path, old := range map[string]bool{"/old": true, "/month": true, "/hour": true, "/now": false} {
		if is, there := w.svc.backfill[path]; !there || is != old {
			t.Errorf("%s: there %t, backfill %t", path, there, is)
		}
	}
	// Under other names, and with nothing remembered, all of it is known.
	w.pack(w.log+".1", w.log+".1.gz")
	w.do(errors.Join(os.Remove(w.log+".1"), os.Rename(w.log, w.log+"-20261121")))
	w.cfg.Once, w.cfg.Spool = true, w.cfg.Spool+"2"
	w.cfg.Files = []string{w.log + ".2.gz", w.log + ".1.gz", w.log + "-20261121"}
	if got := w.shipped(); got.Sent != 0 || got.Duplicates != 4 {
		t.Errorf("again: %+v", got)
	}
	if got := w.shipped(); got.Lines != 0 {
		t.Errorf("and again: %+v", got)
	}
}

// TestBrokenPackedLog keeps what can be read, and goes on with the next.
func TestBrokenPackedLog(t *testing.T) {
	w := newWorld(t)
	w.cfg.Once, w.cfg.Backfill = true, true
	var text strings.Builder
	for n := range 20_000 {
		text.WriteString(strings.Replace(visit(n), "secret", fmt.Sprint(n*7919%10007), 1))
	}
	w.write(w.log+".2", text.String())
	w.pack(w.log+".2", w.log+".2.gz")
	data, err := os.ReadFile(w.log + ".2.gz")
	w.do(err)
	w.do(os.WriteFile(w.log+".2.gz", data[:len(data)*2/3], 0o644))
	w.write(w.log, visits(20_000, 20_010))
	w.cfg.Files = []string{w.log + ".2.gz", w.log}
	got := w.shipped()
	if got.Sent < 10_000 || got.Sent >= 20_000 || len(w.said) != 1 || !strings.Contains(w.said[0], "unexpected EOF; the rest of it is left out") {
		t.Errorf("%+v %q", got, w.said)
	}
	if last := w.svc.order[len(w.svc.order)-1]; last != "/p/20009" {
		t.Errorf("the last is %s", last)
	}
	for name, content := range map[string]string{"folder": "", "x.gz": "no gzip"} {
		path := filepath.Join(w.dir, name)
		if content == "" {
			w.do(os.Mkdir(path, 0o755))
		} else {
			w.write(path, content)
		}
		w.cfg.Files = []string{path}
		if _, err := w.run(); err == nil || !strings.Contains(err.Error(), path+" is ") {
			t.Errorf("%s: %v", name, err)
		}
	}
	w.cfg.Files = []string{filepath.Join(w.dir, "missing")}
	if _, err := w.run(); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

func TestStdin(t *testing.T) {
	w := newWorld(t)
	text := visits(0, 1200)
	w.write(w.log, text)
	w.cfg.Files, w.cfg.Stdin = []string{"-"}, strings.NewReader(strings.TrimSuffix(text, "\n"))
	w.cfg.Once = true
	if got := w.shipped(); got.Sent != 1200 {
		t.Errorf("%+v", got)
	}
	w.cfg.Files = []string{w.log} // the same log as a file
	if got := w.shipped(); got.Sent != 0 || got.Duplicates != 1200 {
		t.Errorf("%+v", got)
	}
}

// TestPipe sends what came out of it while more is awaited, and ends with an
// interrupt though the pipe does not.
func TestPipe(t *testing.T) {
	w := newWorld(t)
	asked, writes := make(chan struct{}), make(chan string)
	defer close(writes)
	w.cfg.Files, w.cfg.Stdin = []string{"-"}, pipe{asked, writes}
	w.shipped(
		func() { <-asked; writes <- visits(0, 3); <-asked }, // asked again: it has them
		func() {}, w.pass(time.Minute), func() {},
	)
	w.has(0, 3)
}

type pipe struct {
	asked  chan<- struct{}
	writes <-chan string
}

func (p pipe) Read(buf []byte) (int, error) {
	p.asked <- struct{}{}
	text, open := <-p.writes
	if !open {
		return 0, io.EOF
	}
	return copy(buf, text), nil
}

// TestTwoLogsThatBeginAlike are two logs.
func TestTwoLogsThatBeginAlike(t *testing.T) {
	w := newWorld(t)
	w.cfg.Once = true
	other := filepath.Join(w.dir, "other.log")
	w.write(w.log, visits(0, 1)+visits(1, 50))
	w.write(other, visits(0, 1)+visits(50, 100))
	w.cfg.Files = []string{w.log, other}
	w.shipped()
	w.write(w.log, visits(100, 110))
	w.write(other, visits(110, 120))
	if got := w.shipped(); got.Lines != 20 {
		t.Errorf("%+v", got)
	}
	w.hasAll(120) // and the first line, which is the same in all, once
}

// TestLogWithoutHost sends nothing: events of no site cannot be fixed later. Where lines
// name their hosts, one without is left out.
func TestLogWithoutHost(t *testing.T) {
	w := newWorld(t)
	w.cfg.Once, w.cfg.Host = true, ""
	w.write(w.log, visits(0, 3))
	if _, err := w.run(); !errors.Is(err, ship.ErrNoHost) || !strings.Contains(err.Error(), "access.log:1: ") {
		t.Error(err)
	}
	if len(w.svc.paths) != 0 {
		t.Errorf("sent %v", w.svc.paths)
	}
	w.cfg.Host = "acme.example" // it lost no line
	if got := w.shipped(); got.Sent != 3 {
		t.Errorf("%+v", got)
	}
	named := filepath.Join(t.TempDir(), "vhost.log")
	first, rest, _ := strings.Cut(visits(10, 12), "\n")
	w.write(named, "acme.example:443 "+first+"\n"+rest)
	w.cfg.Files, w.cfg.Host = []string{named}, ""
	if got := w.shipped(); got.Sent != 1 || got.Unreadable != 1 {
		t.Errorf("%+v", got)
	}
}
