package stats_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/firstpick/firstpick/analytics/stats"
)

// clusters draws units of repositories of very different sizes, whose rates have the mean p
// and the correlation icc between units of a repository: Beta(p/s, (1-p)/s), s = icc/(1-icc).
func clusters(r *rand.Rand, sizes []int, p, icc float64) (sums []int) {
	a, b := p*(1-icc)/icc, (1-p)*(1-icc)/icc
	for _, n := range sizes {
		x, y := gamma(r, a), gamma(r, b)
		rate, sum := x/(x+y), 0
		for range n {
			if r.Float64() < rate {
				sum++
			}
		}
		sums = append(sums, sum)
	}
	return sums
}

// gamma draws from Gamma(shape, 1) (Marsaglia and Tsang 2000).
func gamma(r *rand.Rand, shape float64) float64 {
	if shape < 1 {
		return gamma(r, shape+1)*math.Pow(r.Float64(), 1/shape) + 1e-300
	}
	d := shape - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		x := r.NormFloat64()
		root := 1 + c*x
		v := root * root * root
		if v > 0 && math.Log(r.Float64()) < x*x/2+d-d*v+d*math.Log(v) {
			return d * v
		}
	}
}

// zipf returns sizes of n repositories of which the first has the most units.
func zipf(n, largest int) (sizes []int) {
	for i := range n {
		sizes = append(sizes, max(1, largest/(i+1)))
	}
	return sizes
}

// TestRatioCovers: the interval of a ratio over repositories covers the mean rate of
// repositories, also where few of them have most of the units.
func TestRatioCovers(t *testing.T) {
	const replicates = 1000
	for name, tt := range map[string]struct {
		sizes         []int
		p, icc, least float64
	}{
		"even, 20":                   {zipf(20, 1), 0.3, 0.5, 0.925},
		"Zipf, 20 repositories":      {zipf(20, 60), 0.3, 0.3, 0.925},
		"Zipf, 60":                   {zipf(60, 100), 0.3, 0.3, 0.925},
		"Zipf, 60, alike":            {zipf(60, 100), 0.5, 0.7, 0.925},
		"Zipf, 400":                  {zipf(400, 150), 0.2, 0.3, 0.925},
		"Zipf, 60, nearly no icc":    {zipf(60, 100), 0.3, 0.02, 0.925},
		"one repository dominates":   {append(zipf(30, 6), 80), 0.4, 0.3, 0.925},
		"rare tool, 60 repositories": {zipf(60, 100), 0.05, 0.3, 0.88}, // few repositories have it,
	} {
		t.Run(name, func(t *testing.T) {
			r, covered, width := rand.New(rand.NewPCG(1, 2)), 0, 0.0
			d := stats.NewRatio(tt.sizes)
			for range replicates {
				rate := d.Rate(d.Estimate(clusters(r, tt.sizes, tt.p, tt.icc)))
				if rate.Interval.Low <= tt.p && tt.p <= rate.Interval.High {
					covered++
				}
				width += rate.Interval.High - rate.Interval.Low
			}
			t.Logf("coverage %.3f, mean width %.3f", float64(covered)/replicates, width/replicates)
			if float64(covered) < tt.least*replicates {
				t.Errorf("the intervals cover in %d of %d", covered, replicates)
			}
		})
	}
}

// TestRatio: every unit counts the same, clusters of one size give the crossed design, and
// the standard error is the jackknife's.
func TestRatio(t *testing.T) {
	sizes, sums := []int{40, 9, 1}, []int{10, 9, 0}
	d := stats.NewRatio(sizes)
	e := d.Estimate(sums)
	if e.Value != 19.0/50 || d.Trials != 50 || !d.Balanced {
		t.Errorf("%v of %d", e.Value, d.Trials)
	}
	if se := d.SE(e.Influence); !math.IsNaN(se) {
		t.Errorf("SE %v of fewer than two effective clusters", se)
	}
	d = stats.NewRatio([]int{4, 4, 2})
	e = d.Estimate([]int{4, 1, 0})
	jackknife := 0.0
	for _, v := range []float64{1.0 / 6, 4.0 / 6, 5.0 / 8} {
		jackknife += 2.0 / 3 * (v - 0.5) * (v - 0.5)
	}
	if se := d.SE(e.Influence); math.Abs(se-math.Sqrt(jackknife)) > 1e-12 {
		t.Errorf("SE %v, the jackknife has %v", se, math.Sqrt(jackknife))
	}
	even, crossed := stats.NewRatio([]int{5, 5, 5, 5}), stats.NewDesign([][]int{{5}, {5}, {5}, {5}}, nil)
	counts := []int{5, 2, 0, 1}
	a, b := even.Rate(even.Estimate(counts)), crossed.Rate(crossed.Estimate(counts))
	if math.Abs(a.Value-b.Value)+math.Abs(a.Interval.Low-b.Interval.Low)+math.Abs(a.Interval.High-b.Interval.High) > 1e-12 {
		t.Errorf("ratio %+v, crossed %+v", a, b)
	}
}
