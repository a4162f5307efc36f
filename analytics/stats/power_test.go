package stats

import (
	"math"
	"testing"
)

var usual = Test{Alpha: 0.05, Power: 0.8}

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
