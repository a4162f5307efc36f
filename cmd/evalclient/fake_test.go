package evalclient

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"
)

const testKey = "fpe_0123456789abcdefghijklmnopqrstuvwxyzABCDEFG"

// A fake is a server that plays a script: the answers to all requests, in order. It
// keeps what was asked.
type fake struct {
	*httptest.Server
	t      *testing.T
	script []reply
	log    []string
	last   http.Header
}

type reply struct {
	status int
	body   string
	header map[string]string
	cut    bool // the connection breaks before the end
}

func newFake(t *testing.T, script ...reply) *fake {
	t.Helper()
	f := &fake{t: t, script: script}
	f.Server = httptest.NewServer(f)
	t.Cleanup(f.Close)
	return f
}

func ok(body string) reply { return reply{status: http.StatusOK, body: body} }

func refuse(status int, code string) reply {
	return reply{status: status, body: `{"error":"` + code + `","error_description":"why"}`}
}

// busy is a refusal that names a time to wait.
func busy(status int, after string) reply {
	r := refuse(status, CodeRateLimited)
	r.header = map[string]string{"Retry-After": after}
	return r
}

func stream200(body string) reply {
	return reply{status: http.StatusOK, body: body, header: map[string]string{"Content-Type": "text/event-stream"}}
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		f.t.Error(err)
	}
	line := r.Method + " " + r.URL.RequestURI()
	for _, name := range []string{"Idempotency-Key", "Last-Event-ID"} {
		if v := r.Header.Get(name); v != "" {
			line += " " + name + "=" + v
		}
	}
	f.log = append(f.log, strings.TrimSpace(line+" "+string(body)))
	f.last = r.Header
	if r.Header.Get("Authorization") != "Bearer "+testKey {
		f.t.Errorf("Authorization is %q", r.Header.Get("Authorization"))
	}
	if len(f.script) == 0 {
		f.t.Errorf("no answer is left for %s", line)
		w.WriteHeader(http.StatusTeapot)
		return
	}
	next := f.script[0]
	f.script = f.script[1:]
	for k, v := range next.header {
		w.Header().Set(k, v)
	}
	if next.cut {
		w.Header().Set("Content-Length", "1000000")
	}
	w.WriteHeader(next.status)
	_, _ = io.WriteString(w, next.body)
	if next.cut {
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
}

// asked checks the requests, and that no answer is left.
func (f *fake) asked(want ...string) {
	f.t.Helper()
	if !slices.Equal(f.log, want) {
		f.t.Errorf("requests:\n%s\nwant:\n%s", strings.Join(f.log, "\n"), strings.Join(want, "\n"))
	}
	if len(f.script) > 0 {
		f.t.Errorf("%d answers were not asked for", len(f.script))
	}
}

// A clock moves only when somebody sleeps.
type clock struct {
	now   time.Time
	slept []int // seconds
}

func (c *clock) sleep(ctx context.Context, d time.Duration) error {
	c.now, c.slept = c.now.Add(d), append(c.slept, int(d/time.Second))
	return ctx.Err()
}

func newClient(f *fake) (*Client, *clock) {
	c := &clock{now: time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)}
	return &Client{
		Base: f.URL + "/", Key: testKey, HTTP: f.Client(), Sleep: c.sleep, Now: func() time.Time { return c.now }, UserAgent: "firstpick/test",
	}, c
}
