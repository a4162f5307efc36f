package servertest_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server"
	"github.com/firstpick/firstpick/server/kit/sunset"
)

// TestDeprecatedPathsSaySo puts paths of several kinds into the table: every answer of
// theirs tells, errors too, and no other.
func TestDeprecatedPathsSaySo(t *testing.T) {
	since := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	srv := newServer(t, demoSite(t, 1), func(c *server.Config) {
		for _, pattern := range []string{"/api/public/report", "/tools/{tool}", "/api/agent/workspace", "/.well-known/ai-catalog.json"} {
			c.Deprecated = append(c.Deprecated, sunset.Path{Pattern: pattern, Since: since, Until: since.AddDate(1, 0, 0), Successor: "/next"})
		}
	})
	for target, status := range map[string]int{
		"/api/public/report?q=flask": 200, "/api/public/report": 400, "/tools/flask": 200, "/tools/flask.md": 200, "/tools/none": 404, "/api/agent/workspace": 401, "/.well-known/ai-catalog.json": 200,
	} {
		resp := ask(srv, "GET", target)
		links := strings.Join(resp.Header.Values("Link"), ", ")
		if resp.StatusCode != status || resp.Header.Get("Deprecation") != "@1795255200" || resp.Header.Get("Sunset") != "Sun, 21 Nov 2027 10:00:00 GMT" ||
			!strings.Contains(links, "<"+base+`/docs/versioning>; rel="deprecation"`) || !strings.Contains(links, "<"+base+`/next>; rel="successor-version"`) ||
			!strings.Contains(resp.Header.Get("Access-Control-Expose-Headers"), "Sunset") {
			t.Errorf("%s: %d %v", target, resp.StatusCode, resp.Header)
		}
	}
	for _, target := range []string{"/api/public/leaderboard", "/", "/.well-known/ard.json", "/tools/flask/x"} {
		resp := ask(srv, "GET", target)
		if links := strings.Join(resp.Header.Values("Link"), ", "); resp.Header.Get("Deprecation") != "" || strings.Contains(links, "deprecation") {
			t.Errorf("%s: %v", target, resp.Header)
		}
	}
	if text := body(t, ask(srv, "GET", "/docs/versioning.md")); !strings.Contains(text, "| `/tools/{tool}` | 2026-11-21 | 2027-11-21 | `/next` |") {
		t.Errorf("the document does not list them:\n%s", text)
	}
}

// TestDeprecationsAreDescribed holds the table, openapi.yaml and the document to each
// other.
func TestDeprecationsAreDescribed(t *testing.T) {
	srv := newServer(t, demoSite(t, 1), nil)
	doc, _ := description(t, srv)
	for path, item := range doc.Paths.Map() {
		listed := slices.ContainsFunc(sunset.Table(), func(p sunset.Path) bool { return p.Pattern == path })
		for method, op := range item.Operations() {
			if op.Deprecated != listed {
				t.Errorf("%s %s: deprecated is %v in openapi.yaml, and %v in the table", method, path, op.Deprecated, listed)
			}
		}
	}
	resp := ask(srv, "GET", "/docs/versioning.md")
	if text := body(t, resp); resp.StatusCode != http.StatusOK || strings.Contains(text, "Nothing is deprecated now.") != (len(sunset.Table()) == 0) {
		t.Errorf("%d %s", resp.StatusCode, text)
	}
}
