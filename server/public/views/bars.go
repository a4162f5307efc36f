package views

import (
	"math"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/server/kit/chart"
)

// whole is the length of a full bar.
const whole = 10_000

// The colours of the first tools of a board, and of all others.
const otherClass = "rest"

var leaderClasses = [...]string{"r1", "r3", "r5"}

// classOf returns the colour of a tool: that of its place among the first tools of the board.
func classOf(b *analytics.Board, slug string) string {
	for i, class := range leaderClasses {
		if i < len(b.Tools) && b.Tools[i].Slug == slug {
			return class
		}
	}
	return otherClass
}

// barPart returns the part of a bar for a rate in 0 to 1.
func barPart(class, name string, rate float64) chart.Part {
	return chart.Part{Series: chart.Series{Class: class, Name: name}, Value: int64(math.Round(rate * whole)), Text: chart.Percent(rate)}
}
