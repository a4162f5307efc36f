package stats

import "math"

// TwoProportions tests whether two rates differ, x1 of n1 and x2 of n2 independent trials:
// z = (p2 - p1) / sqrt(p(1-p)(1/n1 + 1/n2)) with the pooled rate p (Fleiss, Levin and Paik
// 2003, 3.1), and the two-sided p-value of the normal distribution. Where all trials agree
// z is 0. Trials of one prompt are not independent: use ChangeOf for
// snapshots.
func TwoProportions(x1, n1, x2, n2 int) (z, p float64) {
	a, b := float64(n1), float64(n2)
	pool := float64(x1+x2) / (a + b)
	if v := pool * (1 - pool) * (1/a + 1/b); v > 0 {
		z = (float64(x2)/b - float64(x1)/a) / math.Sqrt(v)
	}
	return z, math.Erfc(math.Abs(z) / math.Sqrt2)
}
