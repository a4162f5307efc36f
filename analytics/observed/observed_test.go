package observed_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/analytics/observed"
	"github.com/firstpick/firstpick/fixtures"
	"github.com/firstpick/firstpick/fixtures/catalog"
	facts "github.com/firstpick/firstpick/fixtures/observed"
	"github.com/firstpick/firstpick/runner/pick"
)

func builtIn(t *testing.T) *catalog.Catalog {
	t.Helper()
	c, err := catalog.Load(fixtures.Files(), "catalog")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func builtInStudy(t *testing.T) *facts.Study {
	t.Helper()
	s, err := facts.Load(fixtures.Files(), facts.PullRequests)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func lookup(c *catalog.Catalog) func(*facts.Study, string) (observed.Category, bool) {
	return func(s *facts.Study, slug string) (observed.Category, bool) {
		cat, ok := c.Category(slug)
		if !ok {
			return observed.Category{}, false
		}
		return observed.CategoryOf(cat, s.Ecosystems), true
	}
}

func board(t *testing.T, c *catalog.Catalog, category string) observed.Board {
	t.Helper()
	s := builtInStudy(t)
	of, ok := lookup(c)(s, category)
	b, enough := observed.Rank(s, of)
	if !ok || !enough {
		t.Fatalf("%s has no board", category)
	}
	return b
}

// TestBoardsOfTheBuiltInStudy: at least 15 general categories have enough, and what each
// board says holds together.
func TestBoardsOfTheBuiltInStudy(t *testing.T) {
	c := builtIn(t)
	boards, omitted := observed.Boards([]*facts.Study{builtInStudy(t)}, lookup(c))
	general := 0
	for _, b := range boards {
		cat, _ := c.Category(b.Category)
		if cat.Study == "" {
			general++
		}
		t.Logf("%-18s %4d pull requests %3d repositories %v, first %s %.0f%% [%.0f, %.0f]", b.Category, b.NUnits, b.NRepos, b.Warnings,
			b.Tools[0].Slug, 100*b.Tools[0].UseRate, 100*b.Tools[0].CILow, 100*b.Tools[0].CIHigh)
		if !b.Observed || b.NUnits < observed.MinUnits || b.NRepos < observed.MinRepos || b.Estimand == "" || b.Source.Cite == "" {
			t.Errorf("%+v", b)
		}
		languages, agents := 0, 0
		for _, l := range b.Languages {
			languages += l.NUnits
			if small := l.NUnits < observed.MinUnits; small != slices.Contains(l.Warnings, observed.FewUnits) {
				t.Errorf("%s, %s: %d units, warnings %v", b.Category, l.Language, l.NUnits, l.Warnings)
			}
		}
		for _, a := range b.Agents {
			agents += a.NUnits
		}
		if languages != b.NUnits || agents != b.NUnits {
			t.Errorf("%s: %d units, %d by language, %d by agent", b.Category, b.NUnits, languages, agents)
		}
		for i, s := range b.Tools {
			inOrder := 0 <= s.CILow && s.CILow <= s.UseRate && s.UseRate <= s.CIHigh && s.CIHigh <= 1 && s.RankLow <= s.Rank && s.Rank <= s.RankHigh
			if !inOrder || math.Abs(s.UseRate-float64(s.Uses)/float64(b.NUnits)) > 1e-6 || i > 0 && s.UseRate > b.Tools[i-1].UseRate {
				t.Errorf("%s: %+v", b.Category, s)
			}
		}
	}
	if general < 15 {
		t.Errorf("%d general categories have a board", general)
	}
	for _, o := range omitted {
		if !o.Observed || o.Reason == "" || o.NUnits >= observed.MinUnits && o.NRepos >= observed.MinRepos {
			t.Errorf("%+v", o)
		}
	}
}

// study makes units of repositories: each text is "repo agent language tool+tool".
func study(name string, lines ...string) *facts.Study {
	s := &facts.Study{Name: name, Unit: facts.Commit, Ecosystems: []catalog.Ecosystem{catalog.NPM}}
	for i, line := range lines {
		w := strings.Fields(line)
		s.Units = append(s.Units, facts.Unit{ID: fmt.Sprint(name, i), Repo: w[0], Agent: w[1], Language: w[2], Tools: map[string][]string{"c": strings.Split(w[3], "+")}})
	}
	return s
}

func category(slugs ...string) observed.Category {
	c := observed.Category{Slug: "c", Name: "C", Domain: catalog.DevTools}
	for _, slug := range slugs {
		c.Tools = append(c.Tools, observed.Tool{Slug: slug, Name: strings.ToUpper(slug)})
	}
	return c
}

// TestCountedAtLoad: the agents of the languages add up to those of the board.
func TestCountedAtLoad(t *testing.T) {
	s, of, split, single := builtInStudy(t), lookup(builtIn(t)), 0, 0
	boards, _ := observed.Boards([]*facts.Study{s}, of)
	for i := range boards {
		b := &boards[i]
		c, _ := of(s, b.Category)
		b.Recount(s, c)
		if len(b.Languages) < 2 {
			if len(b.Languages) == 1 && b.Languages[0].Agents != nil {
				t.Errorf("%s has one language", b.Category)
			}
			for _, a := range b.Agents {
				for _, r := range a.Tools {
					if r.Uses > 0 && (r.Repos == 0 || r.InOne == 0 || r.InOne > r.Uses) {
						t.Errorf("%s, %s: %+v", b.Category, a.Agent, r)
					}
				}
			}
			ahead := map[string]int{} // by slug: tools that the pairs show ahead of it
			for slugs, p := range b.Pairs {
				if p.Together == nil || p.Together.Shown != (p.Together.CILow > 0) || p.Together.CILow > p.Diff || p.Together.CIHigh < p.Diff || p.Together.P < p.P-1e-9 {
					t.Fatalf("%s, %v: %+v, all pairs %+v", b.Category, slugs, p, p.Together)
				}
				if p.Together.Shown {
					ahead[slugs[1]]++
				}
			}
			for _, r := range b.Languages[0].Tools[:min(12, len(b.Languages[0].Tools))] {
				if i := slices.IndexFunc(b.Tools, func(o observed.Standing) bool { return o.Slug == r.Slug }); b.Tools[i].RankLow != 1+ahead[r.Slug] {
					t.Errorf("%s, %s: %d tools are ahead by the pairs, its rank begins at %d", b.Category, r.Slug, ahead[r.Slug], b.Tools[i].RankLow)
				}
				single++
			}
			continue
		}
		split++
		for _, l := range b.Languages {
			for slugs, p := range l.Pairs {
				at := func(slug string) observed.Use {
					return l.Tools[slices.IndexFunc(l.Tools, func(r observed.Rate) bool { return r.Slug == slug })].Use
				}
				if x, y := at(slugs[0]), at(slugs[1]); math.Abs(x.UseRate-y.UseRate-p.Diff) > 2e-6 || p.Diff <= 0 || p.CILow > p.Diff || p.CIHigh < p.Diff || p.Shown != (p.CILow > 0) ||
					p.CIHigh > x.CIHigh-y.CILow+2e-6 && p.Known() {
					t.Errorf("%s in %s, %v: %+v of %+v and %+v", b.Category, l.Language, slugs, p, x, y)
				}
			}
			if got, want := l.Largest != nil, slices.Contains(l.Warnings, observed.OneRepository); got != want {
				t.Errorf("%s in %s: the largest repository is counted: %t, want %t", b.Category, l.Language, got, want)
			} else if got && (l.Largest.Without.NUnits != l.NUnits-l.Largest.NUnits || l.Largest.Without.NRepos != l.NRepos-1 || l.Largest.Repo == "") {
				t.Errorf("%s in %s: %d units, without the largest repository %+v", b.Category, l.Language, l.NUnits, l.Largest)
			}
		}
		units, uses := map[string]int{}, map[string]int{}
		for _, l := range b.Languages {
			n := 0
			for _, a := range l.Agents {
				n += a.NUnits
				units[a.Agent] += a.NUnits
				for _, r := range a.Tools {
					uses[a.Agent+" "+r.Slug] += r.Uses
				}
			}
			if n != l.NUnits {
				t.Errorf("%s in %s: %d units of agents, %d in all", b.Category, l.Language, n, l.NUnits)
			}
		}
		for _, a := range b.Agents {
			if units[a.Agent] != a.NUnits {
				t.Errorf("%s, %s: %d units in languages, %d in all", b.Category, a.Agent, units[a.Agent], a.NUnits)
			}
			for _, r := range a.Tools {
				if uses[a.Agent+" "+r.Slug] != r.Uses {
					t.Errorf("%s, %s, %s: %d uses in languages, %d in all", b.Category, a.Agent, r.Slug, uses[a.Agent+" "+r.Slug], r.Uses)
				}
			}
		}
	}
	if split < 3 || single == 0 {
		t.Errorf("%d boards have several languages, those of one have %d tools", split, single)
	}
}

func TestAUnitCountsForEachOfItsTools(t *testing.T) {
	s := study("s", "r1 Codex Go a+b", "r1 Codex Go a", "r2 Devin Go b", "r2 Devin Go gone", "r3 Devin Rust gone")
	b, enough := observed.Rank(s, category("a", "b", "z"))
	if enough || b.NUnits != 3 || b.NRepos != 2 {
		t.Errorf("%d units in %d repositories, enough %t", b.NUnits, b.NRepos, enough)
	}
	if b.Tools[0].UseRate != 0.666667 || b.Tools[0].Rank != 1 || b.Tools[1].Rank != 1 || b.Tools[2].Uses != 0 || b.Tools[2].Rank != 3 {
		t.Errorf("%+v", b.Tools)
	}
	if want := []string{observed.FewRepositories, observed.FewUnits, observed.OneRepository}; !slices.Equal(b.Warnings, want) {
		t.Errorf("warnings %v", b.Warnings)
	}
	empty, _ := observed.Rank(study("s"), category("a"))
	if empty.NUnits != 0 || empty.Tools[0].UseRate != 0 || empty.Tools[0].CIHigh != 1 {
		t.Errorf("without units: %+v", empty.Tools)
	}
}

func TestOneStudyHasTheBoardOfACategory(t *testing.T) {
	var small, large []string
	for i := range 60 {
		small, large = append(small, fmt.Sprintf("r%d Codex Go a", i%25)), append(large, fmt.Sprintf("r%d Codex Go b", i))
	}
	of := func(*facts.Study, string) (observed.Category, bool) { return category("a", "b"), true }
	for _, order := range [][]*facts.Study{{study("one", small...), study("two", large...)}, {study("two", large...), study("one", small...)}} {
		boards, omitted := observed.Boards(order, of)
		if len(boards) != 1 || boards[0].FieldStudy != "two" || len(omitted) != 1 || omitted[0].FieldStudy != "one" {
			t.Errorf("%+v, %+v", boards, omitted)
		}
	}
}

// measurement makes trials: each text is "prompt tool picks of ten".
func measurement(lines ...string) analytics.Measurement {
	cat := &catalog.Category{Slug: "c"}
	for _, slug := range []string{"a", "b", "d", "e", "f"} {
		cat.Entries = append(cat.Entries, catalog.Entry{Tool: &catalog.Tool{Slug: slug}})
	}
	var groups []analytics.Group
	for _, line := range lines {
		var prompt, tool string
		var n int
		_, _ = fmt.Sscan(line, &prompt, &tool, &n)
		groups = append(groups, analytics.Group{Prompt: prompt, Agent: "x", Outcome: pick.Tool, Picked: tool, Trials: n})
	}
	return analytics.Measurement{Category: cat, Cells: analytics.Cells(groups)}
}

func TestAgreement(t *testing.T) {
	var lines []string
	for i := range 40 {
		lines = append(lines, fmt.Sprintf("r%d Codex Go a", i))
		for k, tool := range []string{"b", "d", "e"} {
			if i%(k+2) == 0 {
				lines = append(lines, fmt.Sprintf("r%d Codex Go %s", i, tool))
			}
		}
	}
	s := study("s", lines...)
	var same, reverse []string
	for p := range 12 {
		for k, tool := range []string{"a", "b", "d", "e"} {
			same = append(same, fmt.Sprintf("p%d %s %d", p, tool, 9-2*k))
			reverse = append(reverse, fmt.Sprintf("p%d %s %d", p, tool, 2*k+1))
		}
	}
	tools := category("a", "b", "d", "e", "f")
	for name, tt := range map[string]struct {
		trials []string
		tau    float64
	}{"same": {same, 1}, "reverse": {reverse, -1}} {
		got := observed.Agreement(measurement(tt.trials...), s, tools, 1)
		if got == nil || !got.Observed || got.Tau != tt.tau || got.Tools != 4 || got.CILow > got.Tau || got.Tau > got.CIHigh || got.CIHigh-got.CILow > 1 {
			t.Errorf("%s: %+v", name, got)
			continue
		}
		if again := observed.Agreement(measurement(tt.trials...), s, tools, 1); *again != *got {
			t.Errorf("the same seed gives %+v and %+v", got, again)
		}
	}
	one := observed.Agreement(measurement(same[:4]...), s, tools, 1)
	if one == nil || one.CILow != -1 || one.CIHigh != 1 {
		t.Errorf("one prompt: %+v", one)
	}
	for name, got := range map[string]*analytics.FieldAgreement{
		"three tools":        observed.Agreement(measurement(same...), s, category("a", "b", "d"), 1),
		"equal rates":        observed.Agreement(measurement("p a 2", "p b 2", "p d 2", "p e 2", "q a 2", "q b 2", "q d 2", "q e 2"), s, tools, 1),
		"no trials, no uses": observed.Agreement(measurement(), study("s"), tools, 1),
	} {
		if got != nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
