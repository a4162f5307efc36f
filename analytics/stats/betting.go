package stats

import "math"

// bettingSteps is the number of equal steps between the means that Betting tests.
const bettingSteps = 1000

// A Betting is a confidence sequence of a mean of observations in [0, 1]: with a chance of
// at least 1 - alpha its interval covers the mean after every observation, so looking at
// any time and stopping for any reason is allowed. It assumes that each observation has
// the same mean given the ones before, and nothing else of their distribution. Trials of
// one prompt do not have that: add one value per prompt, drawn in random order, or one
// value per complete block for a fixed set of prompts.
//
// It is the hedged capital of Waudby-Smith and Ramdas (2024, "Estimating means of bounded
// random variables by betting", JRSS-B 86, theorem 3). For a mean m, half
// of the capital bets on more and half on less:
//
//	K+(m) = prod(1 + min(L, c/m) (x - m)),  K-(m) = prod(1 - min(L, c/(1-m)) (x - m)),
//	L = sqrt(2 log(2/alpha) / (v t log(t+1))),  c = 1/2,
//
// where v is the variance of the observations before, with one of variance 1/4 at mean
// 1/2 added. Means with K+ or K- of at least 2/alpha are rejected for good. K+ falls with m
// and K- rises, so the means that remain are an interval. It is computed at multiples of
// 0.001 and rounded outwards.
type Betting struct {
	limit              float64 // log(2/alpha)
	n, sum, deviations float64
	low, high          int                   // rejected multiples of 1/bettingSteps; 0 and 1 are ends
	above, below       [bettingSteps]float64 // log K+ and log K-
}

// NewBetting returns the confidence sequence of level 1 - alpha, 0 < alpha < 1, before the
// first observation.
func NewBetting(alpha float64) *Betting {
	return &Betting{limit: math.Log(2 / alpha), high: bettingSteps}
}

// Add adds an observation in [0, 1].
func (b *Betting) Add(x float64) {
	const c = 0.5
	t := b.n + 1
	variance := (0.25 + b.deviations) / t
	bet := math.Sqrt(2 * b.limit / (variance * t * math.Log(t+1)))
	low, high := b.low, b.high
	for i := low + 1; i < high; i++ {
		m := float64(i) / bettingSteps
		b.above[i] += math.Log1p(math.Min(bet, c/m) * (x - m))
		b.below[i] += math.Log1p(-math.Min(bet, c/(1-m)) * (x - m))
		if b.above[i] >= b.limit {
			b.low = i
		} else if b.below[i] >= b.limit && b.high == high {
			b.high = i
		}
	}
	b.n, b.sum = t, b.sum+x
	b.deviations += sq(x - (0.5+b.sum)/(t+1))
}

// Interval returns the means that no observation so far has rejected, [0, 1] at first. It
// never grows, and its width is 0.001 at least.
func (b *Betting) Interval() Interval {
	return Interval{float64(b.low) / bettingSteps, float64(b.high) / bettingSteps}
}

// AddDifference adds an observation d in [-1, 1] as (d+1)/2.
func (b *Betting) AddDifference(d float64) { b.Add((d + 1) / 2) }

// Difference returns the interval of a mean that AddDifference was used for, within
// [-1, 1].
func (b *Betting) Difference() Interval {
	i := b.Interval()
	return Interval{2*i.Low - 1, 2*i.High - 1}
}
