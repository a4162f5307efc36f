package views

import (
	"html"
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/analytics/observed"
	"github.com/firstpick/firstpick/server/kit/render"
)

// TestCompareByCodingAgent: both forms have both use rates of each coding agent, counts in place of
// rates of few, and the source with its lines. On a board of several
// languages they are those of the language of the two.
func TestCompareByCodingAgent(t *testing.T) {
	b := seenBoard(time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC), .4)
	b.FieldStudy, b.Source.Cite = "field", "Somebody, 2026."
	use := func(rate, low, high float64, uses int) observed.Use {
		return observed.Use{UseRate: rate, CILow: low, CIHigh: high, Uses: uses}
	}
	b.Agents = []observed.AgentBoard{
		{Agent: "Devin", Part: observed.Part{NUnits: 10, NRepos: 5, Tools: []observed.Rate{{Slug: "birch", Use: use(.7, .3, .9, 7)}}}},
		{Agent: "Codex", Part: observed.Part{NUnits: 90, NRepos: 35, Tools: []observed.Rate{{Slug: "ash", Use: use(.6, .4, .8, 54)}, {Slug: "birch", Use: use(.1, .05, .2, 9)}}}},
	}
	mixed := b
	mixed.Warnings = []string{observed.MixedLanguages}
	mixed.Languages = []observed.LanguageBoard{{Language: "Python", Part: b.Whole(), Agents: b.Agents}}
	mixed.Agents = []observed.AgentBoard{{Agent: "Of all languages", Part: b.Agents[1].Part}}
	mixed.Agents[0].NUnits = 400
	for name, tt := range map[string]struct {
		board    observed.Board
		has, not []string
	}{
		"one language": {b, []string{"By coding agent", "60.0%", "40.0%–80.0%", "10.0%", "0 of 10", "7 of 10", "35", "/snapshots/abc/observed/field.jsonl.zst", "Somebody, 2026."}, []string{"70.0%", "all languages"}},
		"several":      {mixed, []string{"By coding agent", "60.0%", "7 of 10", "Counted in 100 Python pull requests", "/snapshots/abc/observed/field.jsonl.zst"}, []string{"Of all languages"}},
	} {
		r, err := New(Input{Site: render.Site{BaseURL: "https://x.example", SnapshotID: "abc"}, Observed: []observed.Board{tt.board}, Units: 100})
		if err != nil {
			t.Fatal(err)
		}
		p, ok, err := r.Compare("birch", "ash")
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
		for _, form := range []string{html.UnescapeString(string(p.HTML)), string(p.Markdown)} {
			for _, part := range tt.has {
				if !strings.Contains(form, part) {
					t.Errorf("%s lacks %q:\n%s", name, part, form)
				}
			}
			for _, part := range tt.not {
				if strings.Contains(form, part) {
					t.Errorf("%s has %q:\n%s", name, part, form)
				}
			}
			if codex, devin := strings.Index(form, "Codex"), strings.Index(form, "Devin"); codex > devin {
				t.Errorf("%s: the agent with few pull requests comes first", name)
			}
		}
	}
}

// TestSightings: a tool has a place in each language in which it was used, where there was a choice
// first. A rate with a wide interval is shown as counts.
func TestSightings(t *testing.T) {
	use := func(slug string, rate, low, high float64, uses int) observed.Rate {
		return observed.Rate{Slug: slug, Use: observed.Use{UseRate: rate, CILow: low, CIHigh: high, Uses: uses}}
	}
	part := func(n int, tools ...observed.Rate) observed.Part { return observed.Part{NUnits: n, Tools: tools} }
	b := observed.Board{Category: "store", Unit: "pull request", Warnings: []string{observed.MixedLanguages}, Tools: []observed.Standing{{Slug: "ash"}, {Slug: "birch"}, {Slug: "cedar"}}, Languages: []observed.LanguageBoard{
		{Language: "Go", Part: part(30, use("ash", 1, .8, 1, 30))},
		{Language: "Python", Part: part(100, use("cedar", .7, .6, .8, 70), use("ash", .2, .1, .3, 20), use("birch", .1, 0, .9, 10))},
	}}
	seen := sightingsOf([]observed.Board{b})
	for slug, want := range map[string][]struct{ language, rate, sentence string }{
		"ash":   {{"Python", "20.0%", "agents used Ash in 20.0% of the 100 Python pull requests"}, {"Go", "30 of 30", "Ash is the only listed tool that agents used in 30 Go pull requests."}},
		"birch": {{"Python", "10 of 100", "agents used Birch in 10 of the 100 Python pull requests that use a listed tool (10.0%, 95% CI 0.0%–90.0%); other repositories may differ much."}},
		"cedar": {{"Python", "70.0%", "agents used Cedar in 70.0%"}},
	} {
		for i, s := range seen[slug] {
			if len(seen[slug]) != len(want) || s.Language != want[i].language || s.rate() != want[i].rate || !strings.Contains(s.sentence(render.Capital(slug)), want[i].sentence) {
				t.Errorf("%s: %s, %s, %s", slug, s.Language, s.rate(), s.sentence(render.Capital(slug)))
			}
		}
	}
	if !seen["birch"][0].overlaps() || seen["ash"][1].overlaps() || !seen["cedar"][0].overlaps() {
		t.Error("intervals that overlap")
	}
}
