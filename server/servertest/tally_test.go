package servertest_test

import (
	"fmt"
	"math"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/firstpick/firstpick/server"
	"github.com/firstpick/firstpick/server/kit/httpstats"
)

// Each look at the clock is a millisecond later, so a request takes one.
func counting(t testing.TB) *server.Server {
	var mu sync.Mutex
	at := asOf
	return newServer(t, demoSite(t, 1), func(c *server.Config) {
		c.Count, c.LimitsOff = true, true
		c.Now = func() time.Time {
			mu.Lock()
			defer mu.Unlock()
			at = at.Add(time.Millisecond)
			return at
		}
	})
}

func TestRequestsAreCounted(t *testing.T) {
	srv := counting(t)
	for _, c := range []struct {
		method, target string
		n              int
	}{
		{"GET", "/api/public/report?q=flask", 3},
		{"HEAD", "/api/public/report?q=flask", 1},
		{"GET", "/api/public/report", 2},
		{"GET", "/tools/flask", 1},
		{"GET", "/tools/bottle", 1},
		{"GET", "/tools/no-such-tool", 1},
		{"GET", "/no/such/path?q=1", 1},
		{"BREW", "/tools/flask", 1},
		{"POST", "/healthz", 1},
	} {
		for range c.n {
			ask(srv, c.method, c.target)
		}
	}
	got := map[string][]string{}
	for _, r := range srv.Counted() {
		var n, in uint64
		for _, c := range r.Requests {
			got[r.Pattern] = append(got[r.Pattern], fmt.Sprint(c.Method, " ", c.Class, " ", c.N))
			n += c.N
		}
		for i, b := range r.Buckets {
			in += b
			if b > 0 && httpstats.Bounds()[i] != 0.001 {
				t.Errorf("%s: %d in bucket %d", r.Pattern, b, i)
			}
		}
		if in != n || len(r.Buckets) != len(httpstats.Bounds())+1 || math.Abs(r.Seconds-float64(n)/1000) > 1e-9 {
			t.Errorf("%s: %d requests, %d in buckets, %v s", r.Pattern, n, in, r.Seconds)
		}
	}
	want := map[string][]string{
		"":                   {"GET 4xx 1", "POST 4xx 1", "other 4xx 1"},
		"/api/public/report": {"GET 2xx 3", "GET 4xx 2", "HEAD 2xx 1"},
		"/tools/{tool}":      {"GET 2xx 2", "GET 4xx 1"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestRequestsAreCountedAtOnce(t *testing.T) {
	srv := counting(t)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 100 {
				ask(srv, http.MethodGet, "/healthz")
			}
		})
	}
	all.Wait()
	got := srv.Counted()
	if len(got) != 1 || got[0].Pattern != "/healthz" || len(got[0].Requests) != 1 || got[0].Requests[0].N != 800 {
		t.Errorf("%+v", got)
	}
}

func TestNothingIsCountedUnasked(t *testing.T) {
	srv := newServer(t, demoSite(t, 1), nil)
	ask(srv, http.MethodGet, "/healthz")
	if got := srv.Counted(); got != nil {
		t.Errorf("%+v", got)
	}
}
