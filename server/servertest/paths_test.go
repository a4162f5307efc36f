package servertest_test

import (
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/server"
	"github.com/firstpick/firstpick/server/channel/reporter"
	"github.com/firstpick/firstpick/server/channel/trafficdb"
	"github.com/firstpick/firstpick/server/public/snapshotview"
	"github.com/firstpick/firstpick/server/servertest"
	"github.com/firstpick/firstpick/server/store/state"
)

var parameter = regexp.MustCompile(`\{[a-zA-Z]+\}|\*`)

// TestParametersOfPaths puts what no store takes, and what looks like another path, into
// every parameter of every route: the caller is wrong, never the server.
func TestParametersOfPaths(t *testing.T) {
	if testing.Short() {
		t.Skip("asks every route many times, one after the other: minutes with the race detector")
	}
	t.Parallel()
	var routes []string
	for _, path := range newServer(t, demoSite(t, 1), nil).Paths() {
		if parameter.MatchString(path) {
			routes = append(routes, path)
		}
	}
	if len(routes) < 40 {
		t.Fatalf("only %d routes have parameters", len(routes))
	}
	o := servertest.Options{Server: func(c *server.Config) {
		c.Source = newSource(demoSite(t, 1))
		events, err := trafficdb.Open(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = events.Close() })
		c.Reports = reporter.New(reporter.Config{DB: events, Now: c.Now})
	}}
	onBothStores(t, o, func(t *testing.T, s *servertest.Service) {
		w := s.Workspace(t, "acme", state.PlanPaid)
		browser := browserOf(t, s, "acme@example.com")
		browser.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
		registered := vouch(t, s, "sub", "dana@example.com", "")
		tokens, err := s.Agents.Exchange(t.Context(), somebody(), registered.Assertion, nil)
		if err != nil {
			t.Fatal(err)
		}
		evalKey := s.EvalKey(t, w)
		for what, value := range map[string]string{
			"NUL": "%00", "NUL within": "a%00b", "a byte that begins nothing": "%FF", "the same in lower case": "%ff", "an overlong slash": "%C0%AF", "half a rune": "%E2%82",
			"a surrogate": "%ED%A0%80", "a name without end": strings.Repeat("a", 5000), "the folder above": "../x", "the same escaped": "..%2F..%2Fx", "dots": "%2e%2e", "SQL": "%27%20or%201=1--",
		} {
			for _, path := range routes {
				token := tokens.AccessToken
				if strings.HasPrefix(path, "/api/v1/") {
					token = evalKey
				}
				for _, bad := range parameter.FindAllString(path, -1) {
					address := strings.Replace(path, bad, value, 1)
					address = parameter.ReplaceAllString(strings.Replace(address, "{slug}", "acme", 1), "x")
					for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodDelete} {
						req, err := http.NewRequestWithContext(t.Context(), method, s.URL+address, strings.NewReader("{}"))
						if err != nil {
							t.Fatal(err)
						}
						req.Header.Set("Authorization", "Bearer "+token)
						resp, err := browser.Do(req)
						if err != nil {
							t.Fatal(err)
						}
						text, _ := io.ReadAll(resp.Body)
						_ = resp.Body.Close()
						never := strings.HasSuffix(path, "/{agent}") && strings.HasPrefix(path, "/workspaces/") // the page of an agent that was never seen
						if never = never || strings.HasPrefix(path, "/badge/"); never && validText(value) && resp.StatusCode == http.StatusOK {
							continue
						}
						if resp.StatusCode < 400 || resp.StatusCode >= 500 || !validText(value) && resp.StatusCode != http.StatusNotFound {
							t.Errorf("%s as %s: %s %.200s: %d %.300s", what, bad, method, address, resp.StatusCode, text)
						}
					}
				}
			}
		}
	})
}

// validText reports whether an escaped value is text of a usual length.
func validText(value string) bool {
	for _, bad := range []string{"%00", "%FF", "%ff", "%C0", "%E2", "%ED"} {
		if strings.Contains(value, bad) {
			return false
		}
	}
	return len(value) < 2048
}

func newSource(s *snapshotview.Site) *snapshotview.Holder {
	h := &snapshotview.Holder{}
	h.Set(s)
	return h
}
