package dashboard_test

import (
	"html"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server/channel/event"
	"github.com/firstpick/firstpick/server/channel/trafficdb"
	"github.com/firstpick/firstpick/server/servertest"
)

var (
	firstCell = regexp.MustCompile(`<tr><th scope="row"><a [^>]*>([^<]*)</a>`)
	sortedBy  = regexp.MustCompile(`aria-sort="(\w+)"><a href="([^"]*)">([^<]*)`)
)

// TestSort: the headers of tables are links that sort them, keep the filters, and turn round.
func TestSort(t *testing.T) {
	d := newDesk(t, servertest.Options{})
	o := newOwner(t, d, "dana@example.com")
	at := d.Clock.Now().Add(-time.Hour)
	rows := crowd(o.id, at)
	for i, r := range []event.Record{
		{Type: event.Touch, Host: "acme.dev", Path: "/pricing", Status: 200, Class: "browser", Visitor: "v3", Family: "Claude", Evidence: "tag"},
		{Type: event.Convert, Visitor: "vClaude", Kind: "signup", Value: 100, Currency: "USD"},
	} {
		r.ID, r.At, r.ReceivedAt = "s"+string(rune('a'+i)), at.Add(time.Minute), at.Add(time.Minute)
		rows = append(rows, trafficdb.Row{Workspace: o.id, Record: r})
	}
	d.load(t, rows...)
	for _, c := range []struct {
		page   string
		first  []string // the first cells of the rows
		order  string   // of the first sorted header
		column string
		next   string // where it leads
	}{
		{"/agents?window=7d", []string{"GPTBot", "ChatGPT-User"}, "descending", "Visits ", "/agents?sort=visits&window=7d"},
		{"/agents?sort=visits&window=7d", []string{"ChatGPT-User", "GPTBot"}, "ascending", "Visits ", "/agents?window=7d"},
		{"/agents?path=%2Fdocs&sort=agent", []string{"ChatGPT-User", "GPTBot"}, "ascending", "Agent ", "/agents?path=%2Fdocs&sort=-agent"},
		{"/agents?sort=nonsense", []string{"GPTBot", "ChatGPT-User"}, "descending", "Visits ", "/agents?sort=visits"},
		{"/agents?sort=pages", []string{"ChatGPT-User", "GPTBot"}, "ascending", "Pages ", "/agents?sort=-pages"},
		{"/pages?sort=-page", []string{"/pricing", "/docs"}, "descending", "Page ", "/pages?sort=page"},
		{"/pages", []string{"/docs", "/pricing"}, "descending", "Reads ", "/pages?sort=reads"},
		{"/referrals?sort=rate", []string{"Claude", "ChatGPT", "/pricing", "/docs"}, "ascending", "Per 100 landings ", "/referrals?sort=-rate"},
		{"/referrals?sort=-name", []string{"Claude", "ChatGPT", "/pricing", "/docs"}, "descending", "Assistant ", "/referrals?sort=name"},
	} {
		_, body := o.get(o.at(c.page))
		var cells []string
		for _, m := range firstCell.FindAllStringSubmatch(body, -1) {
			cells = append(cells, m[1])
		}
		if m := sortedBy.FindStringSubmatch(strings.ReplaceAll(body, `class="num" `, "")); m == nil || m[1] != c.order || m[3] != c.column || html.UnescapeString(m[2]) != o.at(c.next) {
			t.Errorf("%s is sorted as %q", c.page, m)
		}
		if cells = slices.DeleteFunc(cells, func(s string) bool { return strings.Contains(s, " 20") }); !slices.Equal(cells, c.first) { // days have links too
			t.Errorf("%s lists %q", c.page, cells)
		}
	}
	values := func(page string) (out []string) {
		_, body := o.get(o.at(page))
		for _, m := range regexp.MustCompile(`data-label="Value">([^<]*)<`).FindAllStringSubmatch(body, -1) {
			out = append(out, m[1])
		}
		return out
	}
	for page, want := range map[string][]string{
		"/conversions":                  {"$1", "$49", "$49"},
		"/conversions?sort=-value":      {"$49", "$49", "$1"},
		"/conversions?sort=at":          {"$49", "$49", "$1"},
		"/conversions?sort=-kind":       {"$1", "$49", "$49"},
		"/conversions?sort=kind":        {"$49", "$49", "$1"},
		"/conversions?goal=signup":      {"$1"},
		"/conversions?goal=paid&sort=x": {"$49", "$49"},
	} {
		if got := values(page); !slices.Equal(got, want) {
			t.Errorf("%s lists %q, not %q", page, got, want)
		}
	}
	if _, body := o.get(o.at("/conversions?show=credited&sort=value")); !strings.Contains(body, html.EscapeString(o.at("/conversions?show=credited&sort=-value"))) || !strings.Contains(body, `name="sort" value="value"`) || !strings.Contains(body, `href="`+o.at("/agents")+`"`) {
		t.Error("the header loses the choice of conversions, the form the order, or a tab has it")
	}
}

// TestGoal: a goal filters conversions, rates and revenue, with the refunds of its orders; visits
// have none.
func TestGoal(t *testing.T) {
	d := newDesk(t, servertest.Options{})
	o := newOwner(t, d, "dana@example.com")
	at := d.Clock.Now().Add(-time.Hour)
	rows := crowd(o.id, at)
	for i, r := range []event.Record{
		{Type: event.Convert, Visitor: "vClaude", Kind: "signup", Value: 100, Currency: "USD"},
		{Type: event.Convert, Visitor: "vClaude", Kind: "refund", Value: -900, Currency: "USD", OrderID: "oClaude"},
	} {
		r.ID, r.At, r.ReceivedAt = "g"+string(rune('a'+i)), at.Add(time.Minute), at.Add(time.Minute)
		rows = append(rows, trafficdb.Row{Workspace: o.id, Record: r})
	}
	d.load(t, rows...)
	for query, want := range map[string]string{
		"":                               "Agent visits 9; Pages read 2; Gaps 0; Referrals 2; Conversions by agents 3; Revenue by agents $90; ",
		"?goal=paid":                     "Agent visits 9; Pages read 2; Gaps 0; Referrals 2; Conversions by agents 2; Revenue by agents $89; ",
		"?goal=signup":                   "Agent visits 9; Pages read 2; Gaps 0; Referrals 2; Conversions by agents 1; Revenue by agents $1; ",
		"?goal=signup&assistant=ChatGPT": "Agent visits 4; Pages read 1; Gaps 0; Referrals 1; Conversions by agents 0; Revenue by agents –; ",
	} {
		_, body := o.get(o.at(query))
		got := ""
		for _, m := range tileOf.FindAllStringSubmatch(body, -1) {
			if !strings.Contains(m[1], "ick rate") {
				got += m[1] + " " + m[2] + "; "
			}
		}
		if got != want {
			t.Errorf("%s: %s", query, got)
		}
		if !strings.Contains(body, "Pick rate") != strings.Contains(query, "assistant") {
			t.Errorf("%s: a goal hides the pick rate, or a filter of visits shows it", query)
		}
	}
	for page, want := range map[string]string{
		"":                          `goal=signup">signup</a>`,
		"?goal=paid":                `Goal: <bdi>paid</bdi>`,
		"?goal=paid&agent=GPTBot":   "does not apply here: visits have no goal",
		"/agents?goal=paid":         "does not apply here: visits have no goal",
		"/referrals?goal=signup":    `data-label="Conversions">1 <span class="sub">signup 1</span>`,
		"/conversions?goal=nothing": "No conversions in this window.",
	} {
		if _, body := o.get(o.at(page)); !strings.Contains(body, want) {
			t.Errorf("%s lacks %s", page, want)
		}
	}
}
