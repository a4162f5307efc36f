package views

import (
	"cmp"
	"fmt"
	"html/template"
	"slices"
	"strconv"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/fixtures/sorting"
	"github.com/firstpick/firstpick/server/kit/chart"
	"github.com/firstpick/firstpick/server/kit/render"
)

// agentBars show what each agent of a board picks, one bar for each.
type agentBars struct {
	Noun   string // agent or model
	Board  string // with the number of agents, where it does not show all
	Legend []portion
	Rows   []agentBar
	// Others reports whether a bar has tools beyond the legend, Nothing whether answers picked
	// no tool of the list, Intervals whether the rates have 95 % intervals.
	Others, Nothing, Intervals bool
}

// Clear reports whether an agent has a clear favourite.
func (f agentBars) Clear() bool {
	return slices.ContainsFunc(f.Rows, func(r agentBar) bool { return r.Clear })
}

type agentBar struct {
	Agent, Link string
	Same        []render.Link // the agents of a joined row
	First       []agentPick   // the one or two tools that it picks most
	Clear       bool          // its lead is clear: see clearLead
	Bar         template.HTML
}

// An agentPick is a tool with its rate in the answers of one agent, and its colour. Rate and
// Interval are whole per cent; Interval may be empty.
type agentPick struct{ Class, Tool, Rate, Interval string }

// maxAgentBars is how many agents have a bar.
const maxAgentBars = 10

// agentBarsOf draws a board; nil where only one agent was asked, or there are no tools.
func agentBarsOf(b *analytics.Board) *agentBars {
	if len(b.Agents) < 2 || len(b.Tools) == 0 {
		return nil
	}
	f := agentBars{Noun: nounOf(b), Board: b.Name}
	agents := slices.Clone(b.Agents)
	sorting.StableFunc(agents, func(x, y analytics.AgentBoard) int {
		return cmp.Compare(rateOf(x.Tools, b.Tools[0].Slug), rateOf(y.Tools, b.Tools[0].Slug))
	})
	agents = agents[:min(maxAgentBars, len(agents))]
	if len(b.Agents) > len(agents) {
		f.Board += fmt.Sprintf(", %d of %d %ss", len(agents), len(b.Agents), nounOf(b))
	}
	legend := legendOf(b, agents)
	class := map[string]string{}
	for _, s := range legend {
		class[s.Slug] = classOf(b, s.Slug)
		f.Legend = append(f.Legend, portion{Class: class[s.Slug], Tool: s.Tool})
	}
	for _, a := range agents {
		best, second := firstTwo(a)
		row := agentBar{Agent: render.AgentName(a.Agent), Link: agentPath(agentSlug(a.Agent)), Clear: clearLead(b, best, second, a.NFamilies)}
		for _, t := range []analytics.AgentRate{best, second} {
			if t.Picks == 0 {
				continue
			}
			p := agentPick{Class: cmp.Or(class[t.Slug], otherClass), Tool: nameOf(b, t.Slug), Rate: wholePercent(t.PickRate) + "%"}
			if t.Interval != nil && !render.Single(*b) {
				p.Interval, f.Intervals = wholePercent(t.CILow)+"–"+wholePercent(t.CIHigh)+"%", true
			}
			row.First = append(row.First, p)
		}
		var parts []chart.Part
		named, all := 0.0, 0.0
		for _, s := range legend {
			rate := rateOf(a.Tools, s.Slug)
			named += rate
			parts = append(parts, barPart(class[s.Slug], s.Tool, rate))
		}
		for _, t := range a.Tools {
			all += t.PickRate
		}
		const least = .0005 // rounding of the rates
		if others := all - named; others > least {
			f.Others = true
			parts = append(parts, barPart(otherClass, "other tools", others))
		}
		f.Nothing = f.Nothing || 1-all > least
		row.Bar = chart.Split(parts, whole, "Picks")
		f.Rows = append(f.Rows, row)
	}
	f.Rows = joinAlike(f.Rows, nounOf(b))
	return &f
}

// joinAlike joins the rows of three and more agents that pick the same tool in all answers.
func joinAlike(rows []agentBar, noun string) (out []agentBar) {
	alike := map[string][]agentBar{}
	for _, r := range rows {
		if len(r.First) == 1 && r.First[0].Rate == "100%" {
			alike[r.First[0].Tool] = append(alike[r.First[0].Tool], r)
		}
	}
	for _, r := range rows {
		same := []agentBar(nil)
		if len(r.First) > 0 {
			same = alike[r.First[0].Tool]
		}
		switch {
		case len(same) < 3 || len(r.First) > 1:
			out = append(out, r)
		case r.Agent == same[0].Agent:
			for _, one := range same {
				r.Same = append(r.Same, render.Link{Path: one.Link, Text: one.Agent})
			}
			r.Agent, r.Link = fmt.Sprintf("%d other %ss, each", len(same), noun), ""
			if len(same) == len(rows) {
				r.Agent = fmt.Sprintf("All %d %ss, each", len(same), noun)
			}
			out = append(out, r)
		}
	}
	return out
}

// wholePercent formats a rate of 0 to 1 without decimals: 33.
func wholePercent(rate float64) string {
	return strconv.Itoa(chart.WholePercent(rate))
}

// legendOf returns the tools with a colour that an agent picks most or second, in the order of
// the board.
func legendOf(b *analytics.Board, agents []analytics.AgentBoard) []analytics.Standing {
	named := map[string]bool{}
	for _, a := range agents {
		best, second := firstTwo(a)
		named[best.Slug], named[second.Slug] = best.Picks > 0 || named[best.Slug], second.Picks > 0 || named[second.Slug]
	}
	return slices.DeleteFunc(slices.Clone(b.Tools), func(s analytics.Standing) bool { return !named[s.Slug] || classOf(b, s.Slug) == otherClass })
}
