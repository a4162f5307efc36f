package render

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/analytics/stats"
	"github.com/firstpick/firstpick/server/kit/chart"
)

// Interval formats the 95 % interval of a rate; empty for 0 to 1, which says nothing: all
// prompts are of one family.
func Interval(low, high float64) string {
	if low <= 0 && high >= 1 {
		return ""
	}
	return chart.Fixed(low) + "–" + chart.Fixed(high)
}

// ofAgent formats the interval of a rate; empty where it is unknown.
func ofAgent(r analytics.AgentRate) string {
	if r.Interval == nil {
		return ""
	}
	return Interval(r.CILow, r.CIHigh)
}

// Bound says in a sentence how often a tool without a pick may be picked; empty where the upper
// end of its interval says nothing.
func Bound(s analytics.Standing) string {
	if s.CIHigh >= 1 || s.CIHigh <= 0 {
		return ""
	}
	return "A tool without a pick may still be picked on other kinds of prompts, in at most " + chart.Percent(s.CIHigh) + " of answers (95% bound). The bound is wide because each prompt counts as one answer: a kind that always picks the tool may be missing."
}

// Single reports whether all prompts of a board are of one family.
func Single(b analytics.Board) bool { return slices.Contains(b.Warnings, analytics.SinglePrompt) }

// Points formats a difference of rates in percentage points. A difference that is not 0
// does not look like 0.
func Points(v float64) string {
	text := fmt.Sprintf("%+.1f", stats.Percent(v))
	switch size := math.Abs(v); {
	case size < 1e-9: // of rates that are equal, but for rounding
		text = "0.0"
	case size < 0.0005:
		text = fmt.Sprintf("%+.1g", 100*v)
	}
	return strings.Replace(text, "-", "−", 1)
}

// PointsRange formats an interval of a difference of rates, its ends as PointsEnd does.
func PointsRange(low, high float64) string { return PointsEnd(low) + " to " + PointsEnd(high) }

// PointsEnd formats an end of an interval of a difference in percentage points, with one decimal.
// One that rounds to 0 keeps its sign: it shows on which side of 0 the interval ends.
func PointsEnd(v float64) string {
	if math.Abs(v) < 1e-9 {
		return "0.0"
	}
	return strings.Replace(fmt.Sprintf("%+.1f", stats.Percent(v)), "-", "−", 1)
}

// Difference formats the difference of two shares in percentage points, as a reader finds it
// from their printed forms.
func Difference(a, b float64) string {
	return Points(math.Round(1000*a)/1000 - math.Round(1000*b)/1000)
}

// PValue formats a p-value.
func PValue(p float64) string {
	if p < 0.001 {
		return "<0.001"
	}
	if p > 0.999 {
		return ">0.999"
	}
	return fmt.Sprintf("%.3f", p)
}
