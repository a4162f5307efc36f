package views

import (
	"github.com/firstpick/firstpick/analytics/observed"
	"github.com/firstpick/firstpick/server/kit/chart"
	"github.com/firstpick/firstpick/server/kit/render"
)

// A seenAgents has what each agent used of the first tools of an observed board, in one language.
type seenAgents struct {
	Language string // empty for the whole board
	Units    string // the heading of the counts
	Rule     string // when counts stand for rates
	Tools    []render.Link
	Rows     []seenAgent
}

// A seenAgent is the line of an agent. Of few units it has counts.
type seenAgent struct {
	Agent, N string
	Chips    []string // its warnings
	Cells    []seenCell
}

type seenCell struct{ Rate, Interval string }

// maxSeenTools is how many tools have a column.
const maxSeenTools = 4

// agentsOn returns what agents used, by language where the board has several: in each that has
// enough units, or in the largest. Snapshots of older programs count agents for all languages alone.
func (r *Renderer) agentsOn(b *observed.Board) (out []seenAgents) {
	_, several := mainPart(b)
	if several == "" || b.Languages[0].Agents == nil {
		return []seenAgents{r.agentsIn(b, "", b.Whole(), b.Agents)}
	}
	for _, l := range largeLanguages(b) {
		out = append(out, r.agentsIn(b, l.Language, l.Part, l.Agents))
	}
	return out
}

func (r *Renderer) agentsIn(b *observed.Board, language string, p observed.Part, agents []observed.AgentBoard) seenAgents {
	d := seenAgents{Language: language, Units: render.Capital(b.Unit) + "s", Rule: useRule(b.Unit)}
	var slugs []string
	for _, t := range p.Tools {
		if t.Uses > 0 && len(slugs) < maxSeenTools {
			slugs = append(slugs, t.Slug)
			d.Tools = append(d.Tools, render.Link{Path: r.seenPath(t.Slug), Text: observedName(b, t.Slug)})
		}
	}
	for _, a := range agents {
		row := seenAgent{Agent: a.Agent, N: chart.Whole(int64(a.NUnits)), Chips: partChips(b, a.Part)}
		for _, slug := range slugs {
			use, _ := useOf(a.Part, slug)
			rate, interval := render.UseRate(use, a.NUnits)
			row.Cells = append(row.Cells, seenCell{rate, interval})
		}
		d.Rows = append(d.Rows, row)
	}
	return d
}

// alsoOn names the tools that were used on an observed board and that another one counts, too, with
// one such board each.
func (r *Renderer) alsoOn(b *observed.Board) (out []render.Link) {
	for _, t := range b.Tools {
		if t.Uses == 0 {
			continue
		}
		for i := range r.in.Observed {
			o := &r.in.Observed[i]
			if o.Category == b.Category || o.FieldStudy != b.FieldStudy {
				continue
			}
			if use, _ := useOf(o.Whole(), t.Slug); use.Uses > 0 {
				out = append(out, render.Link{Path: observedPath(o.Category), Text: t.Tool + " also on " + o.Name})
				break
			}
		}
	}
	if len(out) > maxAlso {
		out = append(out[:maxAlso], render.Link{Path: "/leaderboards", Text: "and others"})
	}
	return out
}

// maxAlso is how many tools of several boards are named.
const maxAlso = 3
