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

// homeLines returns homeLeads lines with a clear lead, each with two tools, and then homeRaces others, each by units;
// more are the leads that are left out. Weak lines come last; they are no races where there are several leads.
func homeLines(lines []line) (shown, more []line) {
	var leads, races []line
	for _, l := range lines {
		if l.Clear {
			l.Tools = l.Tools[:min(2, len(l.Tools))]
			leads = append(leads, l)
		} else {
			races = append(races, l)
		}
	}
	sorting.StableFunc(leads, func(x, y line) int { return cmp.Or(x.weakness()-y.weakness(), mostUnits(x, y)) })
	if len(leads) > 1 { // a tool without a tested rival cannot have one
		races = slices.DeleteFunc(races, func(l line) bool { return l.weak })
	}
	sortLines(races)
	n := min(homeLeads, len(leads))
	return slices.Concat(leads[:n], races[:min(homeRaces, len(races))]), leads[n:]
}
