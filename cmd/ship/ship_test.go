package ship_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/firstpick/firstpick/cmd/ship"
)

func start() time.Time { return time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC) }

// A service stores events by id, in memory.
type service struct {
	mu       sync.Mutex
	paths    map[string]string // by id
	order    []string          // paths, as they came first
	again    int               // events that came again
	backfill map[string]bool   // by path
	requests int
	fail     func(r *http.Request) *http.Response // nil, or nil from it: takes them
	refuse   func(path string) string             // code of a refusal
	after    func()                               // called when events were taken, before the answer
}

func answer(status int, body string, header ...string) *http.Response {
	h := http.Header{}
	for i := 0; i+1 < len(header); i += 2 {
		h.Set(header[i], header[i+1])
	}
	return &http.Response{StatusCode: status, Status: fmt.Sprintf("%d %s", status, http.StatusText(status)), Header: h, Body: io.NopCloser(strings.NewReader(body))}
}

func (s *service) RoundTrip(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests++
	if s.fail != nil {
		if a := s.fail(r); a != nil {
			if a.StatusCode == 0 {
				return nil, errors.New("nobody listens")
			}
			return a, nil
		}
	}
	if r.URL.String() != "https://fp.example/api/collect" || r.Header.Get("Authorization") != "Bearer sk" {
		return answer(404, "not here"), nil
	}
	if r.Method == "GET" {
		return answer(200, `{"workspace":"w-test"}`), nil
	}
	z, err := gzip.NewReader(r.Body)
	if err != nil {
		return nil, err
	}
	var body struct {
		SentAt   time.Time
		Backfill bool
		Events   []struct{ ID, Path, Type, Kind string }
	}
	if err := json.NewDecoder(z).Decode(&body); err != nil {
		return nil, err
	}
	if len(body.Events) > 500 || body.SentAt.IsZero() {
		return answer(400, `{"error_description":"too many"}`), nil
	}
	if s.paths == nil {
		s.paths, s.backfill = map[string]string{}, map[string]bool{}
	}
	fresh, again := 0, 0
	var refused []string
	for i, e := range body.Events {
		name := e.Path + e.Kind
		if s.refuse != nil {
			if code := s.refuse(name); code != "" {
				refused = append(refused, fmt.Sprintf(`{"index":%d,"code":%q,"message":"refused %s"}`, i, code, name))
				continue
			}
		}
		if known, ok := s.paths[e.ID]; ok {
			if known != name {
				return nil, fmt.Errorf("the id %s is of %s and of %s", e.ID, known, name)
			}
			again++
			continue
		}
		fresh++
		s.paths[e.ID], s.backfill[name] = name, body.Backfill
		s.order = append(s.order, name)
	}
	s.again += again
	status := 202
	switch {
	case len(refused) == len(body.Events):
		status = 400
	case len(refused) > 0:
		status = 207
	}
	if s.after != nil {
		s.after()
	}
	return answer(status, fmt.Sprintf(`{"accepted":%d,"duplicates":%d,"rejected":%d,"errors":[%s]}`, fresh, again, len(refused), strings.Join(refused, ","))), nil
}

// A world is a log, a service, and a shipper that is driven: each time it has
// nothing to do the next step happens, and when there is none it is interrupted.
type world struct {
	t     *testing.T
	svc   *service
	dir   string
	log   string
	cfg   ship.Config
	now   time.Time
	steps []func()
	said  []string
	last  ship.Stats
}

func newWorld(t *testing.T) *world {
	w := &world{t: t, svc: &service{}, dir: t.TempDir(), now: start()}
	w.log = filepath.Join(w.dir, "access.log")
	w.cfg = ship.Config{
		Host:  "acme.example",
		Files: []string{w.log}, URL: "https://fp.example", Key: "sk", Client: &http.Client{Transport: w.svc}, Spool: filepath.Join(w.dir, "spool"),
		Format: ship.Auto, Now: func() time.Time { return w.now }, Say: func(s string) { w.said = append(w.said, s) }, Progress: func(s ship.Stats) { w.last = s },
	}
	return w
}

// run ships, and the steps happen meanwhile. It returns what Run does.
func (w *world) run(steps ...func()) (ship.Stats, error) {
	w.t.Helper()
	ctx, stop := context.WithCancel(w.t.Context())
	defer stop()
	w.steps = steps
	idle := 0
	w.cfg.Sleep = func(ctx context.Context, d time.Duration) error {
		w.now = w.now.Add(d)
		if idle++; idle > 1_000_000 {
			w.t.Fatal("it waits for ever")
		}
		if len(w.steps) == 0 {
			if !w.cfg.Once {
				stop()
			}
			return ctx.Err()
		}
		w.steps[0]()
		w.steps = w.steps[1:]
		return ctx.Err()
	}
	return ship.Run(ctx, w.cfg)
}

// shipped runs until everything that the steps do is done, and fails on errors.
func (w *world) shipped(steps ...func()) ship.Stats {
	w.t.Helper()
	stats, err := w.run(steps...)
	if err != nil && (w.cfg.Once || !errors.Is(err, context.Canceled)) {
		w.t.Fatal(err)
	}
	return stats
}

// pass lets time pass.
func (w *world) pass(d time.Duration) func() { return func() { w.now = w.now.Add(d) } }

func visit(n int) string {
	return fmt.Sprintf(`203.0.113.7 - - [21/Nov/2026:09:%02d:%02d +0000] "GET /p/%d?token=secret HTTP/1.1" 200 512 "-" "Mozilla/5.0 (compatible; GPTBot/1.3)"`, n/60%60, n%60, n) + "\n"
}

func visits(from, to int) string {
	var b strings.Builder
	for n := from; n < to; n++ {
		b.WriteString(visit(n))
	}
	return b.String()
}

func (w *world) write(path, text string) {
	w.t.Helper()
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err == nil {
		_, err = f.WriteString(text)
		err = errors.Join(err, f.Close(), os.Chtimes(path, w.now, w.now))
	}
	if err != nil {
		w.t.Fatal(err)
	}
	w.now = w.now.Add(10 * time.Millisecond)
}

func (w *world) appends(text string) func() { return func() { w.write(w.log, text) } }

func (w *world) do(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) pack(from, to string) {
	w.t.Helper()
	data, err := os.ReadFile(from)
	w.do(err)
	var buf bytes.Buffer
	z := gzip.NewWriter(&buf)
	_, err = z.Write(data)
	w.do(errors.Join(err, z.Close(), os.WriteFile(to, buf.Bytes(), 0o644)))
	info, err := os.Stat(from)
	w.do(errors.Join(err, os.Chtimes(to, w.now, info.ModTime()))) // as gzip does
}

// has fails unless the service has the visits from a number to another, each
// once, in order.
func (w *world) has(from, to int) {
	w.t.Helper()
	var want []string
	for n := from; n < to; n++ {
		want = append(want, fmt.Sprintf("/p/%d", n))
	}
	if !slices.Equal(w.svc.order, want) {
		w.t.Fatalf("the service has %d events, want %d\n%v", len(w.svc.order), len(want), w.svc.order)
	}
}

// hasAll is has, in any order.
func (w *world) hasAll(to int) {
	w.t.Helper()
	seen := map[string]int{}
	for _, path := range w.svc.order {
		seen[path]++
	}
	for n := range to {
		if path := fmt.Sprintf("/p/%d", n); seen[path] != 1 {
			w.t.Errorf("%s is there %d times", path, seen[path])
		}
	}
	if len(w.svc.order) != to {
		w.t.Errorf("the service has %d events, want %d", len(w.svc.order), to)
	}
}

func (w *world) quiet() {
	w.t.Helper()
	if len(w.said) > 0 {
		w.t.Errorf("it said %q", w.said)
	}
}

func TestOnce(t *testing.T) {
	w := newWorld(t)
	w.cfg.Once = true
	person := `198.51.100.1 - - [21/Nov/2026:09:00:00 +0000] "GET / HTTP/1.1" 200 1 "-" "Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0"` + "\n"
	asset := `203.0.113.7 - - [21/Nov/2026:09:00:00 +0000] "GET /a.css HTTP/1.1" 200 1 "-" "GPTBot/1.3"` + "\n"
	old := `203.0.113.7 - - [21/Sep/2026:09:00:00 +0000] "GET /old HTTP/1.1" 200 1 "-" "GPTBot/1.3"` + "\n"
	w.write(w.log, visits(0, 700)+person+asset+"\n"+old+"rubbish\n"+strings.Repeat("x", 70_000)+"\n"+visits(700, 1234)+"torn")
	got := w.shipped()
	want := ship.Stats{Lines: 1239, Agents: 1234, Sent: 1234, Skipped: 3, Unreadable: 1, Old: 1, TooLong: 1}
	if got != want {
		t.Errorf("%+v\n%+v", got, want)
	}
	w.has(0, 1234)
	if len(w.said) != 2 || !strings.HasPrefix(w.said[0], w.log+":705: unreadable: ") || !strings.Contains(w.said[1], "after line 1240 has no end") {
		t.Errorf("%q", w.said)
	}

	got = w.shipped() // nothing is new
	if got != (ship.Stats{}) {
		t.Errorf("again: %+v", got)
	}
	w.write(w.log, "\n"+visits(1234, 1240))
	if got = w.shipped(); got.Sent != 6 || got.Unreadable != 1 {
		t.Errorf("the rest: %+v", got)
	}
	w.has(0, 1240)

	w.cfg.Spool += "2" // nothing is known, but to the service
	if got = w.shipped(); got.Sent != 0 || got.Duplicates != 1240 {
		t.Errorf("with another spool: %+v", got)
	}
}
