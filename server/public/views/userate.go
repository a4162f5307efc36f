package views

import (
	"github.com/firstpick/firstpick/analytics/observed"
	"github.com/firstpick/firstpick/server/kit/chart"
	"github.com/firstpick/firstpick/server/kit/render"
)

// How often agents used a tool has one of two forms, by one rule for all pages:
//
//   - With its 95 % interval it is a rate, however wide the interval is: cards, plots, tables, citations. Where the
//     repositories allow no interval it is a count (useRate).
//   - Without it, in lists of tools, claims, badges and pictures, it is a rate where the interval is at most
//     widestUse and another tool was used, too. Else the rate alone would look firm, and it is a count
//     (sighting.rate).
//   - An agent or a further language with fewer than observed.MinUnits units has counts (partRate).

// widestUse is the widest interval of a rate that stands alone, and of a first tool on the first page.
const widestUse = .5

// useRate returns a rate of so many units with its interval, or the count where it has none.
func useRate(u observed.Use, units int) (rate, interval string) {
	if interval = render.Interval(u.CILow, u.CIHigh); interval == "" {
		return useCount(u, units), ""
	}
	return chart.Fixed(u.UseRate), interval
}

// useCount is like 264 of 400.
func useCount(u observed.Use, units int) string {
	return chart.Whole(int64(u.Uses)) + " of " + chart.Whole(int64(units))
}

// partRate returns a rate in the part of an agent or a language, or the count where the part is small.
func partRate(p observed.Part, u observed.Use) (rate, interval string) {
	if p.NUnits < observed.MinUnits {
		return useCount(u, p.NUnits), ""
	}
	return useRate(u, p.NUnits)
}
