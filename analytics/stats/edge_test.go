package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestEdges(t *testing.T) {
	one := ClusteredProportion([]Cluster{{Sum: 5, Squares: 5, N: 10}})
	if one.Interval != (Interval{0, 1}) {
		t.Errorf("one prompt says nothing of others, got %v", one.Interval)
	}
	all := ClusteredProportion([]Cluster{{5, 5, 5}, {5, 5, 5}, {5, 5, 5}})
	if all.Interval.High != 1 || all.Interval.Low > 0.5 {
		t.Errorf("three agreeing prompts give %v", all.Interval)
	}
	if d := PairedDifference([]Cluster{{Sum: 3, Squares: 3, N: 5}}); d.P != 1 || d.Interval != (Interval{-1, 1}) {
		t.Errorf("one prompt shows a difference: %+v", d)
	}
	if w := Wilson(0, 0); w != (Interval{0, 1}) {
		t.Errorf("no trial gives %v", w)
	}
}

func TestAgreementIsNoCertainty(t *testing.T) {
	same := func(clusters int, c Cluster) []Cluster {
		out := make([]Cluster, clusters)
		for i := range out {
			out[i] = c
		}
		return out
	}
	for _, n := range []int{3, 7, 10, 49, 1000} {
		cs := same(7, Cluster{Sum: 1, Squares: 1, N: n})
		p, d := ClusteredProportion(cs), PairedDifference(cs)
		if p.SE != 0 || p.Deff != 1 || p.NEff != float64(7*n) {
			t.Errorf("1 of %d in each of 7 prompts: %+v", n, p)
		}
		if d.P == 0 || d.Interval.Low >= d.Interval.High {
			t.Errorf("1 of %d in each of 7 prompts: the difference %+v passes for certain", n, d)
		}
	}
	cases := map[string]struct {
		clusters, sum int
		p             float64
	}{
		"two prompts that all pick one": {2, 5, 0.5},
		"six prompts that all pick one": {6, 5, 0.03125},
		"six prompts against it":        {6, -5, 0.03125},
		"six prompts that pick neither": {6, 0, 1},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			d := PairedDifference(same(c.clusters, Cluster{Sum: float64(c.sum), Squares: math.Abs(float64(c.sum)), N: 5}))
			if d.P != c.p || d.Interval.Low > d.Value || d.Interval.High < d.Value || d.Interval.Low == d.Interval.High {
				t.Errorf("got %+v, want p %g", d, c.p)
			}
		})
	}
}

func TestEmptyClustersDoNotCount(t *testing.T) {
	got := ClusteredProportion([]Cluster{{1, 1, 2}, {}, {2, 2, 2}, {}})
	want := ClusteredProportion([]Cluster{{1, 1, 2}, {2, 2, 2}})
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if none := ClusteredProportion(nil); none.Interval != (Interval{0, 1}) {
		t.Errorf("no cluster gives %+v", none)
	}
}

func TestIntervalsHoldTheirRate(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		cs := make([]Cluster, 1+rng.IntN(30))
		var ds []Cluster
		for i := range cs {
			n := 1 + rng.IntN(20)
			x := rng.IntN(n + 1)
			y := rng.IntN(n - x + 1)
			cs[i] = Cluster{Sum: float64(x), Squares: float64(x), N: n}
			ds = append(ds, Cluster{Sum: float64(x - y), Squares: float64(x + y), N: n})
		}
		p, d := ClusteredProportion(cs), PairedDifference(ds)
		if !(0 <= p.Interval.Low && p.Interval.Low <= p.Value+1e-12 && p.Value <= p.Interval.High+1e-12 && p.Interval.High <= 1) {
			t.Fatalf("%v: %+v", cs, p)
		}
		if !(-1 <= d.Interval.Low && d.Interval.Low <= d.Value && d.Value <= d.Interval.High && d.Interval.High <= 1 && 0 <= d.P && d.P <= 1) {
			t.Fatalf("%v: %+v", ds, d)
		}
	}
}

func tCDF(t, df float64) float64 {
	if t < 0 {
		return tTail(-t, df)
	}
	return 1 - tTail(t, df)
}

func TestSpecialFunctionsAgreeWithTables(t *testing.T) {
	cases := map[string][2]float64{
		"normal .975":       {NormalQuantile(.975), Z975},
		"normal .5":         {NormalQuantile(.5), 0},
		"normal .8":         {NormalQuantile(.8), .8416212335729143},
		"t .975 with 1":     {TQuantile(.975, 1), 12.706204736432095},
		"t .975 with 5":     {TQuantile(.975, 5), 2.570581835636197},
		"t .025 with 10":    {TQuantile(.025, 10), -2.2281388519649385},
		"t .975 with 1e6":   {TQuantile(.975, 1e6), Z975 + (Z975*Z975*Z975+Z975)/4e6},
		"t cdf at 0":        {tCDF(0, 3), .5},
		"t cdf at infinity": {tCDF(math.Inf(1), 3), 1},
		"binomial 1 of 2":   {BinomialTail(1, 2, .5), .75},
		"binomial 10 of 10": {BinomialTail(10, 10, .5), 1. / 1024},
		"binomial 0 of 0":   {BinomialTail(0, 0, .5), 1},
		"binomial 5 of 3":   {BinomialTail(5, 3, .5), 0},
		"binomial, big":     {BinomialTail(500_000, 1_000_000, .5), .500398942},
	}
	for name, c := range cases {
		if math.Abs(c[0]-c[1]) > 1e-8 {
			t.Errorf("%s: got %.10f, want %.10f", name, c[0], c[1])
		}
	}
	for q, want := range map[float64]float64{0: math.Inf(-1), 1: math.Inf(1)} {
		if NormalQuantile(q) != want || TQuantile(q, 5) != want {
			t.Errorf("quantile %g is not %g", q, want)
		}
	}
}

func TestQuantilesInvertTheirDistributions(t *testing.T) {
	for _, q := range []float64{.001, .025, .3, .5, .9, .975, .9999} {
		for _, df := range []float64{1, 2, 5, 19, 999} {
			if got := tCDF(TQuantile(q, df), df); math.Abs(got-q) > 1e-10 {
				t.Errorf("t %g df %g: %g", q, df, got)
			}
		}
	}
}
