package chart

import (
	"fmt"
	"html"
	"html/template"
	"math"
	"strings"
)

// A Point is a rate at a moment. X is its place on the axis of time, 0 to 1.
type Point struct {
	X, Rate, Low, High float64
	Interval           bool
	Title              string // for the tooltip
}

// An Event is a moment that a trend marks, with a short label. X is as of Point.
type Event struct {
	X            float64
	Label, Title string
}

// The measures of Trend: pixels, and per cent of the width.
const (
	trendTop, trendPlot, trendBelow, trendAxis = 18, 96, 8, 38
	trendLeft, trendWidth                      = 2, 96
)

// Trend draws a line with the band of its intervals over those of others, which stay in the
// background. name is the chart's accessible name.
func (a Axis) Trend(line []Point, others [][]Point, events []Event, name string) template.HTML {
	var b strings.Builder
	fmt.Fprintf(&b, `<div class="trend"><svg width="%d" height="%d" aria-hidden="true">`, trendAxis, trendTop+trendPlot+trendBelow)
	for i, t := range a.ticks() {
		if i == 0 || i == len(a.ticks())-1 || len(a.ticks()) < 5 {
			fmt.Fprintf(&b, `<text x="%d" y="%s" dy="4" text-anchor="end">%s</text>`, trendAxis-6, a.y(t), Percent(math.Round(t*1e4)/1e4))
		}
	}
	fmt.Fprintf(&b, `</svg><svg width="100%%" height="%d" role="img" aria-label="%s">`, trendTop+trendPlot+trendBelow, html.EscapeString(name))
	for i, t := range a.ticks() {
		class, y := "", a.y(t)
		if i == 0 {
			class = ` class="zero"`
		}
		fmt.Fprintf(&b, `<line%s x1="0" x2="100%%" y1="%s" y2="%s"/>`, class, y, y)
	}
	for _, e := range events {
		x := trendX(e.X)
		fmt.Fprintf(&b, `<g class="event"><title>%s</title><line x1="%s%%" x2="%s%%" y1="%d" y2="%d"/><text x="%s%%" y="%d" text-anchor="middle">%s</text></g>`,
			html.EscapeString(e.Title), x, x, trendTop-4, trendTop+trendPlot, x, trendTop-7, html.EscapeString(e.Label))
	}
	// Lines have no lengths in per cent, so they are in a part that is stretched.
	fmt.Fprintf(&b, `<svg x="%d%%" y="%d" width="%d%%" height="%d" viewBox="0 0 1000 1000" preserveAspectRatio="none">`, trendLeft, trendTop, trendWidth, trendPlot)
	for _, run := range bands(line) {
		b.WriteString(`<polygon class="band" points="`)
		for _, p := range run {
			b.WriteString(a.at(p.X, p.High) + " ")
		}
		for i := len(run) - 1; i >= 0; i-- {
			b.WriteString(a.at(run[i].X, run[i].Low) + " ")
		}
		b.WriteString(`"/>`)
	}
	for _, other := range others {
		a.polyline(&b, "other", other)
	}
	a.polyline(&b, "line", line)
	b.WriteString(`</svg>`)
	for _, p := range line {
		x := trendX(p.X)
		if p.Interval && len(line) == 1 {
			fmt.Fprintf(&b, `<line class="whisker" x1="%s%%" x2="%s%%" y1="%s" y2="%s"/>`, x, x, a.y(p.Low), a.y(p.High))
		}
		fmt.Fprintf(&b, `<circle class="rate" cx="%s%%" cy="%s" r="3.5"><title>%s</title></circle>`, x, a.y(p.Rate), html.EscapeString(p.Title))
	}
	b.WriteString(`</svg></div>`)
	return template.HTML(b.String()) //nolint:gosec // numbers, and texts that are escaped
}

// bands returns the runs of at least two points with intervals.
func bands(line []Point) (out [][]Point) {
	from := 0
	for i := 0; i <= len(line); i++ {
		if i < len(line) && line[i].Interval {
			continue
		}
		if i-from > 1 {
			out = append(out, line[from:i])
		}
		from = i + 1
	}
	return out
}

func (a Axis) polyline(b *strings.Builder, class string, line []Point) {
	if len(line) < 2 {
		return
	}
	fmt.Fprintf(b, `<polyline class="%s" points="`, class)
	for _, p := range line {
		b.WriteString(a.at(p.X, p.Rate) + " ")
	}
	b.WriteString(`"/>`)
}

// at is a point in thousandths of the stretched part.
func (a Axis) at(x, rate float64) string {
	return number(1000*x) + "," + number(1000*(1-min(max(rate/a.Top, 0), 1)))
}

// y is the height of a rate, in pixels.
func (a Axis) y(rate float64) string {
	return number(trendTop + trendPlot*(1-min(max(rate/a.Top, 0), 1)))
}

func trendX(x float64) string { return number(trendLeft + trendWidth*x) }
