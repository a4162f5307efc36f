package chart

import (
	"fmt"
	"html"
	"html/template"
	"math"
	"strings"
)

// An Axis is a scale of shares from 0 to Top, with a tick at every Step.
type Axis struct{ Top, Step float64 }

// NewAxis returns an axis for shares up to most: three to six ticks at round numbers, at
// most 1. Where all shares are 0 it is the whole scale.
func NewAxis(most float64) Axis {
	if most <= 0 {
		return Axis{1, .25}
	}
	for _, step := range []float64{.001, .002, .005, .01, .02, .05, .1, .2} {
		if n := math.Ceil(most/step - 1e-9); n <= 5 {
			return Axis{min(1, max(2, n)*step), step}
		}
	}
	return Axis{1, .25}
}

// ticks returns the values with a tick, 0 first.
func (a Axis) ticks() []float64 {
	var out []float64
	for i := 0; float64(i)*a.Step <= a.Top+1e-9; i++ {
		out = append(out, float64(i)*a.Step)
	}
	return out
}

// x is the place of a share, in per cent of the width.
func (a Axis) x(v float64) string { return number(100 * min(max(v/a.Top, 0), 1)) }

// Ruler draws the labels of the ticks.
func (a Axis) Ruler() template.HTML {
	var b strings.Builder
	b.WriteString(`<svg class="ruler" height="14" aria-hidden="true">`)
	for i, t := range a.ticks() {
		anchor := "middle"
		if i == 0 {
			anchor = "start"
		} else if t > a.Top*.97 {
			anchor = "end"
		}
		fmt.Fprintf(&b, `<text x="%s%%" y="11" text-anchor="%s">%s</text>`, a.x(t), anchor, Percent(math.Round(t*1e4)/1e4))
	}
	b.WriteString(`</svg>`)
	return template.HTML(b.String()) //nolint:gosec // numbers only
}

// Pair draws two rates on one line: a dot for the first and a ring for the second. text is for
// those who do not see it.
func (a Axis) Pair(first, second float64, text string) template.HTML {
	const height, middle = 26, 13
	var b strings.Builder
	fmt.Fprintf(&b, `<svg height="%d" role="img" aria-label="%s">`, height, html.EscapeString(text))
	a.grid(&b, height)
	fmt.Fprintf(&b, `<rect class="band" x="%s%%" y="10.5" width="%s%%" height="5"/>`, a.x(min(first, second)), a.x(math.Abs(first-second)))
	fmt.Fprintf(&b, `<circle class="ring" cx="%s%%" cy="%d" r="5"/><circle class="dark" cx="%s%%" cy="%d" r="5.5"/></svg>`, a.x(second), middle, a.x(first), middle)
	return template.HTML(b.String()) //nolint:gosec // numbers, and a text that is escaped
}

// grid draws a line at each tick.
func (a Axis) grid(b *strings.Builder, height int) {
	for i, t := range a.ticks() {
		class := ""
		if i == 0 {
			class = ` class="zero"`
		}
		fmt.Fprintf(b, `<line%s x1="%s%%" x2="%s%%" y1="0" y2="%d"/>`, class, a.x(t), a.x(t), height)
	}
}

// A Mark is a row of a forest plot: a rate, its interval where it has one, and a text for
// those who do not see it.
type Mark struct {
	Rate, Low, High float64
	Interval        bool
	Text            string
}

// Forest draws a row: the ticks as lines, a bar up to the rate where there is no interval,
// and else a band with a mark at the rate.
func (a Axis) Forest(m Mark) template.HTML {
	const height, middle = 26, 13
	var b strings.Builder
	fmt.Fprintf(&b, `<svg height="%d" role="img" aria-label="%s">`, height, html.EscapeString(m.Text))
	a.grid(&b, height)
	if m.Interval {
		fmt.Fprintf(&b, `<rect class="band" x="%s%%" y="8" width="%s%%" height="10" rx="5"/>`, a.x(m.Low), a.x(m.High-m.Low))
		fmt.Fprintf(&b, `<circle class="rate" cx="%s%%" cy="%d" r="5.5"/>`, a.x(m.Rate), middle)
	} else {
		fmt.Fprintf(&b, `<rect class="rate" x="0" y="8" width="%s%%" height="10" rx="2"/>`, a.x(m.Rate))
	}
	b.WriteString(`</svg>`)
	return template.HTML(b.String()) //nolint:gosec // numbers, and a text that is escaped
}
