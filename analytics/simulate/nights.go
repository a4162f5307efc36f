package main

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/firstpick/firstpick/analytics/stats"
)

const (
	nightTools    = 10
	nightFamilies = 20
	nightRepeats  = 5
)

// A series is a category that is measured every night: ten tools, two agents.
type series struct {
	rates [nightTools][nightFamilies][2]float64
	tests [nightTools]stats.NightTest
}

func newSeries(r *rand.Rand) *series {
	s := &series{}
	for t := range s.rates {
		rate := .45
		if t > 0 {
			rate = .5 / nightTools
		}
		const size = 1/.3 - 1 // ICC .3
		for g := range nightFamilies {
			p := betaQuantile(rate*size, (1-rate)*size, r.Float64())
			s.rates[t][g] = [2]float64{p, p}
		}
	}
	return s
}

// night measures once; the rate of the first tool is lower by the factor kept.
func (s *series) night(r *rand.Rand, kept float64) {
	for t := range s.rates {
		var cells []stats.NightCell
		for g := range nightFamilies {
			for a := range 2 {
				p := s.rates[t][g][a]
				if t == 0 {
					p *= kept
				}
				picks := 0
				for range nightRepeats {
					if r.Float64() < p {
						picks++
					}
				}
				cells = append(cells, stats.NightCell{Family: fmt.Sprint(g), Agent: fmt.Sprint(a), Picks: picks, Trials: nightRepeats})
			}
		}
		s.tests[t].Add(cells)
	}
}

// shown returns which tools are shown to have dropped or risen.
func (s *series) shown() (drops, rises []bool) {
	var e []float64
	for t := range s.tests {
		e = append(e, s.tests[t].DropE(), s.tests[t].RiseE())
	}
	found := stats.EBH(e, .05)
	for t := range s.tests {
		drops, rises = append(drops, found[2*t]), append(rises, found[2*t+1])
	}
	return drops, rises
}

// nights counts false discoveries over many nights without a change, and drops of ten
// points that are found within five nights.
func nights(n int, seed uint64) []Line {
	const length = 100
	quiet := repeat("nights without a change: a series of 100 shows one", "ten tools", max(1, n/10), seed, 0, .05, func(r *rand.Rand) bool {
		s := newSeries(r)
		for range length {
			s.night(r, 1)
			drops, rises := s.shown()
			if slices.Contains(drops, true) || slices.Contains(rises, true) {
				return true
			}
		}
		return false
	})
	found := repeat("a drop of 10 points is found in 5 nights", "after 20 nights", max(1, n/10), seed, .9, 1, func(r *rand.Rand) bool {
		s := newSeries(r)
		for range 20 {
			s.night(r, 1)
		}
		for range 5 {
			s.night(r, .35/.45)
			if drops, _ := s.shown(); drops[0] {
				return true
			}
		}
		return false
	})
	return []Line{quiet, found}
}
