package main

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/analytics/forecast"
)

// plans counts boards that show the difference which `firstpick plan` calls detectable:
// it promises 80 %.
func plans(n int, seed uint64) (out []Line) {
	for _, k := range []int{2, 6, 12} {
		for _, icc := range []float64{.1, .3, .6} {
			for _, size := range [][2]int{{20, 12}, {40, 12}, {80, 24}} {
				field := forecast.NewField(k)
				d := field.Detectable(size[0], size[1], icc)
				if math.IsInf(d, 1) || d >= .95 {
					continue
				}
				w := &world{shares: [][]float64{field.Shares(d)}, icc: icc, shared: 1, families: size[0], repeats: always(size[1])}
				what := fmt.Sprintf("ICC %g, %d prompts x %d, %.0f points", icc, size[0], size[1], 100*d)
				out = append(out, repeat(fmt.Sprintf("a board of %d tools shows it", k), what, n, seed, .75, .85, func(r *rand.Rand) bool {
					b := analytics.Rank(w.draw(r))
					for _, rival := range standing(&b, 1).BeatenBy {
						if rival.Slug == slug(0) {
							return rival.Significant
						}
					}
					return false
				}))
			}
		}
	}
	return out
}
