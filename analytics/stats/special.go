package stats

import "math"

// Z975 is the 97.5 % quantile of the standard normal distribution.
const Z975 = 1.959963984540054

// NormalQuantile is the q quantile of the standard normal distribution, by the
// inverse error function; it is infinite at 0 and 1 and not a number outside.
func NormalQuantile(q float64) float64 { return math.Sqrt2 * math.Erfinv(2*q-1) }

// BetaInc is the regularised incomplete beta function I_x(a, b), by Lentz's
// continued fraction (Numerical Recipes, 6.4). a and b must be positive; x
// beyond [0, 1] gives 0 or 1.
func BetaInc(a, b, x float64) float64 {
	if x <= 0 {
		return 0
	}
	if x >= 1 {
		return 1
	}
	front := math.Exp(a*math.Log(x) + b*math.Log1p(-x) - lbeta(a, b))
	if x < (a+1)/(a+b+2) {
		return front * betaFraction(a, b, x) / a
	}
	return 1 - front*betaFraction(b, a, 1-x)/b
}

func lbeta(a, b float64) float64 {
	la, _ := math.Lgamma(a)
	lb, _ := math.Lgamma(b)
	lab, _ := math.Lgamma(a + b)
	return la + lb - lab
}

func betaFraction(a, b, x float64) float64 {
	const (
		tiny  = 1e-300
		exact = 1e-15
		steps = 10_000
	)
	nonzero := func(v float64) float64 {
		if math.Abs(v) > tiny {
			return v
		}
		return tiny
	}
	c, d := 1.0, 1/nonzero(1-(a+b)*x/(a+1))
	h := d
	for m := 1.0; m < steps; m++ {
		even := m * (b - m) * x / ((a - 1 + 2*m) * (a + 2*m))
		d, c = 1/nonzero(1+even*d), nonzero(1+even/c)
		h *= d * c
		odd := -(a + m) * (a + b + m) * x / ((a + 2*m) * (a + 1 + 2*m))
		d, c = 1/nonzero(1+odd*d), nonzero(1+odd/c)
		h *= d * c
		if math.Abs(d*c-1) < exact {
			break
		}
	}
	return h
}

// TCDF is the distribution function of Student's t with df > 0 degrees of
// freedom (Abramowitz and Stegun 26.7.1 through the incomplete beta function).
func TCDF(t, df float64) float64 {
	tail := tTail(math.Abs(t), df)
	if t > 0 {
		return 1 - tail
	}
	return tail
}

// tTail is P(T >= t) for t >= 0. It keeps small tails that 1 - TCDF would lose.
func tTail(t, df float64) float64 {
	if math.IsInf(t, 1) {
		return 0
	}
	return BetaInc(df/2, 0.5, df/(df+t*t)) / 2
}

// TQuantile is the q quantile of Student's t. If it is undefined (q
// not inside (0, 1), df below 1) it is infinite with the sign of q - 1/2.
func TQuantile(q, df float64) float64 {
	if df < 1 || q <= 0 || q >= 1 {
		return math.Inf(int(math.Copysign(1, q-0.5)))
	}
	high := 1.0
	for TCDF(high, df) < math.Max(q, 1-q) {
		high *= 2
	}
	return bisect(func(t float64) float64 { return TCDF(t, df) - q }, -high, high)
}

// BetaQuantile is the q quantile of the distribution Beta(a, b), found by
// bisection; a and b must be positive. It is 0 for q <= 0 and 1 for q >= 1.
func BetaQuantile(q, a, b float64) float64 {
	if q <= 0 {
		return 0
	}
	if q >= 1 {
		return 1
	}
	return bisect(func(x float64) float64 { return BetaInc(a, b, x) - q }, 0, 1)
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
	return BetaInc(float64(x), float64(n-x)+1, p)
}

// bisect finds the zero of an increasing function, to the last bit that halving
// can distinguish.
func bisect(f func(float64) float64, low, high float64) float64 {
	for range 200 {
		mid := (low + high) / 2
		if mid <= low || mid >= high {
			break
		}
		if f(mid) > 0 {
			high = mid
		} else {
			low = mid
		}
	}
	return (low + high) / 2
}
