package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/firstpick/firstpick/cmd/evalclient"
	"github.com/firstpick/firstpick/server/store/state"
	"github.com/firstpick/firstpick/server/store/state/statetest"
)

// A cutter passes connections on to a server, and holds back what a client sends after a
// number of bytes, or from a text on, or the answer to that text.
type cutter struct {
	net.Listener
	to string

	mu     sync.Mutex
	left   int    // bytes; negative for no end
	before string // hold back from this text on
	after  string // pass this text on, and hold back the answer
	sent   int
	cut    chan struct{}
}

func newCutter(t *testing.T, to string) *cutter {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // a test's listener
	if err != nil {
		t.Fatal(err)
	}
	c := &cutter{Listener: ln, to: to, left: -1, cut: make(chan struct{})}
	t.Cleanup(func() { _ = ln.Close() })
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			go c.pass(conn)
		}
	}()
	return c
}

// arm sets the next cut, and returns what is closed when it is reached.
func (c *cutter) arm(left int, before, after string) <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.left, c.before, c.after, c.cut = left, before, after, make(chan struct{})
	return c.cut
}

func (c *cutter) pass(client net.Conn) {
	defer func() { _ = client.Close() }()
	server, err := net.Dial("tcp", c.to) //nolint:noctx // a test's connection
	if err != nil {
		return
	}
	defer func() { _ = server.Close() }()
	held := make(chan struct{}) // closed to hold back answers
	go func() {
		buf := make([]byte, 4<<10)
		for {
			n, err := server.Read(buf)
			select {
			case <-held:
				c.reached()
				return // the client waits until it is killed
			default:
			}
			if _, failed := client.Write(buf[:n]); err != nil || failed != nil {
				_ = client.Close()
				return
			}
		}
	}()
	buf := make([]byte, 1<<10)
	for {
		n, err := client.Read(buf)
		part, last := c.allow(buf[:n], held)
		if _, failed := server.Write(part); failed != nil || err != nil {
			return
		}
		if last {
			c.reached()
			for { // until the client is killed
				if _, err := client.Read(buf); err != nil {
					return
				}
			}
		}
	}
}

// allow returns the part that is passed on, and whether it is the last.
func (c *cutter) allow(part []byte, held chan struct{}) ([]byte, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.before != "" && bytes.Contains(part, []byte(c.before)) {
		return nil, true
	}
	if c.after != "" && bytes.Contains(part, []byte(c.after)) {
		close(held)
	}
	if c.left >= 0 && len(part) >= c.left {
		c.sent += c.left
		return part[:c.left], true
	}
	if c.left >= 0 {
		c.left -= len(part)
	}
	c.sent += len(part)
	return part, false
}

func (c *cutter) reached() {
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case <-c.cut:
	default:
		close(c.cut)
	}
}

func (c *cutter) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sent
}

// TestKilledPushesContinue kills the command at many bytes of its requests, and the server
// in the middle of one. The next push continues, and the run is on the server once.
func TestKilledPushesContinue(t *testing.T) {
	if testing.Short() {
		t.Skip("kills pushes of a run: ten seconds")
	}
	for _, engine := range statetest.Engines() {
		t.Run(engine, func(t *testing.T) {
			h := newHouse(t, engine)
			h.write(func(tx *state.Tx) error {
				now := time.Now()
				_, err := tx.AddWorkspace(t.Context(), &state.Workspace{ID: "ws_dana", Slug: "dana", OwnerID: "acc", Plan: state.PlanPaid, CreatedAt: now, ClaimedAt: now})
				return errors.Join(err, tx.AddAccount(t.Context(), &state.Account{ID: "acc", Email: "dana@example.com", CreatedAt: now, VerifiedAt: now}))
			})
			key, err := firstpick(t, h.dir, append([]string{"admin", "eval-key", "create", "dana", "--label", "laptop"}, h.state...)...).Output()
			if err != nil {
				t.Fatal(err)
			}
			address := freeAddress(t)
			serve := func() *exec.Cmd {
				cmd := h.start("server", "--listen", address, "--with-worker", "--worker-runs", "1", "--access-log=false")
				answers(t, "http://"+address)
				return cmd
			}
			server := serve()

			laptop := t.TempDir()
			if err := os.WriteFile(filepath.Join(laptop, "killed.yaml"), []byte(killedEval), 0o600); err != nil {
				t.Fatal(err)
			}
			must(t, firstpick(t, laptop, "run", "killed.yaml"))
			journals, err := filepath.Glob(filepath.Join(laptop, ".firstpick", "runs", "*", "journal-*.ndjson"))
			if err != nil || len(journals) != 1 {
				t.Fatal(journals, err)
			}
			info, err := os.Stat(journals[0])
			if err != nil {
				t.Fatal(err)
			}
			size := int(info.Size())

			c := newCutter(t, address)
			push := func(args ...string) *exec.Cmd {
				cmd := firstpick(t, laptop, append([]string{"runs", "push", "last", "--allow-synthetic"}, args...)...)
				cmd.Env = append(os.Environ(), "FIRSTPICK_SERVER=http://"+c.Addr().String(), "FIRSTPICK_EVAL_KEY="+strings.TrimSpace(string(key)))
				return cmd
			}
			killed := func(name string, cut <-chan struct{}) {
				t.Helper()
				cmd := push()
				var out bytes.Buffer
				cmd.Stdout, cmd.Stderr = &out, &out
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				select {
				case <-cut:
				case <-time.After(time.Minute):
					t.Errorf("%s: not reached", name)
				}
				h.kill(cmd)
				if cmd.ProcessState.ExitCode() != -1 {
					t.Errorf("%s: the push ended by itself: %s", name, &out)
				}
			}
			client := &evalclient.Client{
				Base: "http://" + address, Key: strings.TrimSpace(string(key)), HTTP: &http.Client{}, Now: time.Now,
				Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
			}
			received := func() (n int64) {
				uploads := h.uploads()
				if len(uploads) != 1 {
					t.Fatalf("%d uploads", len(uploads))
				}
				u, err := client.Upload(t.Context(), uploads[0])
				if err != nil {
					t.Fatal(err)
				}
				for _, f := range u.Files {
					n += f.Received
				}
				return n
			}

			killed("at once", c.arm(0, "", ""))
			killed("within the first request", c.arm(100, "", ""))
			killed("before the eval is stored", c.arm(-1, "POST /api/v1/evals?for", ""))
			killed("after the eval is stored", c.arm(-1, "", "POST /api/v1/evals?for"))
			killed("before the announcement", c.arm(-1, "/uploads HTTP", ""))
			killed("after the announcement", c.arm(-1, "", "/uploads HTTP"))
			has := received()
			for _, part := range []int{size / 10, size / 5, size / 4} {
				killed("within the journal", c.arm(part, "", ""))
				now := received()
				for began := time.Now(); now <= has && time.Since(began) < time.Minute; now = received() {
					time.Sleep(5 * time.Millisecond) // the server may still read what was passed on
				}
				if now <= has {
					t.Errorf("%d bytes on the server, after %d", now, has)
				}
				has = now
			}

			// The server is killed, and the command waits for it.
			cut := c.arm(size/10, "", "")
			cmd := push()
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			<-cut
			h.kill(server)
			h.kill(cmd)
			server = serve()
			if now := received(); now < has {
				t.Errorf("%d bytes after the server was killed, %d before", now, has)
			}

			killed("before the end", c.arm(-1, "/complete HTTP", ""))
			if now := received(); now < int64(size) {
				t.Errorf("%d bytes before the end, of a journal of %d", now, size)
			}
			if runs := h.pushedRuns(); len(runs) != 0 {
				t.Errorf("a run before the end: %v", runs)
			}
			killed("after the end", c.arm(-1, "", "/complete HTTP"))
			h.kill(server) // perhaps while its worker verifies
			serve()
			c.arm(-1, "", "")
			if sent := c.count(); sent > size+size/2 {
				t.Errorf("%d bytes were sent for a journal of %d", sent, size)
			}
			sent := c.count()
			first, again := must(t, push("--wait", "--json")), must(t, push("--json"))
			if more := c.count() - sent; more > 50_000 {
				t.Errorf("%d bytes were sent after the end", more)
			}
			var run evalclient.Run
			if err := json.Unmarshal([]byte(again[strings.Index(again, "{"):]), &run); err != nil {
				t.Fatalf("%v\n%s", err, again)
			}
			runs := h.pushedRuns()
			if len(runs) != 1 || runs[0] != run.ID || !strings.Contains(first, run.ID) || run.Origin != "pushed" {
				t.Errorf("runs %v, pushed %+v\n%s", runs, run, first)
			}
			r := h.until("ws_dana", run.ID, func(r *state.EvalRun) bool { return !r.EndedAt.IsZero() })
			if r.Status != state.RunDone || r.Valid+r.Excluded != r.Planned || r.Planned != 2000 || r.Bundle == "" || h.endings(r.ID) != 1 {
				t.Errorf("%+v, ended %d times", r, h.endings(r.ID))
			}
		})
	}
}

// uploads are the folders of uploads.
func (h *house) uploads() []string {
	h.t.Helper()
	entries, err := os.ReadDir(filepath.Join(h.dir, ".firstpick", "evals", "ws_dana", "uploads"))
	if err != nil {
		h.t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

func (h *house) pushedRuns() (out []string) {
	h.t.Helper()
	runs, err := h.db.Read().Runs(h.t.Context(), "ws_dana", state.RunFilter{}, 100)
	if err != nil {
		h.t.Fatal(err)
	}
	for _, r := range runs {
		out = append(out, r.ID)
	}
	return out
}
