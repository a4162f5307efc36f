package stats

import "math"

// An Interval is a range of a proportion, or of a difference of two.
type Interval struct{ Low, High float64 }

// Wilson is the 95 % score interval of x successes in n trials (Wilson 1927).
// x and n may be fractions, 0 <= x <= n; with n = 0 it is [0, 1]. It is within
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

// Jeffreys is the 95 % equal-tailed interval under the prior Beta(1/2, 1/2)
// (Brown, Cai and DasGupta 2001), 0 <= x <= n; it ends at 0 for x = 0 and at 1
// for x = n.
func Jeffreys(x, n int) Interval {
	out := Interval{0, 1}
	a, b := float64(x)+0.5, float64(n-x)+0.5
	if x > 0 {
		out.Low = BetaQuantile(alpha/2, a, b)
	}
	if x < n {
		out.High = BetaQuantile(1-alpha/2, a, b)
	}
	return out
}

// ClopperPearson is the exact 95 % interval (Clopper and Pearson 1934), never
// shorter than it claims, 0 <= x <= n; it ends at 0 for x = 0 and at 1 for
// x = n.
func ClopperPearson(x, n int) Interval {
	out := Interval{0, 1}
	if x > 0 {
		out.Low = BetaQuantile(alpha/2, float64(x), float64(n-x)+1)
	}
	if x < n {
		out.High = BetaQuantile(1-alpha/2, float64(x)+1, float64(n-x))
	}
	return out
}
