package views

import (
	"cmp"
	"fmt"
	"html/template"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/analytics/observed"
	"github.com/firstpick/firstpick/fixtures/sorting"
	"github.com/firstpick/firstpick/server/kit/chart"
)

// A seenClaim is an observed board whose first tool is clearly ahead.
type seenClaim struct {
	Name  string // of the board, with its language
	Units string // what is counted
	Ruler template.HTML
	Tools []portion
	board *observed.Board
}

// maxSeen is how many tools of an observed board the first page draws.
const maxSeen = 4

// seenHeadline is the claim of the observed board that is firmest: the newest, then that with the
// fewest warnings, then that with the most units. Seen is nil where no first tool is clearly ahead.
func (r *Renderer) seenHeadline() headline {
	var boards []*observed.Board
	for i := range r.in.Observed {
		if b := &r.in.Observed[i]; clearlyUsed(b) {
			boards = append(boards, b)
		}
	}
	if len(boards) == 0 {
		return headline{}
	}
	sorting.StableFunc(boards, func(a, b *observed.Board) int {
		p, _ := mainPart(a)
		q, _ := mainPart(b)
		newest := 0
		if a.AsOf != nil && b.AsOf != nil {
			newest = monthsBetween(a.AsOf.UTC(), b.AsOf.UTC())
		}
		return cmp.Or(newest, len(p.Warnings)-len(q.Warnings), q.NUnits-p.NUnits)
	})
	b := boards[0]
	p, language := mainPart(b)
	card := r.observedCard(b)
	if language == "" && len(b.Languages) == 1 {
		language = b.Languages[0].Language
	}
	first, second := p.Tools[0], p.Tools[1]
	h := headline{
		Link: observedPath(b.Category), Board: card.Name, Age: card.Age, Chips: seenChips(b, p), Warnings: seenDoubts(b, p),
		Text: fmt.Sprintf("Coding agents used %s in %s of %s with %s, and %s in %s.", observedName(b, first.Slug), chart.Fixed(first.UseRate),
			strings.TrimSpace(language+" "+b.Unit)+"s", lowered(b.Name), observedName(b, second.Slug), chart.Fixed(second.UseRate)),
		Note: "Of " + amongUnits(b, p, language) + ", from " + chart.Count(p.NRepos, "repository", "repositories") + ", mostly on existing code. Collected in " + card.Age.When,
		Seen: &seenClaim{
			Name: card.Name, Units: b.Unit + "s", Ruler: card.Ruler, board: b,
		},
	}
	for _, t := range p.Tools[:min(maxSeen, len(p.Tools))] {
		if t.Uses >= observed.MinUses {
			h.Seen.Tools = append(h.Seen.Tools, usePortion(b, p, t))
		}
	}
	return h
}

// lowered returns the name of a category inside a sentence: web frameworks, but ORMs.
func lowered(name string) string {
	if len(name) > 1 && name[1] >= 'a' && name[1] <= 'z' {
		return strings.ToLower(name[:1]) + name[1:]
	}
	return name
}

// clearlyUsed reports whether an observed board is large enough, has a choice of tools, and the
// interval of its first one is above that of the second.
func clearlyUsed(b *observed.Board) bool {
	p, _ := mainPart(b)
	if len(p.Tools) < 2 || slices.Contains(p.Warnings, observed.FewUnits) || slices.Contains(p.Warnings, observed.FewRepositories) {
		return false
	}
	first, second := p.Tools[0], p.Tools[1]
	return p.NUnits >= observed.MinUnits && second.Uses >= observed.MinUses && second.UseRate >= leastChoice && first.CILow > second.CIHigh
}
