package main

import (
	"fmt"
	"math/rand/v2"

	"github.com/firstpick/firstpick/analytics"
)

// pairOf draws two measurements of the same families: in the second, the rate of the first
// tool is lower by drop, and the first edited families have other prompts.
func pairOf(r *rand.Rand, rate, drop, icc float64, families, edited, repeats int) (older, newer analytics.Measurement) {
	w := &world{shares: [][]float64{{rate}, {rate}}, icc: icc, shared: .8, families: families, repeats: always(repeats), coupled: true}
	after := &world{shares: [][]float64{{rate - drop}, {rate - drop}}, icc: icc, shared: .8, families: families, repeats: always(repeats), coupled: true}
	for g := range families {
		seeds := [2]uint64{r.Uint64(), r.Uint64()}
		if g >= edited {
			seeds[1] = seeds[0] // the same family
		}
		before := w.family(rand.New(rand.NewPCG(seeds[0], 2)))  //nolint:gosec // seeded on purpose
		now := after.family(rand.New(rand.NewPCG(seeds[1], 2))) //nolint:gosec // seeded on purpose
		for a := range 2 {
			x, y := w.cell(r, before(a), repeats), w.cell(r, now(a), repeats)
			x.Prompt, x.Agent = fmt.Sprintf("p%03d", g), fmt.Sprintf("a%d", a)
			y.Prompt, y.Agent = x.Prompt, x.Agent
			if g < edited {
				y.Prompt += "-edited"
			}
			older.Cells, newer.Cells = append(older.Cells, x), append(newer.Cells, y)
		}
	}
	return older, newer
}

// dropped reports whether a drop of the tool is shown.
func dropped(older, newer analytics.Measurement) (down, any bool) {
	d := &analytics.Differences(older, newer, []string{slug(0)})[0]
	analytics.Simultaneous([]*analytics.Difference{d})
	return d.Shown && d.Value < 0, d.Shown
}

func differences(n int, seed uint64) (out []Line) {
	for _, edited := range []int{0, 3, 10, 20} {
		for _, repeats := range []int{3, 10} {
			what := fmt.Sprintf("%d reworded, 2 agents x %d", edited, repeats)
			out = append(out, repeat("false alarms, 0 to 20 of 20 families reworded", what, n, seed, 0, .05, func(r *rand.Rand) bool {
				_, any := dropped(pairOf(r, .45, 0, .4, 20, edited, repeats))
				return any
			}))
		}
	}
	for _, edited := range []int{0, 3} {
		what := fmt.Sprintf("%d reworded, 2 agents x 10", edited)
		out = append(out, repeat("a drop of 7.9 points is found, 0 or 3 of 20 families reworded", what, n, seed, .65, 1, func(r *rand.Rand) bool {
			down, _ := dropped(pairOf(r, .45, .079, .4, 20, edited, 10))
			return down
		}))
	}
	return out
}
