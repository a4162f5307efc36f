package snapshotview_test

import (
	"strings"
	"testing"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/fixtures"
	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/runner/pick"
	"github.com/firstpick/firstpick/server/public/snapshotview"
	"github.com/firstpick/firstpick/server/public/snapshotview/sitetest"
)

// A board's pages show how its outcomes were read; one of an older snapshot says nothing
// about it, rather than zero.
func TestPagesShowHowOutcomesWereRead(t *testing.T) {
	c, err := catalog.Load(fixtures.Files(), "catalog")
	if err != nil {
		t.Fatal(err)
	}
	category, _ := c.Category("webserver")
	picked := analytics.Group{Prompt: "p", Agent: "a", Outcome: pick.Tool, Picked: "flask", FirstNamed: "flask", Trials: 28, LastAt: sitetest.AsOf(), DecidedBy: analytics.DecidedBy{Statement: 28}}
	second := picked
	second.FirstNamed, second.Trials, second.DecidedBy = "bottle", 2, analytics.DecidedBy{Statement: 2}
	open := analytics.Group{Prompt: "p", Agent: "a", Outcome: pick.Ambiguous, Trials: 10, Unresolved: 6, FirstNamed: "bottle", LastAt: sitetest.AsOf(), DecidedBy: analytics.DecidedBy{Statement: 4, Undecided: 6}}
	older := picked
	older.UnresolvedUnknown, older.FirstUnknown, older.DecidedBy = 28, 28, analytics.DecidedBy{}
	shown := map[string][2]string{ // HTML and markdown
		"/leaderboards/webserver": {"<b>6</b> unresolved: no rule applies", "- 6 unresolved: no rule applies, counted as ambiguous (15%)"},
		"layers":                  {"<b>34</b> by the answer text", "- 34 by the answer text (85%)"},
		"column":                  {`<th scope="col" class="num wider">First named</th>`, "| First named |"},
		"/tools/flask":            {"<dt>First-named rate</dt><dd>70.0%</dd>", "- First-named rate: 70.0%"},
	}
	for name, tt := range map[string]struct {
		cells []analytics.Group
		want  bool
	}{
		"read now":             {[]analytics.Group{picked, second, open}, true},
		"of an older snapshot": {[]analytics.Group{older}, false},
	} {
		board := analytics.Rank(analytics.Measurement{Category: category, Cells: analytics.Cells(tt.cells), Planned: 40})
		s, err := snapshotview.Build(snapshotview.Input{ID: "abc", AsOf: sitetest.AsOf(), Boards: []analytics.Board{board}, Refs: c.Refs(), BaseURL: sitetest.Base})
		if err != nil {
			t.Fatal(err)
		}
		page, words := forms(t, s, "/leaderboards/webserver")
		tool, toolWords := forms(t, s, "/tools/flask")
		for what, want := range shown {
			if strings.Contains(page+tool, want[0]) != tt.want || strings.Contains(words+toolWords, want[1]) != tt.want {
				t.Errorf("%s, %s: want %t for %q and %q in\n%s\n%s", name, what, tt.want, want[0], want[1], words, toolWords)
			}
		}
	}
}
