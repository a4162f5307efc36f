package observed

import (
	"math"
	"slices"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/analytics/stats"
	facts "github.com/firstpick/firstpick/fixtures/observed"
)

const (
	minShared  = 4    // tools that two boards must have for an agreement
	replicates = 1000 // of the bootstrap
)

// Agreement returns the rank agreement of the trials of a category with its observed board:
// Kendall's tau-b over the tools that both have and one of them shows. The interval is the
// percentile bootstrap (Efron and Tibshirani 1993, chapter 13) that resamples prompt
// families and repositories, and contains the estimate; the same seed gives the same interval.
// With one prompt family it is -1 to 1. It is nil with fewer than four such tools, and
// where a board has the same rate for all of them.
func Agreement(m analytics.Measurement, s *facts.Study, c Category, seed uint64) *analytics.FieldAgreement {
	families, picks := m.Resample()
	t := tallyOf(s, c)
	var both [][2]int // places in picks and in uses
	once := func(n int) []int { return slices.Repeat([]int{1}, n) }
	picked, used := picks(once(families)), t.resample(once(len(t.sizes)))
	for i, e := range m.Category.Entries {
		if at := c.place(e.Tool.Slug); at >= 0 && picked[i]+used[at] > 0 {
			both = append(both, [2]int{i, at})
		}
	}
	tau := func(picked, used []float64) float64 {
		x, y := make([]float64, len(both)), make([]float64, len(both))
		for k, at := range both { // what rounding leaves of equal rates is a tie
			x[k], y[k] = math.Round(picked[at[0]]*1e9), math.Round(used[at[1]]*1e9)
		}
		return stats.KendallTauB(x, y)
	}
	out := &analytics.FieldAgreement{Observed: true, Tau: tau(picked, used), CILow: -1, CIHigh: 1, Tools: len(both), URL: "/observed/" + c.Slug}
	if len(both) < minShared || math.IsNaN(out.Tau) {
		return nil
	}
	if families > 1 && len(t.sizes) > 1 {
		rng := stats.SplitMix64(seed)
		draw := func(n int) []int {
			counts := make([]int, n)
			for range n {
				counts[int(rng.Float64()*float64(n))]++
			}
			return counts
		}
		var values []float64
		for range replicates {
			if v := tau(picks(draw(families)), t.resample(draw(len(t.sizes)))); !math.IsNaN(v) {
				values = append(values, v)
			}
		}
		out.CILow, out.CIHigh = math.Min(out.Tau, stats.Quantile(values, 0.025)), math.Max(out.Tau, stats.Quantile(values, 0.975))
	}
	out.Tau, out.CILow, out.CIHigh = analytics.Round(out.Tau), analytics.Round(out.CILow), analytics.Round(out.CIHigh)
	return out
}

// resample returns the shares of all tools where repository i counts draws[i] times.
func (t *tally) resample(draws []int) []float64 {
	units := 0
	for r, n := range draws {
		units += n * t.sizes[r]
	}
	out := make([]float64, len(t.uses))
	for i, uses := range t.uses {
		for r, n := range draws {
			out[i] += float64(n * uses[r])
		}
		out[i] /= math.Max(1, float64(units))
	}
	return out
}
