package stats_test

import (
	"math"
	"testing"

	"github.com/firstpick/firstpick/analytics/stats"
)

// TestKendallTauB has the example of scipy.stats.kendalltau, and values by hand.
func TestKendallTauB(t *testing.T) {
	for name, tt := range map[string]struct {
		x, y []float64
		want float64
	}{
		"same":        {[]float64{1, 2, 3, 4}, []float64{10, 20, 30, 40}, 1},
		"reverse":     {[]float64{1, 2, 3, 4}, []float64{4, 3, 2, 1}, -1},
		"scipy's own": {[]float64{12, 2, 1, 12, 2}, []float64{1, 4, 7, 1, 0}, -0.47140452079103173},
		"ties in one": {[]float64{1, 1, 2, 3}, []float64{1, 2, 3, 4}, 5 / math.Sqrt(5*6)},
	} {
		if got := stats.KendallTauB(tt.x, tt.y); math.Abs(got-tt.want) > 1e-12 {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
	if got := stats.KendallTauB([]float64{1, 1, 1}, []float64{1, 2, 3}); !math.IsNaN(got) {
		t.Errorf("all equal: %v", got)
	}
}
