package views

import (
	"fmt"

	"github.com/firstpick/firstpick/analytics/observed"
	"github.com/firstpick/firstpick/server/kit/chart"
	"github.com/firstpick/firstpick/server/kit/render"
)

// How often agents used a tool has one of two forms, by one rule for all pages: the whole of a board, its
// languages and its agents alike.
//
//   - render.UseRate decides: a rate with its 95 % interval, however wide it is, or a count. useRule says it in
//     the legends. In a sentence, which has the number of units, useShare is the same.
//   - Without its interval, in claims, badges and texts of pictures, it is a rate where the interval is at most
//     widestUse and another tool was used, too. Else the rate alone would look firm, and it is a count
//     (sighting.rate).

// widestUse is the widest interval of a rate that stands alone.
const widestUse = .5

// useRule says when a count stands in place of a rate.
func useRule(unit string) string {
	return fmt.Sprintf("Counts replace shares of fewer than %d %ss, of a tool without a rival, and with an interval over %.0f points.", observed.MinUnits, unit, 100*render.MaxInterval)
}

// useShare is render.UseRate in a sentence that says of how many units: 66.0%, or 26 of 40 without its end.
func useShare(u observed.Use, units int) string {
	if rate, interval := render.UseRate(u, units); interval != "" {
		return rate
	}
	return chart.Whole(int64(u.Uses))
}

// wholeUse is the rate of use of a tool and its interval in whole per cent, or a count without one.
func wholeUse(p observed.Part, t observed.Rate) (rate, interval string) {
	m := useMark(p, t)
	if !m.Interval {
		return m.Text, ""
	}
	return shareText(t.Uses, p.NUnits), wholeInterval(t.CILow, t.CIHigh)
}

// wholeInterval is like: 33–88%.
func wholeInterval(low, high float64) string {
	return wholePercent(low) + "–" + wholePercent(high) + "%"
}

// aloneUse is the rate of use without its interval, in whole per cent, or a count.
func aloneUse(p observed.Part, t observed.Rate) string {
	if t.CIHigh-t.CILow > widestUse {
		return render.UseCount(t.Use, p.NUnits)
	}
	rate, _ := wholeUse(p, t)
	return rate
}

// partChips are the doubts about the rates of an agent, in a few words. Few units have counts, so no other
// doubt.
func partChips(b *observed.Board, p observed.Part) []string {
	if p.NUnits < observed.MinUnits {
		return []string{"few"}
	}
	return seenChips(b, p)
}
