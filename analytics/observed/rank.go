package observed

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/analytics/stats"
	"github.com/firstpick/firstpick/fixtures/catalog"
	facts "github.com/firstpick/firstpick/fixtures/observed"
	"github.com/firstpick/firstpick/fixtures/sorting"
)

// A Category is what a board needs of the catalogue's category: the tools that a study can
// see, sorted by slug.
type Category struct {
	Slug   string         `json:"slug"`
	Name   string         `json:"name"`
	Domain catalog.Domain `json:"domain"`
	Tools  []Tool         `json:"tools"`
}

// A Tool is one of a category.
type Tool struct {
	Slug string `json:"slug"`
	Name string `json:"name"`
}

// CategoryOf returns a category with the tools that have a package or an import in one of
// the ecosystems: no other tool can be seen there.
func CategoryOf(c *catalog.Category, ecosystems []catalog.Ecosystem) Category {
	out := Category{Slug: c.Slug, Name: c.Name, Domain: c.Domain}
	for _, e := range c.Entries {
		if slices.ContainsFunc(ecosystems, func(eco catalog.Ecosystem) bool { return len(e.Packages[eco])+len(e.Imports[eco]) > 0 }) {
			out.Tools = append(out.Tools, Tool{e.Tool.Slug, e.Tool.Name})
		}
	}
	return out
}

// Rank makes the board of a category, and whether it has enough units and repositories to
// be shown. A unit counts if it uses a tool of the category. URLs are site paths.
func Rank(s *facts.Study, c Category) (Board, bool) {
	b := Board{
		Category: c.Slug, Name: c.Name, Domain: string(c.Domain), Observed: true, FieldStudy: s.Name, AsOf: s.AsOf, Estimand: s.Estimand,
		Source: s.Source, Unit: s.Unit, URL: "/observed/" + c.Slug, Tools: []Standing{}, Languages: []LanguageBoard{}, Agents: []AgentBoard{},
	}
	all := tallyOf(s, c)
	b.NUnits, b.NRepos, b.Warnings = len(all.units), len(all.repos), all.warnings()
	d := stats.NewRatio(all.sizes)
	estimates, rates := all.rates(d)
	for i, set := range d.Compare(estimates, rates).Ranks() {
		b.Tools = append(b.Tools, Standing{
			RankLow: set.Low, RankHigh: set.High, Tool: c.Tools[i].Name, Slug: c.Tools[i].Slug, Use: useOf(rates[i], sum(all.uses[i])),
			Repos: all.reposWith(i), NUnits: b.NUnits, URL: b.URL + "#" + c.Tools[i].Slug,
		})
	}
	sorting.Func(b.Tools, func(x, y Standing) int {
		return cmp.Or(cmp.Compare(y.UseRate, x.UseRate), cmp.Compare(x.RankHigh, y.RankHigh), strings.Compare(x.Slug, y.Slug))
	})
	for i := range b.Tools {
		if b.Tools[i].Rank = i + 1; i > 0 && b.Tools[i].UseRate == b.Tools[i-1].UseRate {
			b.Tools[i].Rank = b.Tools[i-1].Rank
		}
	}
	for _, g := range all.split(language) {
		b.Languages = append(b.Languages, LanguageBoard{Language: g.name, Part: g.tally.part()})
	}
	for _, g := range all.split(agent) {
		b.Agents = append(b.Agents, AgentBoard{g.name, g.tally.part()})
	}
	if len(b.Languages) > 1 {
		b.Warnings = append(b.Warnings, MixedLanguages)
		slices.Sort(b.Warnings)
	}
	return b, b.NUnits >= MinUnits && b.NRepos >= MinRepos
}

// Boards makes the boards of all studies, one of a category, sorted by category. Of several
// studies that saw one, that with most repositories has the board. omitted lists the others.
// of returns the category of a slug as a study sees it; ok is false for an unknown one.
func Boards(studies []*facts.Study, of func(s *facts.Study, slug string) (c Category, ok bool)) (boards []Board, omitted []Omitted) {
	best := map[string]Board{}
	leave := func(b Board, reason string) {
		omitted = append(omitted, Omitted{b.Category, true, b.FieldStudy, b.NUnits, b.NRepos, reason})
	}
	for _, s := range studies {
		slugs := map[string]bool{}
		for _, u := range s.Units {
			for slug := range u.Tools {
				slugs[slug] = true
			}
		}
		for _, slug := range slices.Sorted(maps.Keys(slugs)) {
			c, known := of(s, slug)
			if !known {
				omitted = append(omitted, Omitted{slug, true, s.Name, 0, 0, "the catalogue does not have this category"})
				continue
			}
			b, enough := Rank(s, c)
			other, taken := best[slug]
			switch {
			case !enough:
				leave(b, fmt.Sprintf("fewer than %d %ss or %d repositories", MinUnits, s.Unit, MinRepos))
			case taken && other.NRepos >= b.NRepos:
				leave(b, "study "+other.FieldStudy+" has as many repositories or more")
			default:
				if taken {
					leave(other, "study "+s.Name+" has more repositories")
				}
				best[slug] = b
			}
		}
	}
	sorting.Func(omitted, func(a, b Omitted) int {
		return cmp.Or(strings.Compare(a.Category, b.Category), strings.Compare(a.FieldStudy, b.FieldStudy))
	})
	for _, slug := range slices.Sorted(maps.Keys(best)) {
		boards = append(boards, best[slug])
	}
	return boards, omitted
}

func useOf(r stats.Rate, uses int) Use {
	return Use{analytics.Round(r.Value), analytics.Round(r.Interval.Low), analytics.Round(r.Interval.High), uses}
}
