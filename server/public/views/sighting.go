package views

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/analytics/observed"
	"github.com/firstpick/firstpick/fixtures/sorting"
	"github.com/firstpick/firstpick/server/kit/chart"
	"github.com/firstpick/firstpick/server/kit/render"
)

// A sighting is a tool on an observed board. On a board of several languages it is on the part
// in one of them, because it can only be used in its own.
type sighting struct {
	Board    *observed.Board
	Part     observed.Part
	Language string // of the part; empty for the whole board
	Use      observed.Use
}

// sightingsOf returns where each tool was observed: where it was used first, and of those where there was a
// choice, then where there is enough data for a rate, then where it was used most. It has also the tools that an
// observed board lists and nobody used.
func sightingsOf(boards []observed.Board) map[string][]sighting {
	out := map[string][]sighting{}
	for i := range boards {
		for _, t := range boards[i].Tools {
			out[t.Slug] = append(out[t.Slug], sightingsOn(&boards[i], t.Slug)...)
		}
	}
	for _, list := range out {
		sorting.StableFunc(list, func(a, b sighting) int {
			return cmp.Or(falseFirst(a.Use.Uses == 0, b.Use.Uses == 0), falseFirst(a.alone(), b.alone()), falseFirst(a.few(), b.few()), b.Use.Uses-a.Use.Uses)
		})
	}
	return out
}

// falseFirst compares two booleans.
func falseFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// few reports whether there is too little data for a rate.
func (s sighting) few() bool { return s.Part.NUnits < observed.MinUnits }

// sightingsOn returns a tool in each language of a board in which it was used, or on the whole
// board where that has one language, or the tool was not used.
func sightingsOn(b *observed.Board, slug string) (out []sighting) {
	if _, several := mainPart(b); several != "" {
		for _, l := range b.Languages {
			if use, _ := useOf(l.Part, slug); use.Uses > 0 {
				out = append(out, sighting{b, l.Part, l.Language, use})
			}
		}
	}
	if len(out) == 0 {
		p := b.Whole()
		use, _ := useOf(p, slug)
		out = append(out, sighting{Board: b, Part: p, Use: use})
	}
	return out
}

// alone reports whether no other tool was used: its rate is 100 % by construction.
func (s sighting) alone() bool {
	return s.Use.Uses > 0 && usedIn(s.Part) == 1
}

// mayDiffer follows a vague rate in a sentence.
const mayDiffer = "other repositories may differ much"

// vague reports whether the interval is so wide that the rate says little about other repositories.
func (s sighting) vague() bool { return s.Use.CIHigh-s.Use.CILow > widestUse }

// wideInterval follows a vague rate in a sentence, so that it does not look firm; empty for others, and for a count.
func (s sighting) wideInterval() string {
	if _, interval := render.UseRate(s.Use, s.Part.NUnits); s.vague() && interval != "" {
		return " (95% CI " + interval + ")"
	}
	return ""
}

// rate is the use rate without its interval, or the count where that is vague or no choice.
func (s sighting) rate() string {
	if s.vague() || s.alone() {
		return render.UseCount(s.Use, s.Part.NUnits)
	}
	rate, _ := render.UseRate(s.Use, s.Part.NUnits)
	return rate
}

// portion is the use rate with its interval, or the count where that says more.
func (s sighting) portion() portion {
	if s.alone() {
		return portion{Rate: render.UseCount(s.Use, s.Part.NUnits)}
	}
	rate, interval := render.UseRate(s.Use, s.Part.NUnits)
	return portion{Rate: rate, Interval: interval}
}

func useOf(p observed.Part, slug string) (observed.Use, bool) {
	if i := slices.IndexFunc(p.Tools, func(t observed.Rate) bool { return t.Slug == slug }); i >= 0 {
		return p.Tools[i].Use, true
	}
	return observed.Use{}, false
}

// unitsOf is what the rates of a part are of: 60 Python pull requests.
func unitsOf(b *observed.Board, p observed.Part, language string) string {
	noun := b.Unit
	if language != "" {
		noun = language + " " + noun
	}
	return quantity(p.NUnits, noun)
}

// amongUnits is what the rates of a part are of, in a sentence: the 60 Python pull requests that
// use a listed tool.
func amongUnits(b *observed.Board, p observed.Part, language string) string {
	if p.NUnits == 1 {
		return "the only " + strings.TrimPrefix(unitsOf(b, p, language), "1 ") + " that uses a listed tool"
	}
	return "the " + unitsOf(b, p, language) + " that use a listed tool"
}

// inExisting begins a sentence about real work.
const inExisting = "In real work (observed, mostly on existing code)"

// sentence says in how much real work a tool was used.
func (s sighting) sentence(tool string) string {
	units := amongUnits(s.Board, s.Part, s.Language)
	if s.Use.Uses == 0 {
		return fmt.Sprintf("%s, no agent used %s in %s.", inExisting, tool, units)
	}
	switch {
	case s.alone():
		return fmt.Sprintf("%s, %s is the only listed tool that agents used in %s.", inExisting, tool, unitsOf(s.Board, s.Part, s.Language))
	case s.vague():
		text := fmt.Sprintf("%s, agents used %s in %s of %s", inExisting, tool, chart.Whole(int64(s.Use.Uses)), units)
		if rate, interval := render.UseRate(s.Use, s.Part.NUnits); interval != "" {
			text += fmt.Sprintf(" (%s, 95%% CI %s)", rate, interval)
		}
		return text + "; " + mayDiffer + "."
	}
	return fmt.Sprintf("%s, agents used %s in %s of %s.", inExisting, tool, useShare(s.Use, s.Part.NUnits), units)
}

// rankRange returns the ranks that are possible; ok is false for a part of a board, which has no
// test of its own.
func (s sighting) rankRange() (low, high int, ok bool) {
	i := slices.IndexFunc(s.Board.Tools, func(o observed.Standing) bool { return o.Use == s.Use })
	if s.Language != "" || i < 0 {
		return 0, 0, false
	}
	return s.Board.Tools[i].RankLow, s.Board.Tools[i].RankHigh, true
}

// place returns the rank of the tool in its part, and how many tools were used there.
func (s sighting) place() (rank, used int) {
	rank = 1
	for _, t := range s.Part.Tools {
		if t.UseRate > s.Use.UseRate {
			rank++
		}
	}
	return rank, usedIn(s.Part)
}

// usersOf returns the agents of an observed board, or of its part in a language.
func usersOf(b *observed.Board, language string) []observed.AgentBoard {
	if language == "" {
		return b.Agents
	}
	i := slices.IndexFunc(b.Languages, func(l observed.LanguageBoard) bool { return l.Language == language })
	if i < 0 {
		return nil
	}
	return b.Languages[i].Agents
}

// overlaps reports whether the interval of a tool that was used overlaps that of another in its
// part, so that their order is not known.
func (s sighting) overlaps() bool {
	n := 0
	for _, t := range s.Part.Tools {
		if t.Uses > 0 && t.CILow <= s.Use.CIHigh && s.Use.CILow <= t.CIHigh {
			n++
		}
	}
	return n > 1 // itself
}

// A seenPlace is what a page shows of tools on an observed board.
type seenPlace struct {
	Name, Link, Source string
	Category, Unit     string
	Of                 string
	Age                age
	Near               render.Forest // the tools among others
	Agents             []observedUse // of one tool
	More               string        // what the board has beyond these tools; empty for nothing
	Again              bool          // another place of the page has the same study: the boards list different tools
	OtherLanguage      bool          // of the same board
	Rule               string        // when counts stand for rates
	Count              string        // how often one tool was used, of how many units
	Cite               string
}

// An observedUse is how often one agent used a tool. Interval is empty for a count, Chips are its warnings.
type observedUse struct {
	Agent, Rate, Interval, N string
	Counted                  bool // Rate is a count, with N
	Chips                    []string
}

// Units is the heading of a column of counts.
func (s seenPlace) Units() string { return render.Capital(s.Unit) + "s" }

// seenPlace describes a part of an observed board around some of its tools.
func (r *Renderer) seenPlace(b *observed.Board, p observed.Part, language string, slugs ...string) seenPlace {
	d := seenPlace{Name: b.Name, Category: b.Category, Unit: b.Unit, Rule: useRule(b.Unit), Link: observedPath(b.Category), Source: b.Cite(), Age: seenAgeOf(b, r.in.Now), Near: r.nearSeen(b, p, language, slugs)}
	if language != "" {
		d.Name += ", " + language
	}
	shown, all := len(d.Near.Rows), len(slices.DeleteFunc(slices.Clone(p.Tools), func(t observed.Rate) bool { return t.Uses == 0 }))
	if n := all - shown; n > 0 {
		d.More = quantity(n, "more tool") + " on the board"
	}
	d.Of = unitsOf(b, p, language) + " of " + chart.Count(p.NRepos, "repository", "repositories")
	agents := usersOf(b, language)
	if len(slugs) != 1 || len(agents) < 2 {
		return d
	}
	for _, a := range agents {
		use, _ := useOf(a.Part, slugs[0])
		u := observedUse{Agent: a.Agent, N: chart.Whole(int64(a.NUnits)), Chips: partChips(b, a.Part)}
		u.Rate, u.Interval = render.UseRate(use, a.NUnits)
		u.Counted = u.Interval == ""
		d.Agents = append(d.Agents, u)
	}
	return d
}

// partOf returns a part of an observed board as a board: its tools by rate. Only a whole board is tested,
// so the tools of a language have no ranks.
func partOf(b *observed.Board, p observed.Part, language string) observed.Board {
	part := *b
	part.Tools, part.NUnits = nil, p.NUnits
	_, used := sighting{Board: b, Part: p}.place()
	ranked := amongUsed(b)
	for _, t := range p.Tools {
		s := observed.Standing{Tool: observedName(b, t.Slug), Slug: t.Slug, Use: t.Use, Repos: t.Repos, InOne: t.InOne, NUnits: p.NUnits}
		if i := slices.IndexFunc(b.Tools, func(o observed.Standing) bool { return o.Slug == t.Slug }); i >= 0 && language == "" {
			s = ranked[i]
		}
		if language == "" && s.RankLow == 1 && s.RankHigh >= used {
			s.Rank = 0
		}
		part.Tools = append(part.Tools, s)
	}
	return part
}

// amongUsed returns the tools of a board with their ranks among the used ones. Those without a use have
// the same data, so either all or none of them widen a range.
func amongUsed(b *observed.Board) []observed.Standing {
	out := slices.Clone(b.Tools)
	unused := len(slices.DeleteFunc(slices.Clone(b.Tools), func(s observed.Standing) bool { return s.Uses > 0 }))
	for i := range out {
		if out[i].Uses > 0 && out[i].RankHigh > len(out)-unused {
			out[i].RankHigh -= unused
		}
	}
	return out
}

// partForest draws a part of an observed board. Only a board's own rows are places of the page.
func (r *Renderer) partForest(part *observed.Board, language string, least float64) render.Forest {
	f := render.NewObservedForest(part, least, r.seenPath)
	f.Rest = nil
	for i := range f.Rows {
		row := &f.Rows[i]
		if row.Slug = ""; language != "" { // ranges of ranks are of the whole board
			row.Ranks, row.Firm = "", false
		}
	}
	return f
}

// nearSeen draws tools among those that were used about as often.
func (r *Renderer) nearSeen(b *observed.Board, p observed.Part, language string, slugs []string) render.Forest {
	part := partOf(b, p, language)
	low, high := math.MaxInt, -1
	for i, t := range part.Tools {
		if slices.Contains(slugs, t.Slug) && t.Uses > 0 {
			low, high = min(low, i), max(high, i)
		}
	}
	all := part.Tools
	from, to := firstOf(low), min(len(all), high+nearRivals+1)
	if len(slugs) > 1 { // a comparison shows the two alone
		all = slices.DeleteFunc(slices.Clone(all), func(s observed.Standing) bool { return !slices.Contains(slugs, s.Slug) })
		from, to = 0, len(all)
	} else if high < 0 { // nobody used it
		from, to = 0, min(len(all), nearRivals)
	}
	part.Tools = slices.Clone(all[from:to])
	if from > 0 {
		part.Tools = append([]observed.Standing{all[0]}, part.Tools...)
	}
	f := r.partForest(&part, language, 0)
	f.Skip(1, from-1, observedPath(b.Category))
	rows := slices.DeleteFunc(part.Tools, func(s observed.Standing) bool { return s.Uses == 0 })
	for i := range f.Rows {
		if row := &f.Rows[i]; slices.Contains(slugs, rows[i].Slug) {
			if row.Lead = true; len(slugs) == 1 {
				row.Link = ""
			}
		}
	}
	return f
}

// seenPath is the page of a tool of an observed board; empty where it has none.
func (r *Renderer) seenPath(slug string) string {
	if r.tools[slug] == nil {
		return ""
	}
	return toolPath(slug)
}
