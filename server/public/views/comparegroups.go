package views

import (
	"cmp"
	"html/template"
	"slices"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/server/kit/chart"
	"github.com/firstpick/firstpick/server/kit/render"
)

// A compareGroup has the parts of one kind: agents, or the values of a tag.
type compareGroup struct {
	Name   string
	Early  bool // all parts are
	Agents bool // the parts are agents, not values of a tag
	Ruler  template.HTML
	Parts  []comparePart
}

// A comparePart is both rates with one agent, or under one tag.
type comparePart struct {
	Name, Title, Link, A, B, Diff, N string
	Neither                          string // of both tools
	Plot                             template.HTML
	Early                            bool
	Same                             []render.Link // the agents of a joined part
	lead                             float64       // of the first tool
}

// compareGroups compares the rates with each agent and under each tag, on one axis.
func compareGroups(b *analytics.Board, x, y analytics.Standing) []compareGroup {
	most := 0.0
	for _, a := range b.Agents {
		most = max(most, rateOf(a.Tools, x.Slug), rateOf(a.Tools, y.Slug))
	}
	for _, cut := range b.Cuts {
		most = max(most, rateOf(cut.Tools, x.Slug), rateOf(cut.Tools, y.Slug))
	}
	axis := chart.NewAxis(most)
	part := func(name, title, link string, n int, tools []analytics.AgentRate) comparePart {
		p, q := rateOf(tools, x.Slug), rateOf(tools, y.Slug)
		text := x.Tool + " " + chart.Fixed(p) + ", " + y.Tool + " " + chart.Fixed(q)
		return comparePart{
			Name: name, Title: title, Link: link, A: chart.Fixed(p), B: chart.Fixed(q), Diff: leadOf(x.Tool, y.Tool, p, q), N: chart.Whole(int64(n)), Neither: chart.Fixed(max(0, 1-p-q)),
			Plot: axis.Pair(p, q, text), lead: p - q,
		}
	}
	agents := compareGroup{Name: render.Capital(nounOf(b)), Agents: true, Ruler: axis.Ruler()}
	for _, a := range b.Agents {
		agents.Parts = append(agents.Parts, part(render.AgentName(a.Agent), a.Agent, agentPath(agentSlug(a.Agent)), a.NTrials, a.Tools))
	}
	out := []compareGroup{agents}
	for _, cut := range b.Cuts {
		name := render.Capital(cut.Tag)
		if out[len(out)-1].Name != name {
			out = append(out, compareGroup{Name: name, Ruler: axis.Ruler()})
		}
		last := &out[len(out)-1]
		p := part(cut.Value, "", "", cut.NFamilies, cut.Tools)
		p.Early = slices.Contains(cut.Warnings, analytics.Directional)
		last.Parts = append(last.Parts, p)
	}
	for i := range out {
		out[i].Early = !slices.ContainsFunc(out[i].Parts, func(p comparePart) bool { return !p.Early })
	}
	for i, g := range out { // from the first tool's best to the second's
		slices.SortStableFunc(g.Parts, func(p, q comparePart) int { return cmp.Or(cmp.Compare(q.lead, p.lead), cmp.Compare(p.Name, q.Name)) })
		if i == 0 {
			out[0].Parts = joinParts(g.Parts, nounOf(b))
		}
	}
	return out
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
		}
		out = append(out, joined)
	}
	return out
}
