package stats

import (
	"math"
	"slices"
)

// Bootstrap resamples clusters with replacement (Efron and Tibshirani 1993, chapter 8).
// Each replicate draws as many cluster indexes as there are clusters, floor(u G) with u
// of SplitMix64, and passes them to statistic, which returns one or more numbers; it must
// not keep the slice. The result holds the replicates of each of these numbers. With
// fewer than 20 clusters bootstrap intervals are too narrow: prefer Design.Rate.
func Bootstrap(seed uint64, clusters, replicates int, statistic func(draw []int) []float64) [][]float64 {
	rng, draw := SplitMix64(seed), make([]int, clusters)
	var out [][]float64
	for range replicates {
		for i := range draw {
			draw[i] = int(rng.Float64() * float64(clusters))
		}
		values := statistic(draw)
		if out == nil {
			out = make([][]float64, len(values))
		}
		for i, v := range values {
			out[i] = append(out[i], v)
		}
	}
	return out
}

// Quantile is the q quantile, 0 <= q <= 1, by linear interpolation between order
// statistics: type 7 of Hyndman and Fan (1996), the default of R and NumPy. values need
// not be sorted; without a value it is not a number.
func Quantile(values []float64, q float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(values))
	h := float64(len(sorted)-1) * q
	i := int(h)
	return sorted[i] + (h-float64(i))*(sorted[min(i+1, len(sorted)-1)]-sorted[i])
}
