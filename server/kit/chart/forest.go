package chart

import (
	"cmp"
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
		if n := math.Ceil(most/step - 1e-9); n <= 5 && n*step < 1 {
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

// Pair draws two rates: a dot for the first, dark where it has no class, and a ring for the second, each on its interval, or on one line and joined
// where not both have one.
func (a Axis) Pair(first, second Mark) template.HTML {
	const height, middle, apart = 30, 15, 6
	var b strings.Builder
	fmt.Fprintf(&b, `<svg height="%d" role="img" aria-label="%s">`, height, html.EscapeString(first.Text+", "+second.Text))
	a.grid(&b, height)
	up, down, joined := middle, middle, !first.Interval || !second.Interval
	if !joined {
		up, down = middle-apart, middle+apart
	}
	a.thin(&b, first, up)
	a.thin(&b, second, down)
	if joined {
		fmt.Fprintf(&b, `<rect class="link" x="%s%%" y="14.5" width="%s%%" height="1"/>`, a.x(min(first.Rate, second.Rate)), a.x(math.Abs(first.Rate-second.Rate)))
	}
	fmt.Fprintf(&b, `<circle class="ring" cx="%s%%" cy="%d" r="5"/><circle class="%s" cx="%s%%" cy="%d" r="5.5"/></svg>`, a.x(second.Rate), down, cmp.Or(first.Class, "dark"), a.x(first.Rate), up)
	return template.HTML(b.String()) //nolint:gosec // numbers, and a text that is escaped
}

// thin draws the interval of a mark at a height.
func (a Axis) thin(b *strings.Builder, m Mark, y int) {
	if m.Interval {
		fmt.Fprintf(b, `<rect class="band" x="%s%%" y="%d" width="%s%%" height="6" rx="3"/>`, a.x(m.Low), y-3, a.x(m.High-m.Low))
	}
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
// those who do not see it. Class is how the rate is drawn: rate, dark, ring or Tick; "" is rate in a row and dark in a pair.
type Mark struct {
	Rate, Low, High float64
	Interval        bool
	Text, Class     string
}

// Tick draws a rate without an interval as a line across, because a bar would look firm.
const Tick = "tick"

// Forest draws a row: the ticks as lines, a bar up to the rate where there is no interval,
// and else a band with a mark at the rate.
func (a Axis) Forest(m Mark) template.HTML {
	const height, middle = 26, 13
	var b strings.Builder
	fmt.Fprintf(&b, `<svg height="%d" role="img" aria-label="%s">`, height, html.EscapeString(m.Text))
	a.grid(&b, height)
	if m.Interval {
		fmt.Fprintf(&b, `<rect class="band" x="%s%%" y="8" width="%s%%" height="10" rx="5"/>`, a.x(m.Low), a.x(m.High-m.Low))
		fmt.Fprintf(&b, `<circle class="%s" cx="%s%%" cy="%d" r="5.5"/>`, cmp.Or(m.Class, "rate"), a.x(m.Rate), middle)
	} else if m.Class == Tick {
		fmt.Fprintf(&b, `<rect class="rate" x="%s%%" y="5" width="3" height="16"/>`, a.x(m.Rate))
	} else {
		fmt.Fprintf(&b, `<rect class="%s" x="0" y="8" width="%s%%" height="10" rx="2"/>`, cmp.Or(m.Class, "rate"), a.x(m.Rate))
	}
	b.WriteString(`</svg>`)
	return template.HTML(b.String()) //nolint:gosec // numbers, and a text that is escaped
}
