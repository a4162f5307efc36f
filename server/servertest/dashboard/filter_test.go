package dashboard_test

import (
	"html"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server/channel/event"
	"github.com/firstpick/firstpick/server/channel/trafficdb"
	"github.com/firstpick/firstpick/server/servertest"
)

// crowd has visits of two agents to two pages, and of people from two assistants of whom each
// converts once.
func crowd(workspace string, at time.Time) (rows []trafficdb.Row) {
	add := func(r event.Record) {
		r.ID, r.At, r.ReceivedAt = "e"+string(rune('a'+len(rows))), at, at
		rows = append(rows, trafficdb.Row{Workspace: workspace, Record: r})
	}
	for _, v := range []struct {
		agent, family, class, path string
		n                          int
	}{{"GPTBot", "GPTBot", "training_crawler", "/docs", 3}, {"GPTBot", "GPTBot", "training_crawler", "/pricing", 2}, {"ChatGPT-User", "ChatGPT", "user_fetch", "/docs", 4}} {
		for range v.n {
			add(event.Record{Type: event.Touch, Host: "acme.dev", Path: v.path, Status: 200, Agent: v.agent, Family: v.family, Class: v.class, Verdict: "verified_ip"})
		}
	}
	for _, family := range []string{"ChatGPT", "Claude"} {
		add(event.Record{Type: event.Touch, Host: "acme.dev", Path: "/docs", Status: 200, Class: "browser", Visitor: "v" + family, Family: family, Evidence: "tag"})
		add(event.Record{Type: event.Convert, Visitor: "v" + family, Kind: "paid", Value: 4900, Currency: "USD", OrderID: "o" + family})
	}
	return rows
}

var (
	tileOf  = regexp.MustCompile(`<dt><a href="[^"]*">([^<]*)</a></dt><dd class="value"><b>([^<]*)</b>`)
	linkRow = regexp.MustCompile(`<a (?:class="path" )?href="([^"]*)">([^<]*)</a>`)
)

// TestFilters: a click on an agent, a page or an assistant filters the overview; chips remove
// filters one by one, and the tabs and windows keep them.
func TestFilters(t *testing.T) {
	d := newDesk(t, servertest.Options{})
	o, other := newOwner(t, d, "dana@example.com"), newOwner(t, d, "erin@example.com")
	at := d.Clock.Now().Add(-time.Hour)
	d.load(t, crowd(o.id, at)...)
	d.load(t, trafficdb.Row{Workspace: other.id, Record: event.Record{ID: "x", Type: event.Touch, At: at, ReceivedAt: at, Host: "acme.dev", Path: "/docs", Status: 200, Agent: "GPTBot", Class: "training_crawler"}})
	tiles := func(body string) (out string) {
		for _, m := range tileOf.FindAllStringSubmatch(body, -1) {
			if !strings.Contains(m[1], "Pick rate") {
				out += m[1] + " " + m[2] + "; "
			}
		}
		return out
	}
	link := func(body, text string) string {
		for _, m := range linkRow.FindAllStringSubmatch(body, -1) {
			if m[2] == text {
				return html.UnescapeString(m[1])
			}
		}
		t.Fatalf("no link %q", text)
		return ""
	}
	_, all := o.get(o.at("?window=7d"))
	want := "Agent visits 9; Pages read 2; Gaps 0; Referrals 2; Conversions by agents 2; Revenue by agents $98; "
	if got := tiles(all); got != want {
		t.Errorf("all: %s", got)
	}
	for query, want := range map[string]string{
		"class=user_fetch":                  "Agent visits 4; Pages read 1; Gaps 0; ",
		"class=training_crawler&path=/docs": "Agent visits 3; Pages read 1; Gaps 0; ",
		"class=no_such":                     "Agent visits 0; Pages read 0; Gaps 0; ",
		"assistant=Claude":                  "Agent visits –; Pages read –; Gaps –; Referrals 1; Conversions by agents 1; Revenue by agents $49; ", // people alone are of it
	} {
		if _, body := o.get(o.at("?window=7d&" + query)); tiles(body) != want {
			t.Errorf("%s: %s", query, tiles(body))
		}
	}
	if _, body := o.get(o.at("?assistant=Claude")); !strings.Contains(body, "No agent of Claude visited in this window.") {
		t.Errorf("an assistant without visits: %s", body)
	}
	if _, body := o.get(o.at("?window=7d&class=user_fetch")); !strings.Contains(body, "People have no agent: filter by an assistant") || strings.Contains(body, `id="h-referrals"`) {
		t.Errorf("referrals beside a filter that people do not have: %s", body)
	}
	if got := link(all, "User fetches"); got != o.at("?class=user_fetch&window=7d") {
		t.Errorf("the class of the chart leads to %s", got)
	}
	for _, c := range []struct {
		click, query, tiles string
		conversions         bool
	}{
		{"GPTBot", "agent=GPTBot", "Agent visits 5; Pages read 2; Gaps 0; ", false},
		{"/docs", "path=acme.dev%2Fdocs", "Agent visits 7; Pages read 1; Gaps 0; Referrals 2; Conversions by agents 2; Revenue by agents $98; ", true},
		{"ChatGPT", "assistant=ChatGPT", "Agent visits 4; Pages read 1; Gaps 0; Referrals 1; Conversions by agents 1; Revenue by agents $49; ", true},
	} {
		path := link(all, c.click)
		if _, query, _ := strings.Cut(path, "?"); query != c.query+"&window=7d" {
			t.Errorf("%s leads to %s", c.click, path)
		}
		_, body := o.get(path)
		if got := tiles(body); got != c.tiles {
			t.Errorf("%s: %s", c.query, got)
		}
		if strings.Contains(body, `id="h-outcome"`) != c.conversions || strings.Contains(body, "Pick rate") {
			t.Errorf("%s: a list that the filter does not cover, or one is missing", c.query)
		}
		if !strings.Contains(body, `class="filter-chip" href="`+o.at("?window=7d")+`"`) || !strings.Contains(body, html.EscapeString(o.at("/pages?")+c.query+"&window=7d")) {
			t.Errorf("%s: no chip, or a tab without the filter: %s", c.query, body)
		}
	}
	_, body := o.get(o.at("?agent=GPTBot&path=acme.dev%2Fdocs"))
	if got := tiles(body); got != "Agent visits 3; Pages read 1; Gaps 0; " || !strings.Contains(body, `href="`+o.at("")+`">Remove all</a>`) {
		t.Errorf("two filters: %s", got)
	}
	_, body = o.get(o.at("/agents?path=acme.dev%2Fpricing"))
	if !strings.Contains(body, "GPTBot") || strings.Contains(body, "ChatGPT-User") {
		t.Error("the list of agents is not filtered by page")
	}
	_, body = o.get(o.at("/conversions?assistant=Claude&agent=GPTBot"))
	if strings.Count(body, `data-label="When"`)+strings.Count(body, "/conversions/e") != 1 {
		t.Errorf("the conversions of one assistant: %s", body)
	}
	for page, want := range map[string]int{"path=/docs": 2, "path=/pricing": 0} {
		_, body = o.get(o.at("/conversions?" + page))
		if got := strings.Count(body, "/conversions/e"); got != want || strings.Contains(body, `id="h-totals"`) != (want > 0) {
			t.Errorf("%d conversions of %s: %s", got, page, body)
		}
	}
	if _, body = o.get(o.at("?path=/pricing")); !strings.Contains(body, "No conversion in this window is credited to a visit to this page.") {
		t.Errorf("a page without conversions: %s", body)
	}
	// A filter that cannot apply says so, and stays in the links.
	for _, c := range []struct{ page, chip, why, hint string }{
		{"/conversions?agent=GPTBot", "Agent: <bdi>GPTBot</bdi>", "people have no agent", "A page or assistant filters all"},
		{"/conversions?path=%2Fdocs", "Page: <bdi>/docs</bdi>", "", "A page or assistant filters all"},
		{"/referrals?agent=GPTBot", "Agent: <bdi>GPTBot</bdi>", "people have no agent", "A page or assistant filters all"},
		{"/referrals?class=user_fetch", "Class: <bdi>User fetches</bdi>", "people have no class", "A page or assistant filters all"},
		{"/noise?class=user_fetch", "Class: <bdi>User fetches</bdi>", "noise has classes of its own", "An agent, page or assistant filters all"},
		{"?agent=GPTBot", "Agent: <bdi>GPTBot</bdi>", "", "An agent, page, class or assistant filters all"},
	} {
		page, query, _ := strings.Cut(c.page, "?")
		_, body := o.get(o.at(c.page))
		if !strings.Contains(body, c.chip) || strings.Contains(body, "does not apply here: "+c.why) != (c.why != "") || !strings.Contains(body, c.hint) ||
			!strings.Contains(body, `class="filter-chip`) || !strings.Contains(body, `href="`+o.at(page)+`" aria-label="Remove`) || !strings.Contains(body, html.EscapeString(o.at("/gaps?")+query)) {
			t.Errorf("%s: a filter is dropped without a word: %s", c.page, body)
		}
	}
	evil := `"><script>x</script>`
	if status, body := o.get(o.at("?" + url.Values{"agent": {evil}}.Encode())); status != 200 || strings.Contains(body, "<script>x") || !strings.Contains(body, "No agent visits in this window match the filter.") {
		t.Errorf("an unknown agent: %d", status)
	}
}

// TestLandingPages: the pages of people have the landings of assistants, what they led to, and
// the rate; the form has the filters of its page with suggestions.
func TestLandingPages(t *testing.T) {
	d := newDesk(t, servertest.Options{})
	o := newOwner(t, d, "dana@example.com")
	d.load(t, crowd(o.id, d.Clock.Now().Add(-time.Hour))...)
	day := d.Clock.Now().Add(-time.Hour).UTC()
	oneDay := o.at("/referrals?") + url.Values{"from": {day.Format(time.DateOnly)}, "to": {day.AddDate(0, 0, 1).Format(time.DateOnly)}}.Encode()
	for _, c := range []struct {
		page      string
		want, not []string
	}{
		{"", []string{`id="h-landings"`, `>/docs</a>`, `<td class="num"><b>100</b>`, `<option value="GPTBot">`, `<option value="acme.dev/docs">`, `<option value="Claude">`}, nil},
		{"?path=/docs", []string{`<td class="num">4<`, `value="/docs"`, `>Per 100 landings<`, `Conversions credited to visits to <bdi>/docs</bdi>`}, []string{"pricing"}},
		{"?agent=GPTBot", nil, []string{`id="h-landings"`}},
		{"/referrals", []string{`data-label="Conversions">2 <span class="sub">paid 2</span>`, `data-label="Revenue">$98<`, `ChatGPT, Claude`, html.EscapeString(oneDay), "(partial)"}, []string{`name="agent"`}},
		{"/conversions", []string{`Rates and revenue by assistant and by landing page`, `Conversions over time`, `By agents <b>2</b>`, `Revenue, USD</th><td class="num"><b>$98</b>`, `<option value="acme.dev/docs">`}, []string{`name="agent"`}},
	} {
		status, body := o.get(o.at(c.page))
		for _, want := range c.want {
			if status != 200 || !strings.Contains(body, want) {
				t.Errorf("%s: %d, no %s in %s", c.page, status, want, body)
			}
		}
		for _, not := range c.not {
			if strings.Contains(body, not) {
				t.Errorf("%s has %s", c.page, not)
			}
		}
	}
	_, body := o.get(oneDay)
	if strings.Contains(body, "(partial)") || !strings.Contains(body, `class="columns"`) || strings.Contains(body, `<g class="column"><a`) || !strings.Contains(body, "The numbers by hour") || !strings.Contains(body, day.Format("Mon 2 Jan 2006, 15:00")) {
		t.Error("a whole day is partial, or leads to itself")
	}
}

// TestWrongWindow: days that are no range leave the form as it was typed, with the message.
func TestWrongWindow(t *testing.T) {
	d := newDesk(t, servertest.Options{})
	o := newOwner(t, d, "dana@example.com")
	for _, c := range []struct{ page, query, field, want string }{
		{"", "from=2026-11-10&through=2026-11-01&tz=Europe%2FBerlin", "through", "Through must be the day of From or a later one"},
		{"/gaps", "from=&through=2026-11-01&tz=Europe%2FBerlin", "from", "From must be a day such as 2026-11-01"},
	} {
		status, body := o.get(o.at(c.page + "?" + c.query))
		form, _, _ := strings.Cut(body, "</form>")
		field := regexp.MustCompile(`<input id="` + c.field + `"[^>]*aria-invalid="true"`)
		if status != 400 || !strings.Contains(body, c.want) || !field.MatchString(body) || strings.Count(body, `aria-invalid`) != 1 ||
			!strings.Contains(body, `name="through" type="date" value="2026-11-01"`) || !strings.Contains(body, `value="Europe/Berlin"`) || strings.Contains(form, "from must") {
			t.Errorf("%s?%s: %d %s", c.page, c.query, status, body)
		}
	}
}

// TestCreditWithoutLandings: an assistant whose conversions follow landings before the window has a
// row, without landings and rate.
func TestCreditWithoutLandings(t *testing.T) {
	d := newDesk(t, servertest.Options{})
	o := newOwner(t, d, "dana@example.com")
	now := d.Clock.Now()
	record := func(id string, at time.Time, r event.Record) trafficdb.Row {
		r.ID, r.At, r.ReceivedAt, r.Visitor = id, at, at, "v"
		return trafficdb.Row{Workspace: o.id, Record: r}
	}
	d.load(t,
		record("a", now.AddDate(0, 0, -20), event.Record{Type: event.Touch, Host: "acme.dev", Path: "/", Status: 200, Class: "browser", Family: "Claude", Evidence: "tag"}),
		record("b", now.Add(-time.Hour), event.Record{Type: event.Convert, Kind: "paid", Value: 4900, Currency: "USD", OrderID: "o"}),
	)
	for page, want := range map[string]string{"/referrals?window=7d": `data-label="Conversions">1 <span class="sub">paid 1</span></td><td class="num" data-label="Per 100 landings"><b>–</b>`, "?window=7d": `<td class="num">–</td><td class="num">1</td><td class="num"><b>–</b>`} {
		if _, body := o.get(o.at(page)); !strings.Contains(body, ">Claude</a>") || !strings.Contains(body, want) {
			t.Errorf("%s: %s", page, body)
		}
	}
}
