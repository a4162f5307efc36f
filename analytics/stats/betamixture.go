package stats

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// BetaMixture is the confidence sequence of a rate after s successes in n independent
// trials: over all n at once it covers the rate with a chance of at least 1 - alpha, so
// looking after every trial is allowed. It holds the rates p with
//
//	B(1/2+s, 1/2+n-s) / (B(1/2, 1/2) p^s (1-p)^(n-s)) < 1/alpha,
//
// the likelihood ratio of the mixture Beta(1/2, 1/2) to p (Robbins 1970; Howard, Ramdas,
// McAuliffe and Sekhon 2021). With n = 0 it is [0, 1]. Trials of one prompt are not
// independent: for those see Ahead.
func BetaMixture(s, n int, alpha float64) Interval {
	hit, miss := float64(s), float64(n-s)
	mixture := mathext.Lbeta(0.5+hit, 0.5+miss) - mathext.Lbeta(0.5, 0.5)
	excess := func(p float64) float64 {
		e := mixture + math.Log(alpha)
		if s > 0 {
			e -= hit * math.Log(p)
		}
		if s < n {
			e -= miss * math.Log1p(-p)
		}
		return e
	}
	i, rate := Interval{0, 1}, hit/math.Max(1, float64(n))
	if s > 0 {
		i.Low = root(excess, 0, rate)
	}
	if s < n {
		i.High = root(excess, 1, rate)
	}
	return i
}

// root bisects for the zero of f, which is positive at out and not at in.
func root(f func(float64) float64, out, in float64) float64 {
	for range 100 {
		if mid := (out + in) / 2; f(mid) > 0 {
			out = mid
		} else {
			in = mid
		}
	}
	return out
}

// SignE is the e-value against "both are equally likely" of independent trials that one
// tool won and another lost: B(1/2+w, 1/2+l) / B(1/2, 1/2) * 2^(w+l), the likelihood ratio
// of the mixture Beta(1/2, 1/2) to the rate 1/2. Its chance to ever reach 1/alpha under
// that null is at most alpha (Ville 1939). It is two-sided.
func SignE(wins, losses int) float64 {
	w, l := float64(wins), float64(losses)
	return math.Exp(mathext.Lbeta(0.5+w, 0.5+l) - mathext.Lbeta(0.5, 0.5) + (w+l)*math.Ln2)
}

// AgreementChance is the chance that the first k trials agree between two outcomes with
// the rates p and 1-p: p^k + (1-p)^k. Stopping as soon as they do ("4 agree") biases rates
// to 0 and 1 by as much.
func AgreementChance(p float64, k int) float64 {
	return math.Pow(p, float64(k)) + math.Pow(1-p, float64(k))
}
