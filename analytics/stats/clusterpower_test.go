package stats

import (
	"math"
	"testing"
)

// TestPowerOfPublishedSizes: the published numbers of prompts have the power they are for.
func TestPowerOfPublishedSizes(t *testing.T) {
	for _, s := range []Spread{{0.09, 0.4575}, {0.03, 0.5175}} {
		for _, trials := range []int{1, 5, 50} {
			effect := 0.05 / math.Sqrt(s.Between+s.Within/float64(trials))
			if p := ClusterPower(effect, 0, int(usual.PromptsNeeded(s, trials, 0.05)), 0.025); math.Abs(p-0.8) > 0.01 {
				t.Errorf("%+v, %d trials: power %g", s, trials, p)
			}
		}
	}
}

// TestClusterPowerOfNormalMeans compares with the exact power: the integral over the
// standard deviation, whose square is chi-squared.
func TestClusterPowerOfNormalMeans(t *testing.T) {
	for _, g := range []int{6, 10, 40} {
		for _, alpha := range []float64{0.05, 0.05 / 132} {
			for _, effect := range []float64{0.3, 0.8, 1.5, 2.5} {
				df, sum, weights := float64(g-1), 0.0, 0.0
				limit := TQuantile(1-alpha, df)
				for s := 0.0005; s < 4; s += 0.001 {
					w := math.Exp((df-1)*math.Log(s) - df*s*s/2)
					weights += w
					sum += w * math.Erfc((limit*s-math.Sqrt(float64(g))*effect)/math.Sqrt2) / 2
				}
				if got := ClusterPower(effect, 0, g, alpha); math.Abs(got-sum/weights) > 0.015 {
					t.Errorf("%d clusters, alpha %.5f, effect %g: power %.3f, want %.3f", g, alpha, effect, got, sum/weights)
				}
			}
		}
	}
	if p := ClusterPower(9, 0, 1, 0.05); p != 0 {
		t.Errorf("one cluster has power %g", p)
	}
	if p := ClusterPower(0.1, 5, 20, 0.001); !(p >= 0 && p < 0.1) {
		t.Errorf("a small effect with a long tail has power %g", p)
	}
	if left, right := ClusterPower(1, -1, 20, 0.01), ClusterPower(1, 1, 20, 0.01); left >= right {
		t.Errorf("skewed to the left %g, to the right %g", left, right)
	}
}

func TestRhoRange(t *testing.T) {
	// Mean squares 0.4 and 0.25 with 1 and 8 degrees of freedom; F(0.1) = 0.01683.
	low, high := RhoRange([]Cluster{{1, 1, 5}, {3, 3, 5}}, 0.8)
	if low != 0 || math.Abs(high-0.9495) > 0.0005 {
		t.Errorf("got %g to %g", low, high)
	}
	var many []Cluster
	for i := range 200 {
		n := float64(i % 4)
		many = append(many, Cluster{n, n, 3})
	}
	s, _ := SpreadOf(many)
	low, high = RhoRange(many, 0.8)
	if wider, _ := RhoRange(many, 0.95); low >= s.Rho() || high <= s.Rho() || high-low > 0.15 || wider >= low {
		t.Errorf("%g to %g around %g", low, high, s.Rho())
	}
	for name, c := range map[string][]Cluster{"one cluster": {{1, 1, 5}}, "no repeats": {{1, 1, 1}, {0, 0, 1}}, "nothing": nil} {
		if low, high := RhoRange(c, 0.8); low != 0 || high != 1 {
			t.Errorf("%s: %g to %g", name, low, high)
		}
	}
}
