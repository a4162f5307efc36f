package views

import (
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

// homeLines returns the largest lines: of those with a clear lead, which have two tools each, and those with enough data for an
// order. Without any it returns the largest of all.
func homeLines(lines []line) []line {
	firm := slices.DeleteFunc(slices.Clone(lines), func(l line) bool { return l.weak && !l.Clear })
	if len(firm) == 0 {
		firm = slices.Clone(lines)
	}
	sorting.StableFunc(firm, mostUnits)
	firm = firm[:min(homeLargest, len(firm))]
	for i := range firm {
		if firm[i].Clear {
			firm[i].Tools = firm[i].Tools[:min(2, len(firm[i].Tools))]
		}
	}
	return firm
}
