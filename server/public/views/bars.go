package views

import (
	"fmt"
	"math"
	"slices"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/server/kit/chart"
)

// whole is the length of a full bar.
const whole = 10_000

// The colours of the first tools of a board, and of all others.
const otherClass = "rest"

// maxBarTools is how many tools of a board have a colour, and maxCard how many a card names.
const (
	maxBarTools = 5
	maxCard     = 3
)

// barClass returns the colour of tool i, from dark to light: the same one for each first tool.
func barClass(i int) string { return fmt.Sprintf("r%d", i+1) }

// classOf returns the colour of a tool, the same wherever the board is shown: that of its place
// among the first tools.
func classOf(b *analytics.Board, slug string) string {
	if i := slices.IndexFunc(b.Tools, func(s analytics.Standing) bool { return s.Slug == slug }); i >= 0 && i < min(maxBarTools, len(picked(b))) {
		return barClass(i)
	}
	return otherClass
}

// barPart returns the part of a bar for a rate in 0 to 1.
func barPart(class, name string, rate float64) chart.Part {
	return chart.Part{Series: chart.Series{Class: class, Name: name}, Value: int64(math.Round(rate * whole)), Text: chart.Percent(rate)}
}
