package render

import (
	"fmt"
	"slices"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/analytics/observed"
	"github.com/firstpick/firstpick/server/kit/chart"
)

// used are the tools that some unit uses; unused are the others.
func used(b *observed.Board) []observed.Standing {
	return slices.DeleteFunc(slices.Clone(b.Tools), func(s observed.Standing) bool { return s.Uses == 0 })
}

func unused(b *observed.Board) []observed.Standing {
	return slices.DeleteFunc(slices.Clone(b.Tools), func(s observed.Standing) bool { return s.Uses > 0 })
}

// UseRate is the form of an observed rate of so many units on all pages: the rate with its 95 % interval, or
// the count, such as 264 of 400, where the units are fewer than observed.MinUnits, nobody used the tool, or the
// interval is so wide that it says nothing. The count has no interval.
func UseRate(u observed.Use, units int) (rate, interval string) {
	if units < observed.MinUnits || u.Uses == 0 || u.CIHigh-u.CILow > MaxInterval {
		return UseCount(u, units), ""
	}
	return chart.Fixed(u.UseRate), Interval(u.CILow, u.CIHigh)
}

// MaxInterval is the widest interval of an observed rate that pages show.
const MaxInterval = .9

// UseCount is like 264 of 400.
func UseCount(u observed.Use, units int) string {
	return chart.Whole(int64(u.Uses)) + " of " + chart.Whole(int64(units))
}

// observedNote says what a field rate is of.
func observedNote(f *analytics.FieldRate) string {
	text := fmt.Sprintf("observed in %d of %d pull requests or commits in %d repositories; not a pick rate", f.Uses, f.NUnits, f.NRepos)
	if ci := ci(f.CILow, f.CIHigh); ci != "" {
		return ci + "; " + text
	}
	return text
}

// agreement is a verb for a Kendall's tau of -1 to 1.
func agreement(tau float64) string {
	switch {
	case tau >= .6:
		return "agree with"
	case tau >= .2:
		return "partly agree with"
	case tau > -.2:
		return "hardly agree with"
	default:
		return "contradict"
	}
}

// tau says how far ranks agree with those of the observed board.
func tau(a *analytics.FieldAgreement) string {
	text := fmt.Sprintf("%s: the ranks of %d tools %s those of what agents used: %.2f, where 1 is the same order (Kendall's tau-b", observed.Mark, a.Tools, agreement(a.Tau), a.Tau)
	if a.CILow <= -1 && a.CIHigh >= 1 {
		return text + "; no interval with one prompt)."
	}
	return text + fmt.Sprintf("; 95%% CI %.2f to %.2f).", a.CILow, a.CIHigh)
}
