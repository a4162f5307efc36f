package views

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/analytics/observed"
	"github.com/firstpick/firstpick/server/kit/chart"
	"github.com/firstpick/firstpick/server/kit/render"
)

// whenWhich says with which agents and tags each of two tools is clearly ahead, when asked and in
// real work; it names no other difference. It is empty where there are no parts to compare.
func (d *comparePage) whenWhich() string {
	var out []string
	if len(d.Boards) > 0 {
		if text := d.Boards[0].firm(); text != "" {
			out = append(out, text)
		}
	}
	if d.Work != nil && len(d.Work.Parts) > 1 {
		out = append(out, d.Work.firm())
	}
	return strings.Join(out, " ")
}

// firm is whenWhich of a board of trials.
func (c compareBoard) firm() string {
	if len(c.Groups) == 0 || len(c.Groups[0].Parts) < 2 {
		return ""
	}
	parts := "agent or tag"
	if c.Noun != "agent" {
		parts = c.Noun
	}
	if c.Single {
		return fmt.Sprintf("When asked: one prompt, so no difference by %s is firm for other prompts.", parts)
	}
	var first, second []string
	for _, g := range c.Groups {
		for _, p := range g.Parts {
			if !p.Clear {
				continue
			}
			names := []string{p.Name}
			if !g.Agents {
				names[0] = g.Name + " " + p.Name
			} else if len(p.Same) > 0 {
				names = names[:0]
				for _, a := range p.Same {
					names = append(names, a.Text)
				}
			}
			if p.lead > 0 {
				first = append(first, names...)
			} else {
				second = append(second, names...)
			}
		}
	}
	return "When asked: " + sides(c.First, c.Second, "clearly ahead with", first, second, parts)
}

// firm is whenWhich in real work.
func (d *pairAgents) firm() string {
	var first, second []string
	for _, p := range d.Parts {
		x, y := p.marks[0], p.marks[1]
		switch {
		case p.Few || !x.Interval && !y.Interval:
		case x.Interval && x.Low > max(y.High, y.Rate):
			first = append(first, p.Agent)
		case y.Interval && y.Low > max(x.High, x.Rate):
			second = append(second, p.Agent)
		}
	}
	return "In real work: " + sides(d.A, d.B, "used clearly more with", first, second, "coding agent")
}

// sides is like: Ash is clearly ahead with Codex; Birch with Devin. No other difference by agent is
// firm.
func sides(x, y, how string, first, second []string, parts string) string {
	var out []string
	for i, names := range [][]string{first, second} {
		if tool := []string{x, y}[i]; len(names) > 0 {
			out = append(out, fmt.Sprintf("%s is %s %s", tool, how, and(names)))
		}
	}
	if len(out) == 0 {
		return "no difference by " + parts + " is firm."
	}
	return strings.Join(out, "; ") + ". No other difference by " + parts + " is firm."
}

// pair returns the difference of both tools, by slug, for this pair alone; ahead is the one with the
// higher rate. ok is false where it is not known, as with equal rates.
func (s pairSeen) pair(a, b string) (p observed.Pair, ahead string, ok bool) {
	if s.Apart != nil {
		return p, "", false
	}
	for _, slugs := range [][2]string{{a, b}, {b, a}} {
		if p, ok = s.Part.Pairs[slugs]; ok {
			return p, slugs[0], true
		}
	}
	return p, "", false
}

// lead says how far one of two tools is ahead in real work; nil where that is not known.
func (s pairSeen) lead(a, b string) *lead {
	p, ahead, ok := s.pair(a, b)
	if !ok {
		return nil
	}
	behind := b
	if ahead == b {
		behind = a
	}
	x, y := observedName(s.Board, ahead), observedName(s.Board, behind)
	ends := [2]string{render.PointsEnd(p.CILow), render.PointsEnd(p.CIHigh)}
	return &lead{
		Leader: x, Diff: s.apart(), Interval: ends[0] + " to " + ends[1], Significant: p.Shown, Alone: true,
		Plot: chart.Difference(p.Diff, p.CILow, p.CIHigh, ends, y+" ahead", x+" ahead"),
	}
}

// apart is the difference of both rates in points, without its sign.
func (s pairSeen) apart() string {
	high, low := max(s.First.UseRate, s.Second.UseRate), min(s.First.UseRate, s.Second.UseRate)
	return strings.TrimPrefix(render.Difference(high, low), "+")
}

// slug returns the slug of a tool of the board by its name.
func (s pairSeen) slug(name string) string {
	if i := slices.IndexFunc(s.Board.Tools, func(t observed.Standing) bool { return t.Tool == name }); i >= 0 {
		return s.Board.Tools[i].Slug
	}
	return ""
}
