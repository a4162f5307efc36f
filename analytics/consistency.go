package analytics

import (
	"math"

	"github.com/firstpick/firstpick/analytics/stats"
)

// A Consistency says how often repeats of the same prompt, agent and template end in the
// same way.
type Consistency struct {
	// Agreement is the chance that two repeats of a cell agree, as the mean over cells.
	Agreement float64 `json:"agreement"`
	// Kappa is the agreement beyond chance (Fleiss 1971): 1 is perfect; nil where all trials
	// end in the same way.
	Kappa *float64 `json:"kappa,omitempty"`
	// NCells is the number of cells with at least two trials.
	NCells int `json:"nCells"`
}

// consistency counts cells of at least two trials; nil without one.
func (t *tally) consistency(cells []Cell) *Consistency {
	var counts [][]int
	for cell, c := range cells {
		if c.Trials < 2 {
			continue
		}
		o := c.Outcomes
		row := []int{o.DIY, o.Other, o.None, o.Ambiguous, o.Refused, o.Truncated}
		for _, picks := range t.picked {
			row = append(row, picks[cell])
		}
		counts = append(counts, row)
	}
	if len(counts) == 0 {
		return nil
	}
	c := stats.ConsistencyOf(counts)
	out := &Consistency{Agreement: Round(c.Agreement), NCells: len(counts)}
	if !math.IsNaN(c.Kappa) {
		out.Kappa = rounded(c.Kappa)
	}
	return out
}
