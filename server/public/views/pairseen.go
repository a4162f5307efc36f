package views

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/firstpick/firstpick/analytics/observed"
	"github.com/firstpick/firstpick/server/kit/chart"
)

// bothIn returns the part of a board that has two tools: the whole board, or that of the
// language in which both were used.
func bothIn(b *observed.Board, x, y string) (p observed.Part, language string, ok bool) {
	p, language = mainPart(b)
	if language == "" {
		first, a := useOf(p, x)
		second, c := useOf(p, y)
		return p, "", a && c && first.Uses+second.Uses > 0
	}
	for _, l := range b.Languages {
		first, _ := useOf(l.Part, x)
		second, _ := useOf(l.Part, y)
		if first.Uses > 0 && second.Uses > 0 {
			return l.Part, l.Language, true
		}
	}
	return p, "", false
}

// seenWith returns where two tools were observed together, that of a category first.
func (r *Renderer) seenWith(x, y *tool, a, b, category string) (out []pairSeen) {
	for _, s := range x.Seen {
		if !slices.ContainsFunc(y.Seen, func(o sighting) bool { return o.Board == s.Board }) {
			continue
		}
		if p, language, ok := bothIn(s.Board, a, b); ok {
			first, _ := useOf(p, a)
			second, _ := useOf(p, b)
			out = append(out, pairSeen{s.Board, p, language, first, second})
		}
	}
	slices.SortStableFunc(out, func(p, q pairSeen) int {
		home := func(s pairSeen) int {
			if s.Board.Category == category {
				return 0
			}
			return 1
		}
		return cmp.Or(home(p)-home(q), q.Part.NUnits-p.Part.NUnits)
	})
	return out
}

// A pairSeen is two tools on a part of an observed board.
type pairSeen struct {
	Board         *observed.Board
	Part          observed.Part
	Language      string
	First, Second observed.Use
}

// sentence says how often two tools were used. ahead is the one that is picked more often when
// asked; empty for none.
func (s pairSeen) sentence(x, y, ahead string) string {
	units, first, second := unitsOf(s.Board, s.Part, s.Language), s.First, s.Second
	if second.UseRate > first.UseRate {
		x, y, first, second = y, x, second, first
	}
	text := fmt.Sprintf("%s in real work: agents used %s in %s of %s", observed.Mark, x, chart.Percent(first.UseRate), units)
	switch {
	case second.Uses == 0:
		text += " and never " + y
	case first.UseRate == second.UseRate:
		text += ", as often as " + y
	default:
		text += fmt.Sprintf(" and %s in %s", y, chart.Percent(second.UseRate))
	}
	if ahead == y && first.UseRate > second.UseRate {
		text += ", the other way round"
	}
	return text + "."
}
