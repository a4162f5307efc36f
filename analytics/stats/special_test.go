package stats

import (
	"math"
	"testing"
)

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
