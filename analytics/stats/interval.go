package stats

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

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

// Jeffreys is the 95 % equal-tailed interval of x successes in n trials under the prior
// Beta(1/2, 1/2), with the ends 0 at x = 0 and 1 at x = n (Brown, Cai and DasGupta 2001,
// section 4.1.2). Its mean coverage is 95 %; single rates may have less.
func Jeffreys(x, n int) Interval { return betaInterval(x, n, 0.5, 0.5) }

// ClopperPearson is the exact 95 % interval of x successes in n trials (Clopper and
// Pearson 1934): its coverage is 95 % or more at every rate. With n = 0 it is [0, 1].
func ClopperPearson(x, n int) Interval { return betaInterval(x, n, 0, 1) }

// betaInterval has its low end from Beta(x+a, n-x+b) and its high end from the mirrored
// Beta(x+b, n-x+a).
func betaInterval(x, n int, a, b float64) Interval {
	i, hit, miss := Interval{0, 1}, float64(x), float64(n-x)
	if x > 0 {
		i.Low = mathext.InvRegIncBeta(hit+a, miss+b, alpha/2)
	}
	if x < n {
		i.High = mathext.InvRegIncBeta(hit+b, miss+a, 1-alpha/2)
	}
	return i
}

// ZeroErrorBound is the 95 % upper bound of an error rate when n independent checks found
// no error: 1 - 0.05^(1/n), one-sided Clopper and Pearson 1934, about 3/n (Hanley and
// Lippman-Hand 1983). It is 1 with n = 0.
func ZeroErrorBound(n int) float64 { return 1 - math.Pow(alpha, 1/float64(n)) }

const alpha = 0.05
