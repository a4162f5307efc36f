package stats

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// Z975 is the 97.5 % quantile of the standard normal distribution.
const Z975 = 1.959963984540054

// NormalQuantile is the q quantile of the standard normal distribution, by the
// inverse error function; it is infinite at 0 and 1 and not a number outside.
func NormalQuantile(q float64) float64 { return math.Sqrt2 * math.Erfinv(2*q-1) }

// tTail is P(T >= t) of Student's t for t >= 0 and df > 0 degrees of freedom
// (Abramowitz and Stegun 26.7.1). It keeps small tails that 1 - CDF would lose.
func tTail(t, df float64) float64 {
	if math.IsInf(t, 1) {
		return 0
	}
	return mathext.RegIncBeta(df/2, 0.5, df/(df+t*t)) / 2
}

// TQuantile is the q quantile of Student's t. For q outside (0, 1) or df below 1
// it is infinite with the sign of q - 1/2. With df above 1e5, tails below 1e-6 are
// beyond the library that inverts the beta function.
func TQuantile(q, df float64) float64 {
	if df < 1 || q <= 0 || q >= 1 {
		return math.Inf(int(math.Copysign(1, q-0.5)))
	}
	y := mathext.InvRegIncBeta(df/2, 0.5, 2*math.Min(q, 1-q))
	return math.Copysign(math.Sqrt(df*(1-y)/y), q-0.5)
}

// BinomialTail is P(X >= x) for X ~ Bin(n, p), exact by the incomplete beta
// function (Abramowitz and Stegun 26.5.24): 1 for x <= 0, 0 for x > n.
func BinomialTail(x, n int, p float64) float64 {
	if x <= 0 {
		return 1
	}
	if x > n {
		return 0
	}
	return mathext.RegIncBeta(float64(x), float64(n-x)+1, p)
}
