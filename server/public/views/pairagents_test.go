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
// languages they are of all.
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
	mixed.Languages = []observed.LanguageBoard{{Language: "Python", Part: wholePart(&b)}}
	for name, tt := range map[string]struct {
		board    observed.Board
		has, not []string
	}{
		"one language": {b, []string{"By coding agent", "60.0%", "40.0%–80.0%", "10.0%", "0 of 10", "7 of 10", "35", "/snapshots/abc/observed/field.jsonl.zst", "Somebody, 2026."}, []string{"70.0%", "all languages"}},
		"several":      {mixed, []string{"does not split its agents by language", "in all languages", "7 of 10", "/snapshots/abc/observed/field.jsonl.zst"}, []string{"Counted in"}},
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
