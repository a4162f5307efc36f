package servertest_test

import (
	"strings"
	"testing"

	"github.com/firstpick/firstpick/server/kit/route"
)

// TestLimitsOfRoutes lists the routes with limits of their own: all others read 64 KiB and
// count against the limit of their address.
func TestLimitsOfRoutes(t *testing.T) {
	const kib = 1 << 10
	form := route.Limits{MaxBody: 3*256*kib + 64*kib}
	source := route.Limits{MaxBody: 256*kib + 1, Unmetered: true}
	want := map[string]route.Limits{
		"/healthz":             {MaxBody: 64 * kib, Unmetered: true},
		"/readyz":              {MaxBody: 64 * kib, Unmetered: true},
		"/api/collect":         {MaxBody: 16*1024*kib + 64*kib, Unmetered: true},
		"/api/billing/webhook": {MaxBody: 256 * kib},
		"/api/v1/evals":        source,
		"/api/v1/evals/check":  source,
		"/api/v1/catalog":      source,
		"/api/v1/uploads/{uploadId}/files/{file}":            {MaxBody: 16 * 1024 * kib, Unmetered: true},
		"/snapshots/{snapshot}/*":                            {MaxBody: 64 * kib, Unmetered: true},
		"/log/*":                                             {MaxBody: 64 * kib, Unmetered: true},
		"/workspaces/{slug}/evals/new":                       form,
		"/workspaces/{slug}/evals/measure":                   form,
		"/workspaces/{slug}/evals/{eval}/edit":               form,
		"/workspaces/{slug}/evals/catalog":                   form,
		"/workspaces/{slug}/evals/{eval}/runs":               form,
		"/workspaces/{slug}/settings/evals/keys":             form,
		"/workspaces/{slug}/settings/evals/keys/revoke":      form,
		"/workspaces/{slug}/settings/evals/providers":        form,
		"/workspaces/{slug}/settings/evals/providers/remove": form,
	}
	srv := newServer(t, demoSite(t, 1), nil)
	unlisted := len(want)
	for _, path := range srv.Paths() {
		limits, ok := want[path]
		if ok {
			unlisted--
		} else if limits = (route.Limits{MaxBody: 64 * kib}); strings.HasPrefix(path, "/api/v1/") {
			limits.Unmetered = true
		}
		if got := srv.LimitsOf(path); got != limits {
			t.Errorf("%s: %+v, want %+v", path, got, limits)
		}
		target := strings.NewReplacer("{", "", "}", "", "*", "x").Replace(path)
		counted := strings.Contains(strings.Join(ask(srv, "GET", target).Header.Values("RateLimit-Policy"), ","), `"public"`)
		if counted == limits.Unmetered {
			t.Errorf("GET %s counts against the limit of its address: %v", target, counted)
		}
	}
	if unlisted != 0 {
		t.Errorf("%d listed routes do not exist", unlisted)
	}
	for _, path := range []string{"/api/v1/nothing", "/api/v1/"} { // no route, and counted by key all the same
		if !srv.LimitsOf(path).Unmetered {
			t.Errorf("%s counts against the limit of its address", path)
		}
	}
}
