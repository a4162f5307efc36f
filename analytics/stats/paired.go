package stats

import (
	"cmp"
	"math"
	"slices"
)

// A Difference is the difference of two shares over the same trials, -1 to 1.
type Difference struct {
	Mean
	T, P     float64  // statistic and two-sided p-value, G-1 degrees of freedom
	Interval Interval // 95 %, within [-1, 1]
}

// PairedDifference tests whether a mean of scores in {-1, 0, 1} is zero, with
// prompts as clusters: Student's t on G-1 degrees of freedom over the clustered
// standard error (Miller 2024). P and Interval keep to the rules of Difference.
func PairedDifference(clusters []Cluster) Difference {
	return NewCritical(len(clusters)).Difference(clusters)
}

// Difference is PairedDifference with the quantile at hand. Three cases have no
// clustered standard error to divide by, and none of them may pass for certain:
// with fewer than two clusters nothing can be shown, P is 1 and the interval
// [-1, 1]; where all clusters have the same mean, trials are taken as
// independent; where all trials have the same score, every cluster counts as
// one trial of a sign test.
func (k Critical) Difference(clusters []Cluster) Difference {
	d := Difference{Mean: ClusteredMean(clusters), P: 1, Interval: Interval{-1, 1}}
	if d.Clusters < 2 {
		return d
	}
	k = k.of(d.Clusters)
	se := d.SE
	if se == 0 {
		se = d.FlatSE
	}
	if se == 0 {
		d.unanimous(k)
		return d
	}
	d.T = d.Value / se
	d.P = math.Min(1, 2*tTail(math.Abs(d.T), float64(d.Clusters-1)))
	d.Interval = Interval{math.Max(-1, d.Value-k.t975*se), math.Min(1, d.Value+k.t975*se)}
	return d
}

// unanimous fills in a difference whose scores are all -1, all 0 or all 1. The
// interval is Wilson's for G agreeing trials, shrunk for the degrees of freedom:
// a share of at least L for the winner leaves its rival 1-L at most.
func (d *Difference) unanimous(k Critical) {
	g := float64(d.Clusters)
	n := k.shrink(g)
	if d.Value == 0 {
		high := Wilson(0, n).High
		d.Interval = Interval{-high, high}
		return
	}
	d.T = math.Copysign(math.Inf(1), d.Value)
	d.P = math.Min(1, 2*math.Pow(0.5, g))
	edge := 2*Wilson(n, n).Low - 1
	d.Interval = Interval{edge, 1}
	if d.Value < 0 {
		d.Interval = Interval{-1, -edge}
	}
}

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
