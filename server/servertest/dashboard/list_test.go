package dashboard_test

import (
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/server/channel/event"
	"github.com/firstpick/firstpick/server/channel/trafficdb"
)

var markup = regexp.MustCompile(`\s*<[^>]*>\s*`)

// TestTheListHasFigures: the list of workspaces has the visits of a week, the pick rate and the
// last event of each, and the pages of one lead to the others. Nobody sees those of others.
func TestTheListHasFigures(t *testing.T) {
	d := newBoardDesk(t)
	o, other := newOwner(t, d, "dana@example.com"), newOwner(t, d, "erin@example.com")
	if _, body := o.get(o.at("")); strings.Contains(body, "All workspaces") {
		t.Error("the only workspace has a switcher")
	}
	status, body := o.post("/workspaces", url.Values{"site": {"https://quiet.dev"}, "name": {"Quiet <b>"}, "form_token": {o.formToken("/workspaces?all")}})
	if status != http.StatusOK {
		t.Fatal(status, body)
	}
	for _, days := range []int{1, 2, 9} {
		at := d.Clock.Now().AddDate(0, 0, -days)
		d.load(t, trafficdb.Row{Workspace: o.id, Record: event.Record{Type: event.Touch, ID: at.String(), At: at, ReceivedAt: at, Host: "acme.dev", Path: "/", Status: 200, Agent: "GPTBot", Class: "training_crawler"}})
	}
	o.send("/tool", url.Values{"tool": {"flask"}})
	_, body = o.get("/workspaces?all")
	text := html.UnescapeString(markup.ReplaceAllString(body, " "))
	for _, want := range []string{"Quiet <b>", "– no event yet", o.slug + " 2 ", "Flask 24 hours ago"} {
		if !strings.Contains(strings.Join(strings.Fields(text), " "), want) {
			t.Errorf("no %q in %s", want, strings.Join(strings.Fields(text), " "))
		}
	}
	if strings.Contains(body, other.slug) || strings.Contains(body, "Quiet <b>") {
		t.Errorf("another's workspace, or markup: %s", body)
	}
	_, body = o.get(o.at("/settings"))
	if _, menu, _ := strings.Cut(body, `class="switch"`); !strings.Contains(menu[:strings.Index(menu, "</details>")], ">Quiet &lt;b&gt;</a>") || strings.Contains(menu[:strings.Index(menu, "</details>")], o.slug) {
		t.Errorf("the switcher: %s", body)
	}
}
