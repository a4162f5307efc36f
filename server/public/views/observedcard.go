package views

import (
	"cmp"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/analytics/observed"
	"github.com/firstpick/firstpick/fixtures/sorting"
	"github.com/firstpick/firstpick/server/kit/chart"
	"github.com/firstpick/firstpick/server/kit/render"
)

// observedCard shows the tools of a board; of one with several languages those of the language
// with the most units, because a tool can only be used in its own.
func (r *Renderer) observedCard(b *observed.Board) card {
	p, language := mainPart(b)
	c := card{
		Name: b.Name, Link: observedPath(b.Category), URL: b.URL, Age: seenAgeOf(b, r.in.Now),
		Units: quantity(p.NUnits, b.Unit), Note: quantity(p.NUnits, b.Unit) + " · " + chart.Count(p.NRepos, "repository", "repositories") + agentShare(b, p, language),
	}
	if language == "" && len(b.Languages) == 1 {
		language = b.Languages[0].Language
	}
	if language != "" && !strings.Contains(b.Name, language) {
		c.Name += " · " + language
	}
	for _, s := range firstUsed(p) { // a pull request may use several, so each has its own bar
		c.Top = append(c.Top, usePortion(b, p, s))
		if mostlyOne(p, s) {
			c.Note += " · " + inOneText(b, s) + " in one repository"
		}
	}
	if len(c.Top) > 0 {
		c.Ruler = chart.NewAxis(1).Ruler()
	}
	if usedIn(p) == 1 {
		c.Note += " · no other listed tool was used"
	} else if c.Lead = leadOrder(p); c.Lead != "" {
		c.Note += " · lead of " + observedName(b, p.Tools[0].Slug) + " " + c.Lead
	}
	return c
}

// agentShare says which agent made most units of a part, and its share: " · 55% by Devin". It is empty where that is not
// known.
func agentShare(b *observed.Board, p observed.Part, language string) string {
	agents := usersOf(b, language)
	if len(agents) == 0 || p.NUnits == 0 {
		return ""
	}
	most := slices.MaxFunc(agents, func(x, y observed.AgentBoard) int { return x.NUnits - y.NUnits })
	if len(agents) == 1 {
		return " · " + most.Agent
	}
	return " · " + shareText(most.NUnits, p.NUnits) + " by " + most.Agent
}

// mostByOne is agentShare where one agent made more than half of the units of a part; empty for others.
func mostByOne(b *observed.Board, p observed.Part, language string) string {
	if !slices.ContainsFunc(usersOf(b, language), func(a observed.AgentBoard) bool { return 2*a.NUnits > p.NUnits }) {
		return ""
	}
	return agentShare(b, p, language)
}

// leadOrder returns whether the lead of the first tool over each other one is clear, with all pairs of the part compared at
// once: as the ranks of the board are, or with each p-value times the number of pairs (Bonferroni). It is empty where
// they were not compared, where no other tool was used, and of fewer than observed.MinUnits units or observed.MinRepos
// repositories.
func leadOrder(p observed.Part) string {
	if usedIn(p) < 2 || p.Pairs == nil || p.NUnits < observed.MinUnits || p.NRepos < observed.MinRepos {
		return ""
	}
	all := float64(len(p.Tools)*(len(p.Tools)-1)) / 2
	for _, t := range p.Tools[1:] {
		pair, ok := p.Pairs[[2]string{p.Tools[0].Slug, t.Slug}]
		switch {
		case t.Uses == 0 || ok && pair.Together != nil && pair.Together.Shown:
		case ok && pair.Together == nil && pair.Shown && pair.P*all < .05:
		default:
			return "not clear"
		}
	}
	return leadClear
}

// leadClear is what leadOrder returns of a clear lead.
const leadClear = "clear"

// unprovenPair reports whether a tool of a part is not significantly ahead of another: with all tools of the board
// compared at once where they are, else for this pair alone. It is false where nothing was compared, as in
// boards of older programs.
func unprovenPair(p observed.Part, ahead, behind string) bool {
	pair, ok := p.Pairs[[2]string{ahead, behind}]
	return p.Pairs != nil && (!ok || !pair.Shown || pair.Together != nil && !pair.Together.Shown)
}

// usePortion is a tool of an observed board on a card.
func usePortion(b *observed.Board, p observed.Part, t observed.Rate) portion {
	m := useMark(p, t)
	out := portion{Tool: observedName(b, t.Slug), Rate: m.Text, Bar: chart.NewAxis(1).Forest(m)}
	if m.Interval {
		out.Interval = render.Interval(t.CILow, t.CIHigh)
	}
	return out
}

// useMark draws a rate with its interval, and a count without one: also where each unit uses the tool because no other
// was used.
func useMark(p observed.Part, t observed.Rate) chart.Mark {
	rate, interval := render.UseRate(t.Use, p.NUnits)
	m := chart.Mark{Rate: t.UseRate, Low: t.CILow, High: t.CIHigh, Interval: interval != "", Text: rate}
	if usedIn(p) == 1 {
		m.Text, m.Interval = render.UseCount(t.Use, p.NUnits), false
	}
	if !m.Interval {
		m.Class = chart.Tick
	}
	return m
}

// usedIn returns how many tools of a part were used.
func usedIn(p observed.Part) (n int) {
	for _, t := range p.Tools {
		if t.Uses > 0 {
			n++
		}
	}
	return n
}

// firstUsed returns the first tools of a part for a card, of those with observed.MinUses. Of tools with the same
// rate that with the narrower interval comes first: its uses are spread over more repositories. Tools that
// tie for the last place are all shown where they are one too many, and none where they are more.
func firstUsed(p observed.Part) []observed.Rate {
	tools := slices.DeleteFunc(slices.Clone(p.Tools), func(t observed.Rate) bool { return t.Uses < observed.MinUses })
	sorting.StableFunc(tools, func(a, b observed.Rate) int {
		return cmp.Or(cmp.Compare(b.UseRate, a.UseRate), cmp.Compare(a.CIHigh-a.CILow, b.CIHigh-b.CILow))
	})
	if len(tools) <= cardTools {
		return tools
	}
	last := tools[cardTools-1].UseRate
	tied := func(t observed.Rate) bool { return t.UseRate == last }
	first, end := slices.IndexFunc(tools, tied), cardTools
	for end < len(tools) && tied(tools[end]) {
		end++
	}
	if end > cardTools+1 && first > 0 {
		end = first
	}
	return tools[:min(end, cardTools+1)]
}

// observedNote says what the card of a board shows: TypeScript, 195 pull requests · 62
// repositories.
func (r *Renderer) observedNote(b *observed.Board) string {
	c := r.observedCard(b)
	if _, language := mainPart(b); language != "" {
		return language + ", " + c.Note
	}
	return c.Note
}

// mainPart returns a board as a part of itself, or the part of the language with the most
// units where it has several.
func mainPart(b *observed.Board) (p observed.Part, language string) {
	if slices.Contains(b.Warnings, observed.MixedLanguages) && len(b.Languages) > 0 {
		return b.Languages[0].Part, b.Languages[0].Language
	}
	return b.Whole(), ""
}

const (
	cardTools   = 3   // tools of a card, and one more at a tie
	leastChoice = .05 // of a second tool: with less, there is no choice to show
)

// partDoubts are the doubts about a part in a few words each.
func partDoubts(b *observed.Board, p observed.Part) []string {
	doubts := seenChips(b, p)
	if first := firstWithout(p); first != "" {
		doubts = append(doubts, "without it "+observedName(b, first)+" is first")
	}
	return doubts
}

// firstWithout returns the slug of the tool that is first without a repository that is large; empty where
// the first stays so, where several are first, and where too little is left for a rate.
func firstWithout(p observed.Part) string {
	if p.Largest == nil || !slices.Contains(p.Warnings, observed.OneRepository) || len(p.Tools) == 0 || len(p.Largest.Without.Tools) == 0 || p.Largest.Without.NUnits < observed.MinUnits {
		return ""
	}
	most := func(tools []observed.Rate) observed.Rate {
		return slices.MaxFunc(tools, func(x, y observed.Rate) int { return cmp.Compare(x.UseRate, y.UseRate) })
	}
	first := most(p.Largest.Without.Tools)
	for _, t := range p.Largest.Without.Tools {
		if t.Slug != first.Slug && t.UseRate == first.UseRate || t.Slug == most(p.Tools).Slug && t.UseRate >= first.UseRate {
			return ""
		}
	}
	return first.Slug
}
