package render

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/server/kit/chart"
)

// A Matrix is a table of rates, tools by agents, with heat.
type Matrix struct {
	Caption string
	Columns []MatrixColumn
	Rows    []MatrixRow
	Tail    *Matrix // the tools after the first ones, of a long board; see Whole
	// Intervals reports whether a cell has one.
	Intervals bool
}

// Whole returns all rows, for a page that folds none.
func (m Matrix) Whole() []MatrixRow {
	if m.Tail == nil {
		return m.Rows
	}
	return slices.Concat(m.Rows[:headOfLong], m.Tail.Rows, m.Rows[headOfLong:])
}

// A MatrixColumn is an agent. Title is its full name, Note a remark such as its weight.
type MatrixColumn struct{ Name, Title, Link, Note string }

// A MatrixRow is a tool.
type MatrixRow struct {
	Tool, Link string
	Cells      []MatrixCell
}

// A MatrixCell is a rate. Interval has whole per cent; empty where none is known. Heat is 0
// without a colour, or 1 to 10: even steps up to the highest rate.
type MatrixCell struct {
	Text, Interval, Title, Link string
	Heat                        int
}

// minHeat is the least rate that the strongest colour stands for.
const minHeat = .2

// A board with more tools than longMatrix shows the first headOfLong of them, and the others
// on demand.
const longMatrix, headOfLong = 25, 15

// NewMatrix compares the agents of a board. The links of agents, tools and cells may be
// empty.
func NewMatrix(b *analytics.Board, agent func(string) string, tool func(analytics.Standing) string, cell func(agent, slug string) string) Matrix {
	m := Matrix{Caption: "Pick rates of " + b.Name + " by agent"}
	rates, most := make([]map[string]analytics.AgentRate, len(b.Agents)), minHeat
	for i, a := range b.Agents {
		col := MatrixColumn{Name: AgentName(a.Agent), Title: a.Agent, Link: agent(a.Agent)}
		if a.Weight != b.Agents[0].Weight || a.Weight != b.Agents[len(b.Agents)-1].Weight {
			col.Note = "Weight " + chart.Percent(a.Weight)
		}
		m.Columns = append(m.Columns, col)
		rates[i] = map[string]analytics.AgentRate{}
		for _, t := range a.Tools {
			rates[i][t.Slug], most = t, max(most, t.PickRate)
		}
	}
	top := chart.WholePercent(most)
	for _, s := range shown(b) {
		row := MatrixRow{Tool: s.Tool, Link: tool(s)}
		for i, a := range b.Agents {
			r := rates[i][s.Slug]
			c := MatrixCell{Text: "0", Heat: (10*chart.WholePercent(r.PickRate) + top - 1) / top, Title: s.Tool + " with " + a.Agent + ": " + chart.Percent(r.PickRate)}
			if r.Picks > 0 {
				c.Text, c.Link = strconv.Itoa(chart.WholePercent(r.PickRate))+"%", cell(a.Agent, s.Slug)
				if r.PickRate < .005 {
					c.Text = "<1%"
				}
			}
			if note := ofAgent(r); note != "" {
				c.Title += ", 95% CI " + note
				c.Interval, m.Intervals = fmt.Sprintf("%d–%d%%", chart.WholePercent(r.CILow), chart.WholePercent(r.CIHigh)), true
			}
			row.Cells = append(row.Cells, c)
		}
		m.Rows = append(m.Rows, row)
	}
	if len(m.Rows) > longMatrix {
		m.Tail = &Matrix{Caption: m.Caption + ": the other tools", Columns: m.Columns, Rows: m.Rows[headOfLong:]}
		m.Rows = m.Rows[:headOfLong:headOfLong]
	}
	if rest, any := restRow(b); any && len(m.Rows) > 0 {
		m.Rows = append(m.Rows, rest)
	}
	return m
}

// restRow has the share of each agent's answers that picked none of the tools; any is false
// where all did.
func restRow(b *analytics.Board) (row MatrixRow, any bool) {
	row.Tool = "no single tool"
	for _, a := range b.Agents {
		rest := 1.0
		for _, t := range a.Tools {
			rest -= t.PickRate
		}
		c := MatrixCell{Text: "0", Title: "No tool of the list with " + a.Agent + ": " + chart.Percent(max(0, rest))}
		if rest >= .005 && a.NTrials > 0 {
			any = true
			c.Text = strconv.Itoa(chart.WholePercent(rest)) + "%"
		}
		row.Cells = append(row.Cells, c)
	}
	return row, any
}
