package stats_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/firstpick/firstpick/analytics/stats"
)

func TestPercent(t *testing.T) {
	for rate, want := range map[float64]string{0: "0.0", 1: "100.0", 706. / 800: "88.3", -706. / 800: "-88.3", 0.3324: "33.2", 1. / 3: "33.3", 201. / 400: "50.3"} {
		if got := fmt.Sprintf("%.1f", stats.Percent(rate)); got != want {
			t.Errorf("%v is %s %%, want %s", rate, got, want)
		}
	}
	if v := stats.Percent(math.NaN()); !math.IsNaN(v) {
		t.Errorf("the rate is undefined, and shown as %v", v)
	}
}

// TestPercentOfCounts compares it with the exact value of each share of counts.
func TestPercentOfCounts(t *testing.T) {
	for n := 1; n <= 1000; n++ {
		for k := range n + 1 {
			exact := (2000*k + n) / (2 * n) // half up, in tenths of a per cent
			if got := math.Round(10 * stats.Percent(float64(k)/float64(n))); int(got) != exact {
				t.Fatalf("%d of %d: %v tenths, want %d", k, n, got, exact)
			}
		}
	}
}
