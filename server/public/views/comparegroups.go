package views

import (
	"cmp"
	"html/template"
	"slices"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/fixtures/sorting"
	"github.com/firstpick/firstpick/server/kit/chart"
	"github.com/firstpick/firstpick/server/kit/render"
)

// A compareGroup has the parts of one kind: agents, or the values of a tag.
type compareGroup struct {
	Name      string
	Early     bool // all parts are
	Agents    bool // the parts are agents, not values of a tag
	Intervals bool // the rates have intervals
	Ruler     template.HTML
	Parts     []comparePart
}

// A comparePart is both rates with one agent, or under one tag.
type comparePart struct {
	Name, Title, Link, A, B, Diff, N string
	RangeA, RangeB                   string // 95 % intervals in whole per cent; empty without
	Clear                            bool   // the lead is: see clearLead
	Neither, Instead                 string // of both tools, and the tool that most of these answers pick; empty where none is
	First                            string // a third tool, where it is picked more often than both
	Plot                             template.HTML
	Early                            bool
	Same                             []render.Link // the agents of a joined part
	lead                             float64       // of the first tool
	marks                            [2]chart.Mark
}

// Clear reports whether a lead in the group is clear.
func (g compareGroup) Clear() bool {
	return slices.ContainsFunc(g.Parts, func(p comparePart) bool { return p.Clear })
}

// compareGroups compares the rates with each agent and under each tag.
func compareGroups(b *analytics.Board, x, y analytics.Standing) []compareGroup {
	agents := compareGroup{Name: render.Capital(nounOf(b)), Agents: true, Intervals: ranged(b)}
	for _, a := range b.Agents {
		p := newPart(b, x, y, a.NTrials, a.NFamilies, a.Tools, ranged(b))
		p.Name, p.Title, p.Link = render.AgentName(a.Agent), a.Agent, agentPath(agentSlug(a.Agent))
		agents.Parts = append(agents.Parts, p)
	}
	out := []compareGroup{agents}
	for _, cut := range b.Cuts {
		name := render.Capital(cut.Tag)
		if out[len(out)-1].Name != name {
			out = append(out, compareGroup{Name: name})
		}
		last := &out[len(out)-1]
		p := newPart(b, x, y, cut.NFamilies, cut.NFamilies, cut.Tools, ranged(b) && cut.NFamilies > 1)
		p.Name, p.Early = cut.Value, slices.Contains(cut.Warnings, analytics.Directional)
		p.Clear = p.Clear && !p.Early
		last.Parts = append(last.Parts, p)
	}
	for i := range out {
		g := &out[i]
		g.Early = !slices.ContainsFunc(g.Parts, func(p comparePart) bool { return !p.Early })
		// From the first tool's best to the second's.
		sorting.StableFunc(g.Parts, func(p, q comparePart) int { return cmp.Or(cmp.Compare(q.lead, p.lead), cmp.Compare(p.Name, q.Name)) })
		g.draw()
	}
	out[0].Parts = joinParts(out[0].Parts, nounOf(b))
	return out
}

// draw draws the rates of a group on one axis.
func (g *compareGroup) draw() {
	most := 0.0
	for _, p := range g.Parts {
		for _, m := range p.marks {
			most = max(most, m.Rate, m.High)
		}
	}
	axis := chart.NewAxis(most)
	g.Ruler = axis.Ruler()
	for i, p := range g.Parts {
		g.Parts[i].Plot = axis.Pair(p.marks[0], p.marks[1])
	}
}

// newPart compares two tools by their rates in a part of a board, which counts n, with intervals or
// without.
func newPart(b *analytics.Board, x, y analytics.Standing, n, families int, tools []analytics.AgentRate, intervals bool) comparePart {
	p, q := bounded(agentRate(tools, x.Slug), families), bounded(agentRate(tools, y.Slug), families)
	neither := 1 - p.PickRate - q.PickRate
	if neither < leastNeither { // a remainder of the arithmetic
		neither = 0
	}
	d := comparePart{
		A: chart.Fixed(p.PickRate), B: chart.Fixed(q.PickRate), Diff: leadOf(x.Tool, y.Tool, p.PickRate, q.PickRate), N: chart.Whole(int64(n)),
		Neither: chart.Fixed(neither), Instead: insteadOf(b, x, y, tools, neither), lead: p.PickRate - q.PickRate,
	}
	if best := mostOf(tools); best.PickRate > max(p.PickRate, q.PickRate) {
		d.First = nameOf(b, best.Slug)
	}
	d.marks = [2]chart.Mark{{Rate: p.PickRate, Text: x.Tool + " " + d.A}, {Rate: q.PickRate, Text: y.Tool + " " + d.B}}
	if intervals {
		d.RangeA, d.RangeB = rangeOf(p, &d.marks[0]), rangeOf(q, &d.marks[1])
		d.Clear = clearLead(b, p, q, families) || clearLead(b, q, p, families)
	}
	return d
}

// leastNeither is less than the share of one answer of any board.
const leastNeither = 1e-9

// mostOf returns the tool with the highest rate.
func mostOf(tools []analytics.AgentRate) (most analytics.AgentRate) {
	for _, t := range tools {
		if t.PickRate > most.PickRate {
			most = t
		}
	}
	return most
}

// insteadOf returns the tool that is picked in most of the answers that pick neither of two, which are a
// share of all; empty where none is.
func insteadOf(b *analytics.Board, x, y analytics.Standing, tools []analytics.AgentRate, neither float64) string {
	for _, t := range tools {
		if t.Slug != x.Slug && t.Slug != y.Slug && t.Picks > 0 && 2*t.PickRate > neither {
			return nameOf(b, t.Slug)
		}
	}
	return ""
}

// rangeOf returns the interval of a rate in whole per cent, and adds it to a mark.
func rangeOf(t analytics.AgentRate, m *chart.Mark) string {
	if t.Interval == nil || t.Picks == 0 { // the bound of a rate of 0 would be the longest band
		return ""
	}
	text := wholePercent(t.CILow) + "–" + wholePercent(t.CIHigh) + "%"
	m.Low, m.High, m.Interval, m.Text = t.CILow, t.CIHigh, true, m.Text+" (95% CI "+text+")"
	return text
}

// leadOf says which of two tools leads, and by how many points.
func leadOf(x, y string, p, q float64) string {
	if q > p {
		x, p, q = y, q, p
	} else if p == q {
		return "–"
	}
	return x + " " + render.Difference(p, q)
}

// joinParts joins the parts of three and more agents with the same rates.
func joinParts(parts []comparePart, noun string) (out []comparePart) {
	for i := 0; i < len(parts); {
		end := i + 1
		for end < len(parts) && parts[end].A == parts[i].A && parts[end].B == parts[i].B {
			end++
		}
		group := parts[i:end]
		i = end
		if len(group) < minAlike {
			out = append(out, group...)
			continue
		}
		joined := group[0]
		joined.Name, joined.Title, joined.Link = alikeName(len(group), len(parts), noun), "", ""
		for _, g := range group {
			joined.Same = append(joined.Same, render.Link{Path: g.Link, Text: g.Name})
			if g.N != joined.N {
				joined.N = "–"
			}
			if g.First != joined.First {
				joined.First = ""
			}
			if g.Instead != joined.Instead {
				joined.Instead = ""
			}
		}
		out = append(out, joined)
	}
	return out
}
