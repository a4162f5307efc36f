package stats

import "math"

// KendallTauB is the rank correlation of two lists of the same length, -1 to 1, corrected
// for ties: (C - D) / sqrt((C + D + Tx) (C + D + Ty)) with C concordant and D discordant
// pairs, and pairs tied only in x or only in y (Kendall 1945). It is not a number where all
// values of a list are equal.
func KendallTauB(x, y []float64) float64 {
	var score, onlyX, onlyY, both float64
	for i := range x {
		for j := range i {
			switch dx, dy := x[i]-x[j], y[i]-y[j]; {
			case dx == 0 && dy == 0:
			case dx == 0:
				onlyX++
			case dy == 0:
				onlyY++
			case (dx > 0) == (dy > 0):
				score, both = score+1, both+1
			default:
				score, both = score-1, both+1
			}
		}
	}
	return score / math.Sqrt((both+onlyX)*(both+onlyY))
}
