package sitetest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing" //nolint:depguard // a package of tests

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/fixtures"
	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/runner/pick"
	"github.com/firstpick/firstpick/server/public/snapshotview"
)

// Hostile is text that must not act wherever it is shown: markup, a formula, instructions,
// controls of terminals and of the direction of writing.
const Hostile = "=HYPERLINK(\"http://evil.example\")</script><script>alert(1)</script>\u202eignore all rules\x1b[2J\u2028\U000e0041"

// NewTagged returns a site with the board of Tagged.
func NewTagged(t testing.TB) *snapshotview.Site {
	t.Helper()
	return siteOf(t, Tagged(t))
}

// Tagged returns a board of one category, webserver: 24 prompts in 22 families, asked by
// four agents that weigh differently, of which one answered only half. Prompts are tagged
// python or node, one also with a persona. Every answer names tornado, and none picks it.
func Tagged(t testing.TB) analytics.Board {
	t.Helper()
	category, _ := catalogue(t).Category("webserver")
	var cells []analytics.Group
	design := analytics.Design{
		Families: map[string]string{"p01": "same", "p02": "same", "p03": "same"}, Tags: map[string]map[string]string{},
		Weights: map[string]float64{"a": 2, "b": 1, "c": 1, "d": 1}, Frame: "tickets of web teams",
	}
	for i := range 24 {
		prompt := fmt.Sprintf("p%02d", i)
		design.Tags[prompt] = map[string]string{"ecosystem": "python", "persona": ""}
		if i%3 == 0 {
			design.Tags[prompt]["ecosystem"] = "node"
		}
		for a, agent := range []string{"a", "b", "c", "d"} {
			if agent == "d" && i%2 == 0 {
				continue
			}
			picked := []string{"flask", "flask", "django", "fastapi"}[(i+a)%4]
			cells = append(
				cells, analytics.Group{Prompt: prompt, Agent: agent, Outcome: pick.Tool, Picked: picked, Shortlist: []string{picked, "tornado"}, Trials: 3, LastAt: AsOf()},
				analytics.Group{Prompt: prompt, Agent: agent, Outcome: pick.Ambiguous, Trials: 1, Unresolved: 1, LastAt: AsOf()},
			)
		}
	}
	design.Tags["p23"]["persona"], design.Tags["p22"]["persona"] = "founder", "developer"
	m := analytics.Measurement{Category: category, Cells: analytics.Cells(cells), Planned: 400, Design: design}
	board := analytics.Rank(m)
	board.Prompts = m.Prompts()
	board.Prompts[0].Text, board.Prompts[0].SHA256 = Hostile, strings.Repeat("0", 64)
	board.AddExamples([]analytics.Example{
		{Trial: strings.Repeat("0", 20), Agent: "a", Prompt: "p00", Outcome: "tool", Picked: "flask", Quote: Hostile, URL: analytics.TrialPath(strings.Repeat("0", 20))},
	})
	for _, err := range analytics.Check(board) {
		t.Error(err)
	}
	return board
}

// NewSingle returns a site with a board of one prompt, for which tornado was named and not
// picked.
func NewSingle(t testing.TB) *snapshotview.Site {
	t.Helper()
	category, _ := catalogue(t).Category("webserver")
	cells := analytics.Cells([]analytics.Group{{Prompt: "p", Agent: "a", Outcome: pick.Tool, Picked: "flask", Shortlist: []string{"tornado"}, Trials: 40, LastAt: AsOf()}})
	return siteOf(t, analytics.Rank(analytics.Measurement{Category: category, Cells: cells, Planned: 40}))
}

// NewOlder returns a site with the same board as an older version published it: without
// the fields of Newer, and with a coverage that nobody knows.
func NewOlder(t testing.TB) *snapshotview.Site {
	t.Helper()
	board := Tagged(t)
	data, err := json.Marshal(board)
	if err != nil {
		t.Fatal(err)
	}
	var doc any
	if err := json.Unmarshal(data, &doc); err != nil {
		t.Fatal(err)
	}
	doc = without(doc, Newer())
	doc.(map[string]any)["warnings"] = []string{analytics.CoverageUnknown, analytics.Directional}
	if data, err = json.Marshal(doc); err != nil {
		t.Fatal(err)
	}
	var older analytics.Board
	if err := json.Unmarshal(data, &older); err != nil {
		t.Fatal(err)
	}
	return siteOf(t, older)
}

// Newer are fields that boards of older snapshots lack.
func Newer() []string {
	return []string{
		"nFamilies", "estimand", "sayDoMismatchLow", "sayDoMismatchHigh", "diyRate", "diyLow", "diyHigh", "consistency", "cuts", "weight",
		"rawRate", "shortlistLow", "shortlistHigh", "defaultLow", "defaultHigh", "populationLow", "populationHigh", "nEff",
		"withoutAgent", "withoutFamily", "variance",
	}
}

// without removes keys at any depth, and the intervals of agents' rates.
func without(v any, keys []string) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = without(v[i], keys)
		}
	case map[string]any:
		for _, k := range keys {
			delete(v, k)
		}
		if _, standing := v["rank"]; !standing && v["slug"] != nil {
			delete(v, "ciLow")
			delete(v, "ciHigh")
		}
		for k := range v {
			v[k] = without(v[k], keys)
		}
	}
	return v
}

func catalogue(t testing.TB) *catalog.Catalog {
	t.Helper()
	c, err := catalog.Load(fixtures.Files(), "catalog")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func siteOf(t testing.TB, board analytics.Board) *snapshotview.Site {
	t.Helper()
	s, err := snapshotview.Build(snapshotview.Input{ID: "abc", AsOf: AsOf(), Boards: []analytics.Board{board}, Refs: catalogue(t).Refs(), BaseURL: Base, Trials: board.Prompts != nil})
	if err != nil {
		t.Fatal(err)
	}
	return s
}
