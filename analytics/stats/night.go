package stats

import "math"

// A NightCell holds tonight's trials of one family of prompts with one agent, and how many
// of them picked the tool, 0 <= Picks <= Trials.
type NightCell struct {
	Family, Agent string
	Picks, Trials int
}

// A NightTest gathers evidence over nights that a tool's pick rate dropped, and that it
// rose, as two e-processes. Under "tonight's trials and the earlier ones of the same cell
// are exchangeable", the chance that DropE ever reaches 1/alpha is at most alpha, over any
// number of nights; RiseE the same. For K tools and both directions, compare with
// 2K/alpha at every look. The zero value is ready for use.
//
// Each night has exact p-values, conditional on the totals of each cell: tonight's picks in
// a cell are hypergeometric, and the test statistic is their sum over cells. Given the
// totals they are super-uniform whatever the later nights bring, so by backward induction
// the p-values of successive nights are dominated by independent uniform ones (Vovk,
// Gammerman and Shafer 2022, "Algorithmic Learning in a Random World", chapter 8).
//
// A bet d turns p into the factor f(p) = exp(d z - d^2/2), with z the normal quantile of
// 1-p: it falls with p and its integral is 1, so products of factors are bounded by a test
// martingale. A product from the first night on decays while nothing changes; so E is the
// mean over the night j when the change begins, with weights w that sum to 1:
//
//	E = sum over j <= n of w_j f(p_j) ... f(p_n) + sum over j > n of w_j,
//	w_j = c / ((c+j-1)(c+j)), c = 20,
//
// which is again bounded by one, because each start is. E is averaged over the bets d = 1,
// for slow changes, and d = 2, which finds a drop of 10 points soonest (TestNightPower).
//
// The number of trials of a cell must not depend on its outcomes. Trials of a night that
// shift together are changes too: if whole nights vary by 5 % of the rate, 100 nights of 200
// trials give about 13 % false alarms where 5 % are meant. A change in the first nights of a
// segment is soon part of the reference: power needs about ten nights before it.
type NightTest struct {
	reference  map[[2]string]nightTotal // of this segment
	nights     int                      // with a reference
	drop, rise startMixture
}

type nightTotal struct{ picks, trials int }

// Add adds the cells of a night. Cells of the same family and agent count as one. Cells
// without earlier trials in the segment enter the reference only, and a night that has no
// others leaves the evidence as it is.
func (t *NightTest) Add(cells []NightCell) {
	tonight := map[[2]string]nightTotal{}
	for _, c := range cells {
		key := [2]string{c.Family, c.Agent}
		n := tonight[key]
		tonight[key] = nightTotal{n.picks + c.Picks, n.trials + c.Trials}
	}
	if t.reference == nil {
		t.reference = map[[2]string]nightTotal{}
	}
	sum, picks, compared := countDistribution{0, []float64{1}}, 0, false
	for _, c := range cells { // in their order: rounding must not depend on that of a map
		key := [2]string{c.Family, c.Agent}
		now, before := tonight[key], t.reference[key]
		delete(tonight, key)
		if now.trials == 0 {
			continue
		}
		if before.trials > 0 {
			compared = true
			picks += now.picks
			sum = sum.plus(hypergeometric(now.trials, now.picks+before.picks, now.trials+before.trials))
		}
		t.reference[key] = nightTotal{now.picks + before.picks, now.trials + before.trials}
	}
	if !compared {
		return
	}
	t.nights++
	low, high := sum.tails(picks)
	t.drop.add(low, t.nights)
	t.rise.add(high, t.nights)
}

// Break begins a new segment, where what was measured changed: another model, prompt set
// or catalogue. The reference is forgotten and the evidence kept. The reason for a break
// must not be the outcomes.
func (t *NightTest) Break() { t.reference = nil }

// DropE is the e-value against "the rate did not drop", 1 at first.
func (t *NightTest) DropE() float64 { return t.drop.e(t.nights) }

// RiseE is the e-value against "the rate did not rise", 1 at first.
func (t *NightTest) RiseE() float64 { return t.rise.e(t.nights) }

// startWeight is c of NightTest: a month or so of nights shares most of the weight.
const startWeight = 20

// A startMixture holds, for each bet, the products of factors from each start on, weighted
// and summed.
type startMixture [2]float64

// add multiplies by the factors of the n-th p-value, n from 1.
func (m *startMixture) add(p float64, n int) {
	const smallest, largest = 1e-12, 1e100 // less evidence than there is, which is sound
	z := -NormalQuantile(math.Max(p, smallest))
	weight := startWeight / (float64(startWeight+n-1) * float64(startWeight+n))
	for i := range m {
		bet := float64(i + 1)
		m[i] = math.Min(largest, (m[i]+weight)*math.Exp(bet*z-bet*bet/2))
	}
}

// e is the mean over the bets, 1/4 and 3/4, with the weight of starts after night n.
func (m *startMixture) e(n int) float64 {
	return m[0]/4 + m[1]*3/4 + startWeight/float64(startWeight+n)
}
