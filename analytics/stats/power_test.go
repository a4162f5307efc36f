package stats

import (
	"math"
	"testing"
)

var usual = Test{Alpha: 0.05, Power: 0.8}

func TestDetectableIsTheInverseOfPromptsNeeded(t *testing.T) {
	s := Spread{0.09, 0.4575}
	for _, trials := range []int{1, 5, 50} {
		g := int(usual.PromptsNeeded(s, trials, 0.05))
		if d := usual.Detectable(s, g, trials); d < 0.0499 || d > 0.051 { // t has fatter tails than z
			t.Errorf("%d prompts of %d trials show %g, want about 0.05", g, trials, d)
		}
	}
	if d := usual.Detectable(s, 1, 1000); !math.IsInf(d, 1) {
		t.Errorf("one prompt shows %g", d)
	}
	if a, b := usual.Detectable(s, 6, 10), usual.Detectable(s, 6, 1000); a-b > 0.1 || b < 0.3 {
		t.Errorf("repeats bring 6 prompts from %g to %g", a, b)
	}
}

func TestSpreadOf(t *testing.T) {
	// Means 0.2 and 0.6 of 5 trials each: within (0.8+1.2)/8, between (0.4-0.25)/5.
	got, ok := SpreadOf([]Cluster{{1, 1, 5}, {3, 3, 5}, {}})
	if !ok || math.Abs(got.Within-0.25) > 1e-12 || math.Abs(got.Between-0.03) > 1e-12 || math.Abs(got.Rho()-0.03/0.28) > 1e-12 {
		t.Errorf("got %+v, %v", got, ok)
	}
	if got, ok := SpreadOf([]Cluster{{1, 1, 2}, {1, 1, 2}}); !ok || got.Between != 0 {
		t.Errorf("equal clusters: got %+v, %v", got, ok)
	}
	for name, few := range map[string][]Cluster{"one cluster": {{1, 1, 5}}, "no repeats": {{1, 1, 1}, {0, 0, 1}}} {
		if _, ok := SpreadOf(few); ok {
			t.Errorf("%s tell a spread", name)
		}
	}
}

func TestUnpairedDifferenceOfIndependentTrials(t *testing.T) {
	// With every trial a cluster of its own the clustered test is the flat one, but for
	// the pooled variance.
	z, _ := TwoProportions(300, 1000, 345, 1000)
	flat := UnpairedDifference(ones(300, 1000), ones(345, 1000))
	if math.Abs(flat.T-z) > 0.005 {
		t.Errorf("T: got %g, want about %g", flat.T, z)
	}
}

func ones(x, n int) []Cluster {
	out := make([]Cluster, n)
	for i := range out {
		out[i].N = 1
		if i < x {
			out[i] = Cluster{1, 1, 1}
		}
	}
	return out
}

func TestDriftWithoutSpreadIsNotCertain(t *testing.T) {
	same := func(v float64, n int) []float64 {
		out := make([]float64, n)
		for i := range out {
			out[i] = v
		}
		return out
	}
	tests := map[string]struct {
		d         []float64
		p         float64
		low, high float64
	}{
		"no prompt":               {nil, 1, -1, 1},
		"one prompt":              {[]float64{-0.8}, 1, -1, 1},
		"two prompts alike":       {same(-0.2, 2), 0.5, -1, 1},
		"eight prompts alike":     {same(-0.2, 8), 2.0 / 256, -1, 0},
		"eight prompts alike, up": {same(0.2, 8), 2.0 / 256, 0, 1},
	}
	for name, tt := range tests {
		got := CellDifference(tt.d)
		if math.Abs(got.P-tt.p) > 1e-12 || got.Interval != (Interval{tt.low, tt.high}) {
			t.Errorf("%s: p %g, %v", name, got.P, got.Interval)
		}
	}
	if still := CellDifference(same(0, 10)); still.P != 1 || still.Interval.High <= 0 || still.Interval.High >= 1 || still.Value != 0 {
		t.Errorf("ten prompts that did not move: %+v", still)
	}
	for name, got := range map[string]Difference{
		"one cluster":    UnpairedDifference(ones(1, 1), ones(0, 50)),
		"all alike":      UnpairedDifference(ones(50, 50), ones(0, 50)),
		"nothing at all": UnpairedDifference(nil, nil),
	} {
		if got.P != 1 || got.Interval != (Interval{-1, 1}) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
