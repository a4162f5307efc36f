package views

import (
	"fmt"
	"html/template"
	"math"
	"slices"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/server/kit/chart"
	"github.com/firstpick/firstpick/server/kit/render"
)

// A figure shows what each agent of a board picks, one bar for each.
type figure struct {
	Board  string // with the number of agents, where it does not show all
	Legend []portion
	Rows   []figureRow
	// Another says that a row has a tool beyond the legend.
	Another bool
}

type figureRow struct {
	Agent string
	First []string // the one or two tools that it picks most, with their rates
	Bar   template.HTML
}

// The tools and agents of a figure.
const (
	figureTools  = 3
	figureAgents = 10
)

// figureOf draws a board; nil where only one agent was asked.
func figureOf(b *analytics.Board) *figure {
	if len(b.Agents) < 2 {
		return nil
	}
	f := figure{Board: b.Name}
	if len(b.Agents) > figureAgents {
		f.Board += fmt.Sprintf(", %d of %d agents", figureAgents, len(b.Agents))
	}
	for i, s := range b.Tools[:min(figureTools, len(b.Tools))] {
		if s.Picks > 0 {
			f.Legend = append(f.Legend, portion{Class: []string{"r1", "r3", "r5"}[i], Tool: s.Tool})
		}
	}
	for _, a := range b.Agents[:min(figureAgents, len(b.Agents))] {
		var parts []chart.Part
		for i, p := range f.Legend {
			rate := rateOf(a.Tools, b.Tools[i].Slug)
			parts = append(parts, chart.Part{Series: chart.Series{Class: p.Class, Name: p.Tool}, Value: int64(math.Round(rate * whole)), Text: chart.Fixed(rate)})
		}
		best, second := firstTwo(a)
		for _, t := range []analytics.AgentRate{best, second} {
			if name := nameOf(b, t.Slug); t.Picks > 0 && !slices.ContainsFunc(f.Legend, func(p portion) bool { return p.Tool == name }) {
				parts = append(parts, chart.Part{Series: chart.Series{Class: "rest", Name: name}, Value: int64(math.Round(t.PickRate * whole)), Text: chart.Fixed(t.PickRate)})
				f.Another = true
			}
		}
		var first []string
		for _, t := range []analytics.AgentRate{best, second} {
			if t.Picks > 0 {
				first = append(first, nameOf(b, t.Slug)+" "+chart.Percent(math.Round(100*t.PickRate)/100))
			}
		}
		f.Rows = append(f.Rows, figureRow{render.AgentName(a.Agent), first, chart.Split(parts, whole, "Picks of "+a.Agent)})
	}
	return &f
}
