package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// race returns the difference of a trial in which two tools have the rates a and b.
func race(r *rand.Rand, a, b float64) float64 {
	switch u := r.Float64(); {
	case u < a:
		return 1
	case u < a+b:
		return -1
	}
	return 0
}

func TestAheadHoldsItsLevel(t *testing.T) {
	const paths, length = 1000, 300
	tests := []struct {
		name     string
		a, b     float64
		min, max float64 // share of paths that ever reach 20
	}{
		{"equal rates", 0.3, 0.3, 0, 0.05},
		{"equal rare rates", 0.03, 0.03, 0, 0.05},
		{"behind", 0.3, 0.4, 0, 0.005},
		{"ahead", 0.4, 0.2, 0.9, 1},
	}
	r := rand.New(rand.NewPCG(7, 3))
	for _, tt := range tests {
		crossed, mean := 0.0, 0.0
		for range paths {
			var a Ahead
			ever := false
			for range length {
				a.Add(race(r, tt.a, tt.b))
				ever = ever || a.E() >= 20
			}
			if ever {
				crossed += 1.0 / paths
			}
			mean += math.Min(a.E(), 1e6) / paths
		}
		t.Logf("%s: %.3f of the paths ever reach 20, mean %.2f", tt.name, crossed, mean)
		if crossed < tt.min || crossed > tt.max {
			t.Errorf("%s: %.3f of the paths ever reach 20, want %g to %g", tt.name, crossed, tt.min, tt.max)
		}
	}
}

func TestAheadDoesNotDependOnTheOrder(t *testing.T) {
	var a, b Ahead
	if a.E() != 1 {
		t.Errorf("before any difference: %g", a.E())
	}
	ds := []float64{1, -1, 0, 0.25, 1, 1, -0.5, 1}
	for i := range ds {
		a.Add(ds[i])
		b.Add(ds[len(ds)-1-i])
	}
	if math.Abs(a.E()-b.E()) > 1e-9 {
		t.Errorf("%g and in reverse %g", a.E(), b.E())
	}
	for range 10_000 {
		a.Add(1)
		b.Add(-1)
	}
	if math.IsInf(a.E(), 0) || b.E() < 0 || b.E() > 1e-9 {
		t.Errorf("after 10,000 wins %g, losses %g", a.E(), b.E())
	}
}
