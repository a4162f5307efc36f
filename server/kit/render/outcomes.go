package render

import (
	"slices"

	"github.com/firstpick/firstpick/analytics"
)

// An outcome is a line of the breakdown of trials.
type outcome struct {
	Name  string
	N     int
	Share float64
}

func outcomes(b analytics.Board) []outcome {
	o, open := b.Outcomes, 0
	if b.Unresolved != nil {
		open = *b.Unresolved
	}
	lines := []outcome{
		{Name: "picked a tool of this list", N: o.Tool}, {Name: "built its own", N: o.DIY}, {Name: "chose something else", N: o.Other},
		{Name: "picked no tool", N: o.None}, {Name: "chose two or more", N: o.Ambiguous - open}, {Name: "unresolved: no rule applies, counted as ambiguous", N: open},
		{Name: "refused", N: o.Refused}, {Name: "was cut off", N: o.Truncated},
	}
	return nonzero(lines, b.NTrials)
}

// layers lists how the outcomes of a board were read, without empty layers.
func layers(b analytics.Board) []outcome {
	if b.DecidedBy == nil {
		return nil
	}
	d := b.DecidedBy
	lines := []outcome{
		{Name: "by the structured answer", N: d.Structured}, {Name: "by code and commands", N: d.Actions}, {Name: "by the answer text", N: d.Statement},
		{Name: "by two judge models", N: d.Judge}, {Name: "by the imported record", N: d.Given}, {Name: "without evidence of a choice", N: d.Undecided},
	}
	return nonzero(lines, b.NTrials)
}

// nonzero sets the shares of lines in n trials, and drops empty lines.
func nonzero(lines []outcome, n int) []outcome {
	for i := range lines {
		if n > 0 {
			lines[i].Share = float64(lines[i].N) / float64(n)
		}
	}
	return slices.DeleteFunc(lines, func(o outcome) bool { return o.N == 0 })
}
