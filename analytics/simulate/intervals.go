package main

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/firstpick/firstpick/analytics"
)

// covered draws measurements and returns how often the interval of the first tool holds
// the truth. A rare tool that most boards flag as unreliable promises nothing.
func covered(group, what string, n int, seed uint64, w *world) Line {
	flagged := repeat(group, what, n, seed, 0, 1, func(r *rand.Rand) bool {
		b := analytics.Rank(w.draw(r))
		return slices.ContainsFunc(standing(&b, 0).Warnings, func(code string) bool { return slices.Contains(unreliable(), code) })
	})
	l := repeat(group, what, n, seed, .93, .97, func(r *rand.Rand) bool {
		b := analytics.Rank(w.draw(r))
		s := standing(&b, 0)
		return s.CILow <= w.truth(0) && w.truth(0) <= s.CIHigh
	})
	rare := w.shares[0][0] <= .1 || w.shares[0][0] >= .9
	l.Excused = rare && flagged.Value > .5
	return l
}

func unreliable() []string {
	return []string{analytics.FewEffectiveTrials, analytics.WideInterval, analytics.WideRelativeInterval, analytics.FewFamilies}
}

// heavy gives the first family as many trials as half of all others.
func heavy(families int) func(*rand.Rand, int, int) int {
	return func(_ *rand.Rand, family, _ int) int {
		if family == 0 {
			return 3 * (families - 1) / 2
		}
		return 3
	}
}

func intervals(n int, seed uint64) (out []Line) {
	for _, families := range []int{20, 40} {
		for _, icc := range []float64{0, .1, .3, .6} {
			for _, p := range []float64{.1, .3, .5, .9} {
				one := [][]float64{{p}}
				four := [][]float64{{p}, {p}, {p * .8}, {min(.95, p*1.2)}}
				designs := []struct {
					name    string
					shares  [][]float64
					repeats func(*rand.Rand, int, int) int
				}{
					{"1 agent x 1", one, always(1)},
					{"1 agent x 10", one, always(10)},
					{"4 agents x 3", four, always(3)},
					{"one family has a third of the trials", one, heavy(families)},
					{"one of 4 agents has 10 times the trials", four, func(_ *rand.Rand, _, agent int) int {
						if agent == 0 {
							return 20
						}
						return 2
					}},
				}
				for _, d := range designs {
					w := &world{shares: d.shares, icc: icc, shared: .7, families: families, repeats: d.repeats}
					out = append(out, covered(fmt.Sprintf("%d families, %s", families, d.name), fmt.Sprintf("ICC %g, rate %g", icc, p), n, seed, w))
				}
			}
		}
	}
	return out
}

// phrasings asks each task in several ways, all of one family.
func phrasings(n int, seed uint64) (out []Line) {
	for _, icc := range []float64{.1, .3, .6} {
		for _, tasks := range []int{20, 40} {
			w := &world{shares: [][]float64{{.5}, {.3}}, icc: icc, shared: .7, families: tasks, phrasings: 5, repeats: always(2)}
			out = append(out, covered("20 or 40 tasks in 5 phrasings each", fmt.Sprintf("%d tasks, ICC %g", tasks, icc), n, seed, w))
		}
	}
	return out
}

// population draws the agents too: their true rates differ around .4.
func population(n int, seed uint64) (out []Line) {
	for _, agents := range []int{3, 8, 15} {
		for _, spread := range []float64{.3, .6} {
			out = append(out, repeat(fmt.Sprintf("%d agents, 20 families", agents), fmt.Sprintf("agents differ by %g", spread), n, seed, .93, 1, func(r *rand.Rand) bool {
				const shape = 1 / .4
				w := &world{icc: .3, shared: .7, families: 20, repeats: always(3)}
				size := shape / (spread * spread) // of the agents' beta distribution, with mean .4
				for range agents {
					w.shares = append(w.shares, []float64{betaQuantile(.4*size, .6*size, r.Float64())})
				}
				b := analytics.Rank(w.draw(r))
				s := standing(&b, 0)
				return *s.PopulationLow <= .4 && .4 <= *s.PopulationHigh
			}))
		}
	}
	return out
}
