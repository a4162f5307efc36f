package views

import (
	"fmt"
	"html"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/analytics/observed"
	"github.com/firstpick/firstpick/fixtures/catalog"
)

// duel is a board of 20 prompts on which Ash leads Birch by a little, and of six other tools.
func duel() analytics.Board {
	category := &catalog.Category{Slug: "web", Name: "Web", Domain: catalog.DevTools}
	for _, name := range strings.Fields("Ash Birch Cedar Elm Fir Oak Pine Yew") {
		category.Entries = append(category.Entries, catalog.Entry{Tool: &catalog.Tool{Slug: strings.ToLower(name), Name: name, Home: category}})
	}
	m := analytics.Measurement{Category: category, Planned: 800}
	for p := range 20 {
		ash := 7 + p*7%12
		c := analytics.Cell{Prompt: fmt.Sprintf("eval/p%02d", p), Agent: "a", Trials: 20, FirstUnknown: 1}
		c.Outcomes.Tool = 20
		c.Tools = []analytics.ToolCount{{Slug: "ash", Picks: ash - 2, Shortlists: ash - 2}, {Slug: "birch", Picks: 18 - ash, Shortlists: 18 - ash}, {Slug: "cedar", Picks: 4, Shortlists: 4}}
		m.Cells = append(m.Cells, c)
	}
	b := analytics.Rank(m)
	b.Prompts = m.Prompts()
	return b
}

// TestAPairHasTwoTests: that of the pair alone, and that with all pairs of the board.
func TestAPairHasTwoTests(t *testing.T) {
	b := duel()
	l := leadOn(&b, b.Tools[0], b.Tools[1])
	if !l.Alone || !l.Significant || l.All == nil || l.All.Significant || l.All.Pairs != "28" {
		t.Fatalf("%+v, all %+v", l, l.All)
	}
	if got := compareSentence(&b, b.Tools[0], b.Tools[1]); !strings.Contains(got, "significant for this pair alone, not with all 28 pairs of the board at once") {
		t.Error(got)
	}
	in := Input{Boards: []analytics.Board{b}}
	r, err := New(in)
	if err != nil {
		t.Fatal(err)
	}
	p, _, err := r.Compare("ash", "birch")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<b>Significant? yes</b>", "for this pair alone, p " + l.P, "Significant? not yet", "with all 28 pairs of tools at once, p " + l.All.P + ": " + l.All.Interval} {
		if !strings.Contains(html.UnescapeString(string(p.HTML)), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	for _, want := range []string{l.Interval + " for this pair alone. Significant? Yes, p " + l.P, "With all 28 pairs of tools at once: " + l.All.Interval + ". Significant? Not yet, p " + l.All.P} {
		if !strings.Contains(string(p.Markdown), want) {
			t.Errorf("the markdown lacks %q", want)
		}
	}
}

// TestTheOrderTurnsWhereItDoes: the short sentence says so in either order of the names.
func TestTheOrderTurnsWhereItDoes(t *testing.T) {
	use := func(rate float64) observed.Use { return observed.Use{UseRate: rate, Uses: 10} }
	for _, c := range []struct {
		ash, birch, ashWithout, birchWithout float64
		turns                                bool
	}{{.1, .6, .2, .7, false}, {.6, .1, .7, .2, false}, {.1, .6, .7, .2, true}, {.6, .1, .2, .7, true}} {
		without := observed.Part{NUnits: 60, Tools: []observed.Rate{{Slug: "ash", Use: use(c.ashWithout)}, {Slug: "birch", Use: use(c.birchWithout)}}}
		b := observed.Board{Unit: "pull request", NUnits: 100, Tools: []observed.Standing{{Tool: "Ash", Slug: "ash"}, {Tool: "Birch", Slug: "birch"}}}
		s := pairSeen{Board: &b, First: use(c.ash), Second: use(c.birch), Part: observed.Part{NUnits: 100, Largest: &observed.Largest{NUnits: 40, Without: without}}}
		if got := s.short("Ash", "Birch"); strings.Contains(got, "the order turns") != c.turns {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

// TestUntestedDifference: a difference is known from 50 pull requests in 20 repositories on, where its interval
// leaves out something; else the sentence begins with why it is not.
func TestUntestedDifference(t *testing.T) {
	tested := observed.Pair{Diff: .5, CILow: .2, CIHigh: .7, P: .01, Shown: true}
	for why, tt := range map[string]struct {
		units, repos int
		pair         observed.Pair
		large        *observed.Largest
	}{
		"":                                 {50, 20, tested, nil},
		"fewer than 50 pull requests":      {49, 20, tested, nil},
		"fewer than 20 repositories":       {50, 19, tested, &observed.Largest{NUnits: 20}},
		"the repositories differ too much": {50, 20, observed.Pair{CILow: -1, CIHigh: 1}, nil},
		"one repository has 40% of the pull requests": {50, 20, observed.Pair{CILow: -1, CIHigh: 1}, &observed.Largest{NUnits: 20}},
	} {
		use := func(rate float64) observed.Use {
			return observed.Use{UseRate: rate, CILow: rate - .1, CIHigh: rate + .1, Uses: int(50 * rate)}
		}
		b := observed.Board{Unit: "pull request", Tools: []observed.Standing{{Tool: "Ash", Slug: "ash"}, {Tool: "Birch", Slug: "birch"}}}
		s := pairSeen{Board: &b, First: use(.7), Second: use(.2), Part: observed.Part{NUnits: tt.units, NRepos: tt.repos, Largest: tt.large, Pairs: map[[2]string]observed.Pair{{"ash", "birch"}: tt.pair}}}
		for _, text := range []string{s.short("Ash", "Birch"), s.sentence("Ash", "Birch")} {
			if known := strings.Contains(text, "significant"); known != (why == "") || !known && !strings.HasPrefix(text, "The difference is not known: "+why+". In real work") {
				t.Errorf("%s: %s", why, text)
			}
		}
		if l := s.lead("ash", "birch"); tt.units >= 50 && (l == nil || l.Unknown != why) || tt.units < 50 && l != nil {
			t.Errorf("%s: %+v", why, l)
		}
	}
}

// TestFirstWithoutTheLargestRepository: the card of an observed board says which tool is first without a
// repository that is large, if another is.
func TestFirstWithoutTheLargestRepository(t *testing.T) {
	tools := func(ash, birch float64) []observed.Rate {
		return []observed.Rate{{Slug: "ash", Use: observed.Use{UseRate: ash}}, {Slug: "birch", Use: observed.Use{UseRate: birch}}}
	}
	one := []string{observed.OneRepository}
	for name, c := range map[string]struct {
		warnings []string
		without  []observed.Rate
		units    int
		want     string
	}{
		"it turns":        {one, tools(.1, .4), 50, "birch"},
		"it stays":        {one, tools(.4, .1), 50, ""},
		"a tie":           {one, tools(.4, .4), 50, ""},
		"a tie of others": {one, append(tools(.1, .4), observed.Rate{Slug: "cedar", Use: observed.Use{UseRate: .4}}), 50, ""},
		"it is not there": {one, tools(.1, .4)[1:], 50, "birch"},
		"not so large":    {nil, tools(.1, .4), 50, ""},
		"nothing left":    {one, nil, 0, ""},
		"too little left": {one, tools(.1, .4), 49, ""},
	} {
		p := observed.Part{Tools: tools(.7, .2), Warnings: c.warnings, Largest: &observed.Largest{Without: observed.Part{NUnits: c.units, Tools: c.without}}}
		if got := firstWithout(p); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
