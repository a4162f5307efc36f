package render

import (
	"fmt"
	"html/template"
	"math"
	"slices"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/server/kit/chart"
)

// Interval formats the 95 % interval of a rate; empty for 0 to 1, which says nothing: all
// prompts are of one family.
func Interval(low, high float64) string {
	if low <= 0 && high >= 1 {
		return ""
	}
	return chart.Percent(low) + "–" + chart.Percent(high)
}

// ofAgent formats the interval of a rate; empty where it is unknown.
func ofAgent(r analytics.AgentRate) string {
	if r.Interval == nil {
		return ""
	}
	return Interval(r.CILow, r.CIHigh)
}

// atMost formats the upper end of the interval of a tool that was not picked; empty where
// it says nothing.
func atMost(s analytics.Standing) string {
	if s.CIHigh >= 1 {
		return ""
	}
	return chart.Percent(s.CIHigh)
}

// single reports whether all prompts of a board are of one family.
func single(b analytics.Board) bool { return slices.Contains(b.Warnings, analytics.SinglePrompt) }

// points formats a difference of rates in percentage points. A difference that is not 0
// does not look like 0.
func points(v float64) string {
	if v != 0 && math.Abs(v) < 0.0005 {
		return fmt.Sprintf("%+.1g", 100*v)
	}
	return fmt.Sprintf("%+.1f", 100*v)
}

// pValue formats a p-value.
func pValue(p float64) string {
	if p < 0.001 {
		return "<0.001"
	}
	return fmt.Sprintf("%.3f", p)
}

// bar draws a rate with its intervals: a faint band for the 95 % CI, a solid one for the
// naive interval, and a mark at the rate. It holds numbers only, so nothing needs
// escaping.
func bar(s analytics.Standing) template.HTML {
	x := func(v float64) string { return fmt.Sprintf("%.2f", 100*v) }
	label := fmt.Sprintf("%s, 95%% CI %s to %s, naive interval %s to %s", chart.Percent(s.PickRate), chart.Percent(s.CILow), chart.Percent(s.CIHigh), chart.Percent(s.FlatLow), chart.Percent(s.FlatHigh))
	return template.HTML(fmt.Sprintf( //nolint:gosec // numbers only
		`<svg class="bar" viewBox="0 0 100 12" preserveAspectRatio="none" role="img" aria-label="%s">`+
			`<rect class="track" x="0" y="5" width="100" height="2"/><rect class="band" x="%s" y="2" width="%s" height="8"/>`+
			`<rect class="flat" x="%s" y="4" width="%s" height="4"/><rect class="mark" x="%s" y="1" width="0.8" height="10"/></svg>`,
		label, x(s.CILow), x(s.CIHigh-s.CILow), x(s.FlatLow), x(max(0.004, s.FlatHigh-s.FlatLow)), x(min(s.PickRate, 0.992))))
}
