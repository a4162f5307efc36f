package stats

import (
	"math/rand/v2"
	"slices"
)

// A table holds random trials by family and agent, and the picks of tools by cell.
type table struct {
	rows    [][]int
	weights []float64
	picks   [][]int
}

// drawTable draws cells of 0 to 8 trials in which tools are picked with shares of the
// family; the last tool is rare. Every family has a trial.
func drawTable(r *rand.Rand, families, agents, tools int) (out table) {
	out.picks = make([][]int, tools)
	for range agents {
		out.weights = append(out.weights, 0.2+r.Float64())
	}
	for range families {
		shares := make([]float64, tools)
		for i := range shares {
			shares[i] = r.Float64() * r.Float64() / float64(tools)
		}
		shares[tools-1] *= 0.1
		row, needed := make([]int, agents), r.IntN(agents)
		for a := range row {
			if row[a] = max(0, r.IntN(12)-3); a == needed {
				row[a]++
			}
			counts := make([]int, tools)
			for range row[a] {
				u := r.Float64()
				for i, s := range shares {
					if u -= s; u < 0 {
						counts[i]++
						break
					}
				}
			}
			for i, n := range counts {
				out.picks[i] = append(out.picks[i], n)
			}
		}
		out.rows = append(out.rows, row)
	}
	return out
}

// constant has k of n picks for each trial before.
func (x table) constant(k, n int) table {
	x.picks[0] = nil
	for _, row := range x.rows {
		for a := range row {
			x.picks[0] = append(x.picks[0], k*row[a])
			row[a] *= n
		}
	}
	return x
}

// rate computes theta by its definition, without a family and an agent; -1 leaves out nothing.
func (x table) rate(tool, family, agent int) float64 {
	var sum, weights float64
	for a, w := range x.weights {
		var shares, n float64
		for g, row := range x.rows {
			if g != family && a != agent && row[a] > 0 {
				shares, n = shares+float64(x.picks[tool][g*len(row)+a])/float64(row[a]), n+1
			}
		}
		if n > 0 {
			sum, weights = sum+w*shares/n, weights+w
		}
	}
	return sum / weights
}

// estimatesOf estimates the rates of tools from their picks by cell.
func estimatesOf(d *Design, picks ...[]int) (estimates []Estimate, rates []Rate) {
	for _, p := range picks {
		e := d.Estimate(p)
		estimates, rates = append(estimates, e), append(rates, d.Rate(e))
	}
	return estimates, rates
}

// alike returns so many cells of one count.
func alike(cells, n int) []int { return slices.Repeat([]int{n}, cells) }

// column is the trials of one agent.
func column(trials ...int) (rows [][]int) {
	for _, n := range trials {
		rows = append(rows, []int{n})
	}
	return rows
}
