package stats

import (
	"cmp"
	"math"
	"slices"
)

// Holm adjusts p-values so that the chance of any false rejection is kept
// (Holm 1979), at most 1 and never below the input. The order is that of the
// input; an empty input gives an empty output.
func Holm(p []float64) []float64 {
	out, order := make([]float64, len(p)), ascending(p)
	run := 0.0
	for k, i := range order {
		run = math.Max(run, math.Min(1, float64(len(p)-k)*p[i]))
		out[i] = run
	}
	return out
}

func ascending(p []float64) []int {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p[a], p[b]) })
	return order
}
