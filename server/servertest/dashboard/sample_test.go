package dashboard_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/server/servertest"
	"github.com/firstpick/firstpick/server/store/state"
)

// TestAGivenWorkspace: an operator gives a person a workspace for a site, once. A site that
// cannot exist is marked as a sample on its pages.
func TestAGivenWorkspace(t *testing.T) {
	d := newDesk(t, servertest.Options{})
	give := func(site string) (string, string) {
		w, key, err := d.Agents.GiveWorkspace(t.Context(), "owner@acme.dev", state.Settings{Site: site, RetentionDays: state.DefaultRetention})
		if err != nil {
			t.Fatal(err)
		}
		return w.Slug, key
	}
	made, key := give("https://shop.example")
	real, _ := give("https://acme.dev")
	if again, second := give("https://shop.example"); key == "" || again != made || second != "" || real == made {
		t.Errorf("%s with key %q, again %s with key %q, another site %s", made, key, again, second, real)
	}
	if _, _, err := d.Agents.GiveWorkspace(t.Context(), "owner@acme.dev", state.Settings{Site: "no site", RetentionDays: state.DefaultRetention}); err == nil {
		t.Error("a site that is not an address was taken")
	}
	person := &owner{t: t, d: d, email: "owner@acme.dev", http: newBrowser(t)}
	person.signIn()
	for slug, want := range map[string]bool{made: true, real: false} {
		status, body := person.get("/workspaces/" + slug)
		if got := strings.Contains(body, "belong to no site"); status != http.StatusOK || got != want {
			t.Errorf("%s: %d, marked as made up: %v", slug, status, got)
		}
	}
}
