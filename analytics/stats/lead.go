package stats

import "math"

// A LeadTest gathers evidence over nights that one tool's pick rate is above another's, as
// an e-process. Under "on every night the first rate, over the night's trials, is at most
// the second", the chance that E ever reaches 1/alpha is at most alpha, over any number of
// nights. The zero value is ready for use.
//
// A trial that picks the first tool counts +1, one that picks the second -1, any other 0. A
// bet b multiplies by 1+b, 1-b or 1. Trials are independent given their rates, so under the
// hypothesis a night's product has the expectation of prod(1 + b d_i) <= exp(b sum d_i) <= 1,
// with d_i the difference of the rates in trial i (Waudby-Smith and Ramdas 2024, "Estimating
// means of bounded random variables by betting"). As in NightTest, E is the mean over the
// night when the lead begins and over bets, for small leads and large ones.
type LeadTest struct {
	nights   int
	products [3]float64 // of each bet: products from each start on, weighted and summed
}

// Add adds a night: how many trials picked the first tool, and how many the second.
func (t *LeadTest) Add(first, second int) {
	const largest = 1e100 // less evidence than there is, which is sound
	t.nights++
	weight := startWeight / (float64(startWeight+t.nights-1) * float64(startWeight+t.nights))
	for i, bet := range leadBets() {
		factor := math.Exp(float64(first)*math.Log1p(bet) + float64(second)*math.Log1p(-bet))
		t.products[i] = math.Min(largest, (t.products[i]+weight)*factor)
	}
}

func leadBets() [3]float64 { return [3]float64{0.06, 0.18, 0.5} }

// E is the e-value against "the first rate was never above the second", 1 at first.
func (t *LeadTest) E() float64 {
	sum := 0.0
	for _, p := range t.products {
		sum += p
	}
	return sum/float64(len(t.products)) + startWeight/float64(startWeight+t.nights)
}
