// Package chart draws small charts as SVG on the server: stacked columns over
// time, bars, splits of a whole, sparklines. It is pure: numbers in, markup out.
//
// Horizontal lengths are in per cent, vertical ones in pixels, so that one drawing fits
// every width and its text is never scaled. Colours are classes
// ("s-" and the name of a series), which the style sheet fills for light and dark.
// Every text is escaped.
package chart

import (
	"cmp"
	"fmt"
	"html"
	"html/template"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/firstpick/firstpick/analytics/stats"
)

// A Series is one kind of stacked or split values.
type Series struct {
	Class string // of the style sheet, without "s-"
	Name  string // for people
}

// A Column is a place on the axis.
type Column struct {
	Label  string  // short, under the axis
	Title  string  // long, for the tooltip
	Values []int64 // one for each series, not negative
	Link   string  // to what the column counts; optional
	// Partial marks that the column counts a part of its day or week.
	Partial bool
}

// Total returns the height of a column.
func (c *Column) Total() int64 {
	n := int64(0)
	for _, v := range c.Values {
		n += v
	}
	return n
}

// The measures of Columns, in pixels.
const (
	plotHeight = 168 // from the axis to the top of the scale
	above      = 24  // room for the tooltip
	below      = 22  // room for labels
	axisWidth  = 46  // of the numbers at the side
	fullHeight = above + plotHeight + below
)

// Columns draws stacked columns, the first series at the bottom. name is the chart's
// accessible name; the numbers belong into a table next to it.
func Columns(series []Series, columns []Column, name string) template.HTML {
	most := int64(0)
	for i := range columns {
		most = max(most, columns[i].Total())
	}
	scale := NewScale(most)
	var b strings.Builder
	fmt.Fprintf(&b, `<div class="chart"><svg class="axis" width="%d" height="%d" aria-hidden="true">`, axisWidth, fullHeight)
	for _, tick := range scale.Ticks() {
		fmt.Fprintf(&b, `<text x="%d" y="%s" text-anchor="end">%s</text>`, axisWidth-8, number(height(tick, scale.Top)+4), Compact(tick))
	}
	role := "img"
	if slices.ContainsFunc(columns, func(c Column) bool { return c.Link != "" }) {
		role = "group" // the parts of an image cannot be opened
	}
	fmt.Fprintf(&b, `</svg><svg class="columns" width="100%%" height="%d" role="%s" aria-label="%s">`, fullHeight, role, html.EscapeString(name))
	for _, tick := range scale.Ticks() {
		y := number(height(tick, scale.Top))
		fmt.Fprintf(&b, `<line x1="0" x2="100%%" y1="%s" y2="%s"/>`, y, y)
	}
	width := 100 / float64(max(len(columns), 1))
	for i := range columns {
		p := plot{series, float64(i) * width, width, scale.Top}
		p.column(&b, &columns[i])
	}
	for n, i := range labelled(len(columns)) {
		class := "x"
		if n%2 == 1 {
			class = "x more" // hidden on narrow screens
		}
		fmt.Fprintf(&b, `<text class="%s" x="%s%%" y="%d" text-anchor="middle">%s</text>`,
			class, number((float64(i)+.5)*width), fullHeight-5, html.EscapeString(columns[i].Label))
	}
	b.WriteString(`</svg></div>`)
	return template.HTML(b.String()) //nolint:gosec // every text in it is escaped above
}

// A plot is the area of one column.
type plot struct {
	series      []Series
	from, width float64 // per cent of the chart
	top         int64   // value at the upper edge
}

// column draws a column and its tooltip.
func (p plot) column(b *strings.Builder, c *Column) {
	series, from, width, top := p.series, p.from, p.width, p.top
	gap := width * .14
	if c.Link != "" {
		fmt.Fprintf(b, `<a href="%s">`, html.EscapeString(c.Link))
	}
	class := "column"
	if c.Partial {
		class += " partial"
	}
	total, split := html.EscapeString(c.Title+": "+Whole(c.Total())), ""
	fmt.Fprintf(b, `<g class="%s"><title>%s`, class, total)
	for i := len(series) - 1; i >= 0; i-- {
		if c.Values[i] > 0 {
			part := html.EscapeString(series[i].Name + " " + Whole(c.Values[i]))
			b.WriteString("\n" + part)
			split += " · " + part
		}
	}
	if split != "" && len(series) > 1 {
		split = `<tspan class="wider">` + split + `</tspan>` // a narrow screen has no room for it
	} else {
		split = ""
	}
	fmt.Fprintf(b, `</title><rect class="hit" x="%s%%" y="0" width="%s%%" height="%d"/>`, number(from), number(width), above+plotHeight)
	below := int64(0)
	for i, v := range c.Values {
		if v <= 0 {
			continue
		}
		y := height(below+v, top)
		fmt.Fprintf(b, `<rect class="s-%s" x="%s%%" y="%s" width="%s%%" height="%s"/>`,
			html.EscapeString(series[i].Class), number(from+gap/2), number(y), number(width-gap), number(height(below, top)-y))
		below += v
	}
	end := `%s</g>`
	if c.Link != "" { // outside, so that the outline of the focus is around the column alone
		end = `</g></a>%s`
	}
	fmt.Fprintf(b, end, `<text class="tip" x="100%" y="14" text-anchor="end">`+total+split+`</text>`)
}

// height returns the y coordinate of a value.
func height(v, top int64) float64 {
	return above + plotHeight*(1-float64(v)/float64(max(top, 1)))
}

// labelled returns the columns that have labels: at most eight, equally spaced.
func labelled(n int) []int {
	every := max((n+7)/8, 1)
	var out []int
	for i := (every - 1) / 2; i < n; i += every {
		out = append(out, i)
	}
	return out
}

// A Part is a piece of a whole.
type Part struct {
	Series
	Value int64
	Text  string // for people; the value where it is empty
}

// Split draws parts as one bar, in their order. The bar is full at whole, or at
// their sum if that is more.
func Split(parts []Part, whole int64, name string) template.HTML {
	all := int64(0)
	for _, p := range parts {
		all += max(p.Value, 0)
	}
	all = max(all, whole)
	var b strings.Builder
	fmt.Fprintf(&b, `<svg class="split" width="100%%" height="14" role="img" aria-label="%s"><rect class="track" width="100%%" height="14"/>`, html.EscapeString(name))
	from := int64(0)
	for _, p := range parts {
		if p.Value <= 0 {
			continue
		}
		fmt.Fprintf(&b, `<rect class="s-%s" x="%s%%" y="0" width="%s%%" height="14"><title>%s</title></rect>`,
			html.EscapeString(p.Class), position(from, all), position(p.Value, all), html.EscapeString(p.Name+": "+cmp.Or(p.Text, Whole(p.Value))))
		from += p.Value
	}
	b.WriteString(`</svg>`)
	return template.HTML(b.String()) //nolint:gosec // every text in it is escaped above
}

// Bar draws a value relative to the largest of its list. It is hidden from screen
// readers: the number is in the text next to it.
func Bar(value, most int64, class string) template.HTML {
	return template.HTML(fmt.Sprintf( //nolint:gosec // numbers, and a class that is escaped
		`<svg class="hbar" width="100%%" height="6" aria-hidden="true"><rect class="s-%s" width="%s%%" height="6" rx="1"/></svg>`,
		html.EscapeString(class), position(min(max(value, 0), most), most)))
}

// Spark draws a sparkline without a scale. It is hidden from screen readers.
func Spark(values []int64) template.HTML {
	if len(values) < 2 {
		return ""
	}
	most := int64(1)
	for _, v := range values {
		most = max(most, v)
	}
	var points strings.Builder
	for i, v := range values {
		fmt.Fprintf(&points, "%s,%s ", number(100*float64(i)/float64(len(values)-1)), number(22-20*float64(v)/float64(most)))
	}
	line := strings.TrimSpace(points.String())
	return template.HTML(fmt.Sprintf( //nolint:gosec // numbers only
		`<svg class="spark" viewBox="0 0 100 24" preserveAspectRatio="none" aria-hidden="true"><polygon points="0,24 %s 100,24"/><polyline points="%s"/></svg>`,
		line, line))
}

// position returns the percentage of part in whole, as a coordinate.
func position(part, whole int64) string {
	if whole <= 0 {
		return "0"
	}
	return number(100 * float64(part) / float64(whole))
}

// WholePercent returns a share of 0 to 1 in whole per cent. Halves are rounded up, also where the product is
// just below one, as for .285.
func WholePercent(v float64) int { return int(math.Round(math.Round(1e8*v) / 1e6)) }

// Fixed formats a share of 0 to 1 for a column, always with one decimal: 12.0%, <0.1%.
func Fixed(v float64) string {
	if v > 0 && v < 0.001 {
		return "<0.1%"
	}
	return strconv.FormatFloat(stats.Percent(v), 'f', 1, 64) + "%"
}

// Percent formats a share of 0 to 1 for a sentence: 12.5%, 12%, <0.1%.
func Percent(v float64) string {
	return strings.Replace(Fixed(v), ".0%", "%", 1)
}

// number writes a coordinate with three decimals at most.
func number(v float64) string {
	return strings.TrimSuffix(strings.TrimRight(strconv.FormatFloat(v, 'f', 3, 64), "0"), ".")
}
