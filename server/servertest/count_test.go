package servertest_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/firstpick/firstpick/server"
)

func TestRequestsAreCounted(t *testing.T) {
	var mu sync.Mutex
	at, routes, got := asOf, []string(nil), map[string]int{}
	srv := newServer(t, demoSite(t, 1), func(c *server.Config) {
		c.LimitsOff = true
		c.Now = func() time.Time { // a millisecond later at each look, so a request takes one
			mu.Lock()
			defer mu.Unlock()
			at = at.Add(time.Millisecond)
			return at
		}
		c.Count = func(all []string) func(string, string, int, time.Duration) {
			routes = all
			return func(route, method string, status int, took time.Duration) {
				if !slices.Contains(all, route) {
					route = "none"
				}
				got[fmt.Sprint(route, " ", method, " ", status, " ", took)]++
			}
		}
	})
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
	want := map[string]int{
		"none GET 404 1ms": 1, "none POST 405 1ms": 1, "none BREW 405 1ms": 1,
		"/api/public/report GET 200 1ms": 3, "/api/public/report GET 400 1ms": 2, "/api/public/report HEAD 200 1ms": 1,
		"/tools/{tool} GET 200 1ms": 2, "/tools/{tool} GET 404 1ms": 1,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if len(routes) < 50 || !strings.Contains(strings.Join(routes, " "), "/leaderboards/{category}") {
		t.Errorf("%d routes", len(routes))
	}
}
