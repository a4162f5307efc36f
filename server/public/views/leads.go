package views

import (
	"cmp"
	"slices"

	"github.com/firstpick/firstpick/fixtures/sorting"
)

// inOneList returns the lines of all languages, named with their language.
func inOneList(languages []seenLanguage) (out []line) {
	for _, g := range languages {
		for _, l := range g.Lines {
			l.Name = l.inLanguage
			out = append(out, l)
		}
	}
	return out
}

// leadsAndRaces splits lines: those with a clear lead, and homeRaces of the others, each by units. Weak lines
// come last; they are no races where there are leads. A single clear lead is the first race.
func leadsAndRaces(lines []line) (leads, races []line) {
	for _, l := range lines {
		if l.Clear {
			leads = append(leads, l)
		} else {
			races = append(races, l)
		}
	}
	sorting.StableFunc(leads, func(x, y line) int { return cmp.Or(x.weakness()-y.weakness(), mostUnits(x, y)) })
	if len(leads) == 1 {
		leads, races = nil, append(leads, races...)
	}
	if len(leads) > 0 { // a tool without a tested rival cannot have one
		races = slices.DeleteFunc(races, func(l line) bool { return l.weak })
	}
	sortLines(races)
	return leads, races[:min(homeRaces, len(races))]
}
