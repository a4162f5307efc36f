package stats

import "math"

// aheadBets is the number of constant bets that Ahead averages.
const aheadBets = 20

// An Ahead gathers evidence that a mean of differences in [-1, 1] is above 0, as an
// e-process: under "each difference has a mean of at most 0 given the ones before", the
// chance that E ever reaches 1/alpha is at most alpha (Ville 1939), so looking at any time
// is allowed. For claims on K pairs at once compare E with K/alpha, and average E over
// several orders or sources freely. Add one value per prompt or per
// complete block, not one per trial. The zero value is ready for use.
//
// It is the wealth of a gambler who bets a share k/21 of it on each difference,
//
//	E = mean over k = 1..20 of prod(1 + k/21 d),
//
// a mixture of the test supermartingales of Waudby-Smith and Ramdas (2024, section 4) in
// place of bets that follow the data (Cover 1991, "Universal portfolios"). E depends on
// the differences and not on their order.
type Ahead struct {
	logs [aheadBets]float64
}

// Add adds a difference in [-1, 1], or any value of at least -1: the claim is sound for
// these too.
func (a *Ahead) Add(d float64) {
	for k := range a.logs {
		a.logs[k] += math.Log1p(float64(k+1) / (aheadBets + 1) * d)
	}
}

// E returns the e-value so far, 1 before the first difference. It is finite.
func (a *Ahead) E() float64 {
	sum := 0.0
	for _, l := range a.logs {
		sum += math.Exp(math.Min(l, 700)) // e^700 is near the largest number
	}
	return sum / aheadBets
}
