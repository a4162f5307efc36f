package operator_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server"
	"github.com/firstpick/firstpick/server/servertest"
	"github.com/firstpick/firstpick/server/store/state/statetest"
)

// posts are the forms of the pages.
func posts() []string {
	return []string{"/operator/workspaces/plan", "/operator/snapshots/promote", "/operator/issuers/add", "/operator/issuers/remove"}
}

// TestOnlyOperators: for an owner, a former operator and a disabled one no page exists and
// no form; who is not signed in is sent to sign in. The table has every route.
func TestOnlyOperators(t *testing.T) {
	for _, engine := range statetest.Engines() {
		t.Run(engine, func(t *testing.T) {
			var routes []string
			s := servertest.New(t, servertest.Options{State: statetest.Address(t, engine), Server: func(c *server.Config) {
				c.Count = func(all []string) func(string, string, int, time.Duration) {
					routes = all
					return func(string, string, int, time.Duration) {}
				}
			}})
			ops, dana := newOperator(t, s), newPerson(t, s, "dana@example.com")
			dana.Workspace("https://acme.dev")
			form := map[string]bool{}
			for _, path := range posts() {
				form[path] = true
			}
			var pages int
			for _, path := range routes {
				if path != "/operator" && !strings.HasPrefix(path, "/operator/") {
					continue
				}
				pages++
				if !form[path] {
					if status, body := ops.Get(path); status != http.StatusOK || !strings.Contains(body, `<a href="/operator">Operator</a>`) {
						t.Errorf("an operator, %s: %d %s", path, status, body)
					}
					hidden(t, "an owner", path)(dana.Get(path))
				}
				hidden(t, "an owner posts", path)(dana.Send(path))
				hidden(t, "an owner posts without a form token", path)(dana.Post(path))
			}
			if pages == 0 {
				t.Fatal("no routes")
			}
			for _, path := range []string{"/workspaces", "/agents"} {
				if _, body := dana.Get(path); strings.Contains(body, `href="/operator"`) {
					t.Errorf("an owner's %s links to the pages of operators", path)
				}
				if _, body := ops.Get(path); !strings.Contains(body, `href="/operator"`) {
					t.Errorf("an operator's %s does not link to the pages", path)
				}
			}
			stranger := servertest.NewVisitor(t, s, "")
			if status, body := stranger.Get("/operator"); status != http.StatusOK || !strings.Contains(body, "Sign in") || strings.Contains(body, "Operator") {
				t.Errorf("a stranger: %d %s", status, body)
			}
			if changed, err := s.Agents.SetOperator(t.Context(), ops.Email, false); err != nil || !changed {
				t.Fatal(changed, err)
			}
			hidden(t, "a former operator", "/operator")(ops.Get("/operator"))
			if changed, err := s.Agents.SetOperator(t.Context(), ops.Email, true); err != nil || !changed {
				t.Fatal(changed, err)
			}
			if status, _ := ops.Get("/operator"); status != http.StatusOK {
				t.Errorf("an operator again: %d", status)
			}
			if err := s.Agents.SetDisabled(t.Context(), ops.Email, true); err != nil {
				t.Fatal(err)
			}
			if _, body := ops.Get("/operator"); strings.Contains(body, "Failed runs") {
				t.Errorf("a disabled operator sees %s", body)
			}
		})
	}
}

// hidden fails for an answer that is not that of a missing page.
func hidden(t *testing.T, who, path string) func(int, string) {
	return func(status int, body string) {
		t.Helper()
		wrong := status == http.StatusMethodNotAllowed // a page without a form
		if !wrong && (status != http.StatusNotFound || strings.Contains(strings.ToLower(body), "operator")) {
			t.Errorf("%s, %s: %d %s", who, path, status, body)
		}
	}
}
