package ship_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/cmd/ship"
)

// files returns the names of batches in the spool.
func (w *world) files() []string {
	w.t.Helper()
	names, err := filepath.Glob(filepath.Join(w.cfg.Spool, "*.batch"))
	w.do(err)
	return names
}

// TestAwayAndBack follows a log while the service is away, through a restart and
// the deletion of the log. All that was written arrives, in order, once.
func TestAwayAndBack(t *testing.T) {
	for name, gone := range map[string]func(*http.Request) *http.Response{
		"nobody listens": func(*http.Request) *http.Response { return answer(0, "") },
		"busy":           func(*http.Request) *http.Response { return answer(503, `{"error_description":"store is down"}`) },
		"too much":       func(*http.Request) *http.Response { return answer(429, "{}", "Retry-After", "90") },
		"a broken proxy": func(*http.Request) *http.Response { return answer(502, "<html>") },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.write(w.log, visits(0, 100))
			w.svc.fail = gone
			var waits string
			w.shipped(
				w.appends(visits(100, 1500)), w.pass(5*time.Minute), func() {},
				func() {
					waits = w.last.Waiting
					if w.last.Spooled != 1500 || len(w.files()) < 3 {
						t.Errorf("%+v, and %d files", w.last, len(w.files()))
					}
				},
				w.appends(visits(1500, 1600)),
			)
			if waits == "" || len(w.svc.order) > 0 {
				t.Errorf("waiting %q, and the service has %d", waits, len(w.svc.order))
			}
			w.do(os.Truncate(w.log, 0)) // by somebody who keeps no logs
			w.shipped(w.appends(visits(1600, 1601)), w.pass(time.Minute), func() {})
			tried := w.svc.requests
			w.svc.fail = nil
			if got := w.shipped(w.pass(2*time.Minute), func() {}, func() {}); got.Spooled != 0 {
				t.Errorf("%+v", got)
			}
			w.has(0, 1601)
			if w.svc.again > 0 || len(w.files()) > 0 {
				t.Errorf("%d came again, %d files are left", w.svc.again, len(w.files()))
			}
			if tried > 40 {
				t.Errorf("%d requests to a service that is away", tried)
			}
		})
	}
}

// TestFullSpool stops reading, and forgets nothing.
func TestFullSpool(t *testing.T) {
	w := newWorld(t)
	w.cfg.SpoolLimit = 300_000
	w.write(w.log, visits(0, 5000))
	w.svc.fail = func(*http.Request) *http.Response { return answer(503, "") }
	idle := func() {}
	got := w.shipped(idle, idle, func() {
		if w.last.Lines >= 5000 || w.last.Spooled == 0 {
			t.Errorf("it reads on: %+v", w.last)
		}
		size := int64(0)
		for _, name := range w.files() {
			info, err := os.Stat(name)
			w.do(err)
			size += info.Size()
		}
		if size > 300_000+200_000 {
			t.Errorf("the spool has %d bytes", size)
		}
	})
	if got.Lines >= 5000 {
		t.Errorf("%+v", got)
	}
	w.svc.fail = nil
	w.shipped(w.pass(2*time.Minute), idle)
	w.has(0, 5000)
}

// TestOnceWaits for the service, and gives up in the end; what was not sent is
// read again.
func TestOnceWaits(t *testing.T) {
	w := newWorld(t)
	w.cfg.Once = true
	w.write(w.log, visits(0, 1200))
	down := start().Add(10 * time.Minute)
	w.svc.fail = func(*http.Request) *http.Response {
		if w.now.Before(down) {
			return answer(503, "")
		}
		return nil
	}
	w.shipped()
	w.has(0, 1200)
	if w.now.Before(down) || w.now.Sub(down) > 2*time.Minute {
		t.Errorf("it took until %s", w.now)
	}
	w.write(w.log, visits(1200, 1300))
	down = w.now.Add(24 * time.Hour)
	if _, err := w.run(); !errors.Is(err, ship.ErrAway) || len(w.files()) > 0 {
		t.Errorf("%v, %d files", err, len(w.files()))
	}
	down = w.now
	w.shipped()
	w.has(0, 1300)
	w.write(w.log, visits(1300, 1301))
	w.svc.fail = func(r *http.Request) *http.Response {
		if r.Method == "GET" {
			return nil
		}
		return answer(429, `{"error_description":"The workspace sent all the events that it may today."}`, "Retry-After", "36000")
	}
	began := w.now
	if _, err := w.run(); !errors.Is(err, ship.ErrAway) || !strings.Contains(err.Error(), "may today") || w.now.Sub(began) > time.Minute {
		t.Errorf("%v after %s", err, w.now.Sub(began))
	}
}

// TestRefused stops when nothing can be sent, and says why.
func TestRefused(t *testing.T) {
	for name, c := range map[string]struct {
		answer func() *http.Response
		words  string
	}{
		"revoked":      {func() *http.Response { return answer(401, `{"error":"x","error_description":"The key is revoked."}`) }, "refuses the key: The key is revoked"},
		"forbidden":    {func() *http.Response { return answer(403, `{"error":"x","error_description":"Use a secret key."}`) }, "Use a secret key"},
		"another site": {func() *http.Response { return answer(200, "<html>welcome") }, "is it the root of one?"},
		"not found":    {func() *http.Response { return answer(404, "not here") }, "answers 404, and not as"},
		"moved":        {func() *http.Response { return answer(301, "", "Location", "https://other.example/") }, `redirects to "https://other.example/"`},
	} {
		for _, late := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, late %t", name, late), func(t *testing.T) {
				w := newWorld(t)
				w.write(w.log, visits(0, 10))
				w.svc.fail = func(r *http.Request) *http.Response {
					if late && r.Method == "GET" {
						return nil
					}
					return c.answer()
				}
				idle := func() {}
				_, err := w.run(idle, idle, w.pass(time.Minute), idle, idle)
				var refused *ship.RefusedError
				if !errors.As(err, &refused) || !strings.Contains(err.Error(), c.words) {
					t.Errorf("%v", err)
				}
				w.svc.fail = nil
				w.shipped()
				w.has(0, 10)
			})
		}
	}
}

// TestRejected events are counted, shown, and kept with the reason.
func TestRejected(t *testing.T) {
	w := newWorld(t)
	w.cfg.Once = true
	w.write(w.log, visits(0, 1000))
	w.svc.refuse = func(path string) string {
		switch {
		case path >= "/p/500" && path < "/p/506":
			return "invalid_url"
		case path == "/p/7":
			return "ts_too_old"
		}
		return ""
	}
	got := w.shipped()
	rejected := 0
	for n := range 1000 {
		if path := fmt.Sprintf("/p/%d", n); path >= "/p/500" && path < "/p/506" {
			rejected++
		}
	}
	if got.Rejected != int64(rejected) || got.Old != 1 || got.Sent != int64(999-rejected) {
		t.Errorf("%+v, want %d rejected", got, rejected)
	}
	if len(w.said) != 4 || w.said[0] != w.log+":51: rejected: refused /p/50" && !strings.Contains(w.said[0], ": rejected: refused /p/50") || !strings.Contains(w.said[3], "more lines") {
		t.Errorf("%q", w.said)
	}
	data, err := os.ReadFile(filepath.Join(w.cfg.Spool, "rejected.ndjson"))
	w.do(err)
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	var first struct {
		Where, Code, Message string
		Event                struct{ Path string }
	}
	if err := json.Unmarshal([]byte(lines[0]), &first); err != nil || len(lines) != rejected || first.Code != "invalid_url" || first.Event.Path == "" || !strings.HasPrefix(first.Where, w.log+":") {
		t.Errorf("%d lines, %+v, %v", len(lines), first, err)
	}
	if got := w.shipped(); got.Rejected+got.Lines != 0 {
		t.Errorf("again: %+v", got)
	}
}

// TestAllRejected is an answer of 400, which must not be sent again for ever.
func TestAllRejected(t *testing.T) {
	w := newWorld(t)
	w.cfg.Once = true
	w.write(w.log, visits(0, 3))
	w.svc.refuse = func(string) string { return "invalid_url" }
	if got := w.shipped(); got.Rejected != 3 || w.svc.requests != 2 {
		t.Errorf("%+v, %d requests", got, w.svc.requests)
	}
}

// TestTooLarge sends in parts what a proxy finds too large.
func TestTooLarge(t *testing.T) {
	w := newWorld(t)
	w.cfg.Once = true
	w.write(w.log, visits(0, 900))
	w.svc.fail = func(r *http.Request) *http.Response {
		if r.ContentLength > 2000 {
			return answer(413, "<html>")
		}
		return nil
	}
	if got := w.shipped(); got.Sent != 900 || got.Rejected != 0 {
		t.Errorf("%+v", got)
	}
	w.hasAll(900)
	w.write(w.log, visits(900, 901))
	w.svc.fail = func(r *http.Request) *http.Response {
		if r.Method == "POST" {
			return answer(413, "<html>")
		}
		return nil
	}
	if got := w.shipped(); got.Rejected != 1 {
		t.Errorf("%+v", got)
	}
}

// TestInterrupt sends what was read, and remembers it.
func TestInterrupt(t *testing.T) {
	w := newWorld(t)
	w.write(w.log, visits(0, 10))
	got, err := w.run() // the interrupt comes before the two seconds are over
	if err == nil || got.Sent != 10 {
		t.Errorf("%+v, %v", got, err)
	}
	if got, _ := w.run(); got.Lines != 0 {
		t.Errorf("again: %+v", got)
	}
	w.svc.fail = func(*http.Request) *http.Response { return answer(503, "") }
	w.write(w.log, visits(10, 20))
	if got, _ := w.run(); got.Spooled != 10 {
		t.Errorf("away: %+v", got)
	}
	w.svc.fail = nil
	w.shipped(w.pass(time.Minute))
	w.has(0, 20)
}

// TestLostAnswers has the service take every event and fail to say so, now and
// then. Each is there once.
func TestLostAnswers(t *testing.T) {
	w := newWorld(t)
	w.write(w.log, "")
	n := 0
	var steps []func()
	for i := range 30 {
		steps = append(steps, w.appends(visits(i*50, i*50+50)), w.pass(time.Minute))
	}
	lost := &losing{svc: w.svc, lose: func() bool { n++; return n%3 == 2 }}
	w.cfg.Client = &http.Client{Transport: lost}
	w.shipped(append(steps, w.pass(time.Minute), func() {}, w.pass(time.Minute), func() {})...)
	w.has(0, 1500)
	if w.svc.again == 0 {
		t.Error("nothing was sent again")
	}
}

type losing struct {
	svc  *service
	lose func() bool
}

func (l *losing) RoundTrip(r *http.Request) (*http.Response, error) {
	a, err := l.svc.RoundTrip(r)
	if l.lose() {
		return nil, errors.New("the connection broke")
	}
	return a, err
}

func TestSecondShipperIsRefused(t *testing.T) {
	w := newWorld(t)
	w.write(w.log, visits(0, 1))
	var second error
	w.shipped(func() { _, second = ship.Run(t.Context(), w.cfg) })
	if !errors.Is(second, ship.ErrLocked) {
		t.Error(second)
	}
	w.shipped()
}

// TestSpoolOfAnotherService is not taken for this one's: it would leave out what
// the other has.
func TestSpoolOfAnotherService(t *testing.T) {
	w := newWorld(t)
	w.cfg.Once = true
	w.write(w.log, visits(0, 1))
	w.shipped()
	w.cfg.URL = "https://other.example"
	if _, err := w.run(); err == nil || !strings.Contains(err.Error(), "is for the workspace w-test of https://fp.example, not for https://other.example") {
		t.Error(err)
	}
	w.cfg.URL = "https://fp.example"
	w.svc.fail = func(r *http.Request) *http.Response {
		if r.Method == "GET" {
			return answer(200, `{"workspace":"w-another"}`)
		}
		return nil
	}
	if _, err := w.run(); err == nil || !strings.Contains(err.Error(), "w-test") {
		t.Error(err)
	}
}
