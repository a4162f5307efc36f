package views

import (
	"slices"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/fixtures/sorting"
	"github.com/firstpick/firstpick/server/kit/chart"
)

// A headToHead lists the prompts where one of two tools is picked more often than the other, those
// with the largest difference first.
type headToHead struct {
	Winner, Loser string
	Count, Of     string // prompts: where the winner is ahead, and all
	Lines         []promptDifference
	Cut           bool // Lines are not all
}

type promptDifference struct {
	Prompt, Link, Won, Lost, N string
	lead                       float64
}

// maxHeadToHead is how many prompts are listed for each tool.
const maxHeadToHead = 5

func headToHeadOf(b *analytics.Board, x, y analytics.Standing) (out []headToHead) {
	if len(b.Prompts) < 2 {
		return nil
	}
	for _, side := range [][2]analytics.Standing{{x, y}, {y, x}} {
		d := headToHead{Winner: side[0].Tool, Loser: side[1].Tool}
		for _, p := range b.Prompts {
			won, lost := picksOf(p, side[0].Slug), picksOf(p, side[1].Slug)
			if won > lost {
				d.Lines = append(d.Lines, promptDifference{
					promptTitle(p), PromptPath(b.Category, p.Name()), chart.Whole(int64(won)), chart.Whole(int64(lost)), chart.Whole(int64(p.NTrials)), float64(won-lost) / float64(p.NTrials),
				})
			}
		}
		sorting.StableFunc(d.Lines, descending(func(l promptDifference) float64 { return l.lead }))
		d.Count, d.Of = chart.Whole(int64(len(d.Lines))), chart.Whole(int64(len(b.Prompts)))
		d.Cut = len(d.Lines) > maxHeadToHead
		if d.Lines = d.Lines[:min(maxHeadToHead, len(d.Lines))]; len(d.Lines) > 0 {
			out = append(out, d)
		}
	}
	return out
}

func picksOf(p analytics.Prompt, slug string) int { return promptTool(p, slug).Picks }

// A lean is the prompt on which a tool leads another by most.
type lean struct {
	Tool string
	promptDifference
}

// leans returns the prompt on which each of two tools leads by most, where no part has a firm difference.
func (d *comparePage) leans() (out []lean) {
	if len(d.Boards) == 0 || slices.ContainsFunc(d.Boards[0].Groups, compareGroup.Clear) {
		return nil
	}
	for _, h := range d.Boards[0].HeadToHead {
		out = append(out, lean{h.Winner, h.Lines[0]})
	}
	return out
}
