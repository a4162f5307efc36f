package observed

import (
	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/analytics/stats"
)

// A Pair is how far one tool is ahead of another, with its 95 % interval for this pair alone.
type Pair struct {
	Diff, CILow, CIHigh float64
	// P is its two-sided p-value, and Shown reports whether the difference is significant, for this
	// pair alone.
	P     float64
	Shown bool
	// Together is the same with all pairs of the board compared at once, as its ranks are; nil in a part
	// of a board, which has no ranks.
	Together *Together
}

// A Together is how far one tool is ahead of another, with the interval and the p-value of all pairs of a
// board at once.
type Together struct {
	CILow, CIHigh, P float64
	Shown            bool
}

// Known reports whether the interval leaves out a difference: that of a part with one repository, or
// with one that decides all rates, leaves out none.
func (p Pair) Known() bool { return p.CIHigh-p.CILow < 2 }

// within limits the interval to the differences that the intervals of both rates allow. However
// both rates depend on each other, the interval made of theirs (MOVER: Zou and Donner 2008) is within
// these ends.
func (p *Pair) within(ahead, behind stats.Interval) {
	p.CIHigh = min(p.CIHigh, analytics.Round(ahead.High-behind.Low))
	if low := analytics.Round(ahead.Low - behind.High); p.Shown == (low > 0) {
		p.CILow = max(p.CILow, low)
	}
}

// ShownTogether reports which of several pairs are significant with all of them compared at once
// (Holm): the chance of any false one is at most 5 %.
func ShownTogether(pairs []Pair) []bool {
	p := make([]float64, len(pairs))
	for i, pair := range pairs {
		p[i] = pair.P
	}
	out := make([]bool, len(pairs))
	for i, adjusted := range stats.Holm(p) {
		out[i] = pairs[i].Shown && adjusted < alpha
	}
	return out
}

// alpha is the chance of a false difference that a test allows.
const alpha = .05

// maxPaired is how many tools of a part are compared in pairs, the most used first.
const maxPaired = 12

// pairs compares the tools of a part by slug, that with the higher rate first. Tools with the same
// rate have no pair.
func (t *tally) pairs(p Part) map[[2]string]Pair {
	d := stats.NewRatio(t.sizes)
	estimates, rates := t.rates(d)
	out := map[[2]string]Pair{}
	listed := p.Tools[:min(maxPaired, len(p.Tools))]
	for i, ahead := range listed {
		for _, behind := range listed[i+1:] {
			x, y := t.category.place(ahead.Slug), t.category.place(behind.Slug)
			l, ok := d.Compare([]stats.Estimate{estimates[x], estimates[y]}, []stats.Rate{rates[x], rates[y]}).Lead(0, 1)
			if !ok {
				continue
			}
			pair := Pair{Diff: analytics.Round(l.Diff), CILow: analytics.Round(l.Interval.Low), CIHigh: analytics.Round(l.Interval.High), P: l.Adjusted, Shown: l.Shown}
			if pair.Known() {
				pair.within(rates[x].Interval, rates[y].Interval)
			}
			out[[2]string{ahead.Slug, behind.Slug}] = pair
		}
	}
	return out
}

// together adds to the pairs of a board what its ranks rest on: the comparison of all its tools.
func (t *tally) together(pairs map[[2]string]Pair) {
	d := stats.NewRatio(t.sizes)
	estimates, rates := t.rates(d)
	order := d.Compare(estimates, rates)
	for slugs, p := range pairs {
		if l, ok := order.Lead(t.category.place(slugs[0]), t.category.place(slugs[1])); ok {
			p.Together = &Together{analytics.Round(l.Interval.Low), analytics.Round(l.Interval.High), l.Adjusted, l.Shown}
			pairs[slugs] = p
		}
	}
}
