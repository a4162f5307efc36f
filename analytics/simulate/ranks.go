package main

import (
	"fmt"
	"math/rand/v2"

	"github.com/firstpick/firstpick/analytics"
)

// equal returns agents that pick each of k tools equally often; pairs that pick the tools
// of the first half twice as often as those of the second.
func equal(k, agents int) (out [][]float64) {
	for range agents {
		shares := make([]float64, k)
		for i := range shares {
			shares[i] = .9 / float64(k)
		}
		out = append(out, shares)
	}
	return out
}

func pairs(k, agents int) (out [][]float64) {
	for range agents {
		shares, sum := make([]float64, k), 0.0
		for i := range shares {
			shares[i] = 1 / float64(1+i/2)
			sum += shares[i]
		}
		for i := range shares {
			shares[i] *= .9 / sum
		}
		out = append(out, shares)
	}
	return out
}

// ranks counts boards whose rank ranges hold the true ranks of all tools. Tools that are
// equal have all ranks from the first to the last of them.
func ranks(n int, seed uint64) (out []Line) {
	for _, k := range []int{2, 5, 10, 30} {
		for i, shares := range [][][]float64{equal(k, 2), pairs(k, 2)} {
			name := [2]string{"equal", "equal in pairs"}[i]
			for _, icc := range []float64{.3, .6} {
				for _, size := range [][2]int{{20, 12}, {40, 5}} {
					w := &world{shares: shares, icc: icc, shared: .8, families: size[0], repeats: always(size[1])}
					what := fmt.Sprintf("%s, ICC %g, %d families x 2 agents x %d", name, icc, size[0], size[1])
					out = append(out, repeat(fmt.Sprintf("%d tools, equal or equal in pairs", k), what, fewer(n, k), seed, .95, 1, w.ranksHold))
				}
			}
		}
	}
	return out
}

// fewer halves the repetitions of large boards.
func fewer(n, k int) int {
	if k >= 30 {
		return (n + 1) / 2
	}
	return n
}

func (w *world) ranksHold(r *rand.Rand) bool {
	b := analytics.Rank(w.draw(r))
	for i := range w.shares[0] {
		best, worst := 1, 0
		for j := range w.shares[0] {
			switch d := w.truth(j) - w.truth(i); {
			case d > 1e-9:
				best, worst = best+1, worst+1
			case d > -1e-9:
				worst++
			}
		}
		// A range must overlap with the ranks that a tool shares with its equals.
		if s := standing(&b, i); s.RankLow > best || s.RankHigh < worst {
			return false
		}
	}
	return true
}

// rivals counts boards on which a tool is significantly ahead of one that is as good.
func rivals(n int, seed uint64) (out []Line) {
	for _, k := range []int{2, 5, 10, 30} {
		for _, icc := range []float64{0, .3, .6} {
			w := &world{shares: equal(k, 2), icc: icc, shared: .8, families: 20, repeats: always(12)}
			out = append(out, repeat("2 to 30 equal tools", fmt.Sprintf("%d tools, ICC %g", k, icc), fewer(n, k), seed, 0, .05, w.falseRival))
		}
	}
	for _, families := range []int{10, 20, 40} {
		out = append(out, repeat("a niche tool against a generalist", fmt.Sprintf("%d families", families), n, seed, 0, .05, niche(families)))
	}
	return out
}

func (w *world) falseRival(r *rand.Rand) bool {
	b := analytics.Rank(w.draw(r))
	for i := range w.shares[0] {
		for _, rival := range standing(&b, i).BeatenBy {
			for j := range w.shares[0] {
				if rival.Significant && rival.Slug == slug(j) && w.truth(j) <= w.truth(i)+1e-9 {
					return true
				}
			}
		}
	}
	return false
}

// niche compares a tool that is picked in a tenth of every family's trials with one that
// is picked in 80 % of one family in eight.
func niche(families int) func(*rand.Rand) bool {
	return func(r *rand.Rand) bool {
		w := &world{shares: [][]float64{{.1, .1}}, families: families, repeats: always(24)}
		m := analytics.Measurement{Category: category(2), Planned: 24 * families}
		for g := range families {
			shares := []float64{.1, 0}
			if r.Float64() < .125 {
				shares[1] = .8
			}
			c := w.cell(r, shares, 24)
			c.Prompt, c.Agent = fmt.Sprint(g), "a"
			m.Cells = append(m.Cells, c)
		}
		b := analytics.Rank(m)
		for _, s := range b.Tools {
			for _, rival := range s.BeatenBy {
				if rival.Significant {
					return true
				}
			}
		}
		return false
	}
}
