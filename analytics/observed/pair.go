package observed

import "github.com/firstpick/firstpick/analytics/stats"

// A Pair is how far one tool is ahead of another, with its 95 % interval for this pair alone.
type Pair struct {
	Diff, CILow, CIHigh float64
	// Shown reports whether the difference is significant, for this pair alone.
	Shown bool
}

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
			if ok && l.Interval.High-l.Interval.Low < 2 { // else nothing is known
				out[[2]string{ahead.Slug, behind.Slug}] = Pair{round(l.Diff), round(l.Interval.Low), round(l.Interval.High), l.Shown}
			}
		}
	}
	return out
}
