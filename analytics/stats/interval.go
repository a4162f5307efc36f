package stats

import "math"

// An Interval is a range of a proportion, or of a difference of two.
type Interval struct{ Low, High float64 }

// Wilson is the 95 % score interval of x successes in n trials (Wilson 1927).
// x and n may be fractions, 0 <= x <= n; with n = 0 it is [0, 1]. It lies within
// [0, 1] and contains x/n.
func Wilson(x, n float64) Interval { return wilson(x, n, Z975) }

func wilson(x, n, z float64) Interval {
	if n <= 0 {
		return Interval{0, 1}
	}
	p, zz := x/n, z*z
	centre := (p + zz/(2*n)) / (1 + zz/n)
	half := z / (1 + zz/n) * math.Sqrt(p*(1-p)/n+zz/(4*n*n))
	return Interval{math.Max(0, centre-half), math.Min(1, centre+half)}
}

const alpha = 0.05
