package chart

import (
	"fmt"
	"html"
	"html/template"
	"math"
	"strings"
)

// longestName is the most characters of a name beside the zero of a difference.
const longestName = 16

func cutName(name string) string {
	if r := []rune(name); len(r) > longestName {
		return string(r[:longestName-1]) + "…"
	}
	return name
}

// Difference draws a difference of two rates, -1 to 1, with its interval, on an axis with zero
// in its middle. interval is the interval as text; left and right are the tools that are ahead on each
// side.
func Difference(diff, low, high float64, interval, left, right string) template.HTML {
	const height, middle = 44, 30
	top := 1.1 * max(math.Abs(low), math.Abs(high), math.Abs(diff), .01)
	x := func(v float64) string { return number(50 + 50*v/top) }
	var b strings.Builder
	fmt.Fprintf(&b, `<svg class="difference" height="%d" role="img" aria-label="%s">`, height, html.EscapeString(fmt.Sprintf("Difference with its 95%% CI, %s points; above 0: %s is ahead", interval, right)))
	fmt.Fprintf(&b, `<text x="0" y="11">← %s</text><text x="50%%" y="11" text-anchor="middle">0</text><text x="100%%" y="11" text-anchor="end">%s →</text>`, html.EscapeString(cutName(left)), html.EscapeString(cutName(right)))
	fmt.Fprintf(&b, `<line class="zero" x1="50%%" x2="50%%" y1="16" y2="42"/>`)
	fmt.Fprintf(&b, `<rect class="band" x="%s%%" y="%d" width="%s%%" height="10" rx="5"/>`, x(low), middle-5, number(50*(high-low)/top))
	fmt.Fprintf(&b, `<circle class="rate" cx="%s%%" cy="%d" r="5.5"/></svg>`, x(diff), middle)
	return template.HTML(b.String()) //nolint:gosec // numbers, and texts that are escaped
}
