package evalpages_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/server/servertest"
	"github.com/firstpick/firstpick/server/store/state/statetest"
)

// TestAddressesThatAreNoText: what is no text names nothing, on either store.
func TestAddressesThatAreNoText(t *testing.T) {
	for _, engine := range statetest.Engines() {
		t.Run(engine, func(t *testing.T) {
			s := servertest.New(t, servertest.Options{State: statetest.Address(t, engine)})
			o := newOwner(t, s, "dana", "paid")
			o.keys("ANTHROPIC_API_KEY", "OPENAI_API_KEY")
			e := o.put(payments)
			r := o.start(e)
			o.end(r, bundleNow, done(68, 3, 72))
			for _, id := range []string{"%00", "run_%00", "%ff%fe"} {
				for _, path := range []string{
					"/workspaces/" + id, "/workspaces/" + id + "/evals", "/workspaces/" + id + "/settings", o.at("/evals/" + id), o.at("/evals/" + id + "/edit"), o.at("/evals/" + id + "/versions/1"),
					o.at("/evals/" + e.ID + "/versions/" + id), o.at("/runs/" + id), o.at("/runs/" + id + "/events"), o.at("/runs/" + id + "/traces"),
					o.at("/runs/" + r.ID + "/traces/" + id), o.at("/runs/" + id + "/compare"), o.at("/runs/" + r.ID + "/compare?with=" + id), o.at("/runs/" + id + "/explain"), o.at("/runs/" + r.ID + "/explain?tool=" + id), o.at("/runs/" + r.ID + "/files/" + id),
					o.at("/runs?eval=" + id), o.at("/runs?cursor=" + id), o.at("/runs/" + r.ID + "/traces?picked=" + id),
				} {
					want := http.StatusNotFound
					if strings.Contains(path, "?") { // a query is wrong, where an address is of nothing
						want = http.StatusBadRequest
					}
					if status, body := o.get(path); status != want {
						t.Errorf("%s: %d %.300s", path, status, text(body))
					}
				}
				raw, err := url.PathUnescape(id)
				if err != nil {
					t.Fatal(err)
				}
				for path, pairs := range map[string][]string{"/evals/" + id + "/edit": {"source", payments}, "/evals/" + id + "/runs": {"budget", "1"}, "/runs/" + id + "/cancel": nil} {
					if status, body := o.send(path, pairs...); status != http.StatusNotFound {
						t.Errorf("POST %s: %d %.300s", path, status, text(body))
					}
				}
				for path, pairs := range map[string][]string{
					"/settings/evals/keys/revoke": {"key", raw}, "/settings/evals/providers/remove": {"name", raw}, "/settings/keys/revoke": {"key", raw},
					"/settings/evals/keys": {"label", raw, "scope", "read"}, "/evals/new": {"source", raw, "do", "save"},
				} {
					if status, body := o.send(path, pairs...); status != http.StatusBadRequest {
						t.Errorf("POST %s: %d %.300s", path, status, text(body))
					}
				}
			}
			if status, body := o.send("/evals/new", "source", strings.Repeat("x", 2<<20)); status != http.StatusRequestEntityTooLarge || strings.Contains(body, "form is old") {
				t.Errorf("two MiB: %d %s", status, text(body))
			}
			if strings.Contains(s.Log.String(), "a page failed") {
				t.Errorf("a page failed: %s", s.Log.String())
			}
		})
	}
}
