package stats

import "math"

// A Consistency is how often repeats of the same trial have the same outcome.
type Consistency struct {
	// Cells has the agreement of each cell: the share of pairs of its trials with the same
	// outcome; not a number with fewer than two trials.
	Cells []float64
	// Agreement is the mean of Cells, Chance that of pairs of trials from anywhere: the sum
	// of the squared shares of outcomes, with cells weighted the same.
	Agreement, Chance float64
	// Kappa is (Agreement - Chance) / (1 - Chance) (Fleiss 1971): 0 if cells differ no more
	// than trials do, 1 if every cell always has the same outcome. It is not a number if
	// all trials have the same outcome.
	Kappa float64
	// Entropy is the mean over cells of Shannon's entropy of the outcomes over its
	// maximum: 0 if a cell always has the same outcome, 1 if all are as frequent.
	Entropy float64
}

// ConsistencyOf computes the consistency of cells; cells[i][j] counts the trials of cell i
// (one prompt and agent) with outcome j of at least two. Cells weigh the same; those with
// fewer than two trials do not count. Without a cell that counts, results are not a number.
func ConsistencyOf(cells [][]int) Consistency {
	c := Consistency{Cells: make([]float64, len(cells))}
	var shares []float64
	counted := 0.0
	for i, counts := range cells {
		n, same := 0, 0
		for _, v := range counts {
			n, same = n+v, same+v*(v-1)
		}
		if n < 2 {
			c.Cells[i] = math.NaN()
			continue
		}
		c.Cells[i] = float64(same) / float64(n*(n-1))
		for len(shares) < len(counts) {
			shares = append(shares, 0)
		}
		counted++
		for j, v := range counts {
			shares[j] += float64(v) / float64(n)
			if v > 0 {
				p := float64(v) / float64(n)
				c.Entropy -= p * math.Log(p) / math.Log(float64(len(counts)))
			}
		}
		c.Agreement += c.Cells[i]
	}
	for _, s := range shares {
		c.Chance += sq(s / counted)
	}
	c.Agreement, c.Entropy = c.Agreement/counted, c.Entropy/counted
	c.Kappa = (c.Agreement - c.Chance) / (1 - c.Chance)
	return c
}
