package views

import (
	"cmp"
	"slices"

	"github.com/firstpick/firstpick/analytics/observed"
	"github.com/firstpick/firstpick/fixtures/sorting"
	"github.com/firstpick/firstpick/server/kit/chart"
	"github.com/firstpick/firstpick/server/kit/render"
)

// seenFirsts has the tool that each coding agent used most, on several observed boards.
type seenFirsts struct {
	Agents []render.Link // the columns, those with most units first; Path may be empty
	Rows   []seenFirstRow
	Left   int    // agents without a column
	Least  string // the units from which an agent has a cell: 10 pull requests
	Differ bool   // a cell has Other
}

// A seenFirstRow is a board, or its part in one language.
type seenFirstRow struct {
	Name, Link, Page string

	All   seenFirst   // of all agents
	Cells []seenFirst // one for each agent
	units int
	alone int // 1 where hardly another tool is used
	order int // 0 where a test shows that an agent used another tool most, 1 where one did, and alike for others
}

// alike is the order of a row whose agents have the same first tool.
const alike = 2

// few returns n rows, those first on which agents differ, and n others of most agents on which none does.
func (f seenFirsts) few(n int) (rows, same []seenFirstRow) {
	differ := slices.IndexFunc(f.Rows, func(r seenFirstRow) bool { return r.order == alike })
	if differ < 0 {
		differ = len(f.Rows)
	}
	at := min(n, max(differ, 1))
	rows, same = f.Rows[:at], slices.Clone(f.Rows[max(at, differ):])
	sorting.StableFunc(same, func(x, y seenFirstRow) int { return cmp.Or(y.known()-x.known(), x.alone-y.alone) })
	return rows, same[:min(n, len(same))]
}

// known is how many agents have a cell.
func (r seenFirstRow) known() (n int) {
	for _, c := range r.Cells {
		if c.Tool != "" {
			n++
		}
	}
	return n
}

// A seenFirst is the tool that an agent used most. Tool is empty of fewer than leastAnswers units.
type seenFirst struct {
	Agent, Tool, Rate string

	Of       string // the units that Rate is of; empty for a count, which names them
	Interval string // 95 %; may be empty
	InOne    bool   // one repository has most uses
	Other    bool   // another tool than the first of all agents, and ahead of it in a test
}

// A seenFirstTool is a tool that agents of a row used most.
type seenFirstTool struct {
	Tool   string
	Agents []seenFirst
}

// ByTool has the cells of a row by tool, that of the first column first.
func (r seenFirstRow) ByTool() (out []seenFirstTool) {
	for _, c := range r.Cells {
		if c.Tool == "" {
			continue
		}
		at := slices.IndexFunc(out, func(t seenFirstTool) bool { return t.Tool == c.Tool })
		if at < 0 {
			at, out = len(out), append(out, seenFirstTool{Tool: c.Tool})
		}
		out[at].Agents = append(out[at].Agents, c)
	}
	return out
}

// InOne reports whether a cell is marked so.
func (f seenFirsts) InOne() bool { return f.has(func(c seenFirst) bool { return c.InOne }) }

// Intervals reports whether a cell has one.
func (f seenFirsts) Intervals() bool {
	return f.has(func(c seenFirst) bool { return c.Interval != "" })
}

func (f seenFirsts) has(cell func(seenFirst) bool) bool {
	return slices.ContainsFunc(f.Rows, func(r seenFirstRow) bool { return cell(r.All) || slices.ContainsFunc(r.Cells, cell) })
}

// maxSeenAgents is how many agents have a column.
const maxSeenAgents = 6

// seenFirsts returns the boards with observed.MinUnits of which two agents have leastAnswers: those on which agents differ
// come first, then those of most agents and most units; nil without one.
func (r *Renderer) seenFirsts() *seenFirsts {
	type part struct {
		row    seenFirstRow
		part   observed.Part
		board  *observed.Board
		agents []observed.AgentBoard
	}
	var parts []part
	units := map[string]int{}
	for i := range r.in.Observed {
		b := &r.in.Observed[i]
		for _, l := range partsOf(b) {
			agents := slices.DeleteFunc(slices.Clone(usersOf(b, splitBy(b, l.Language))), func(a observed.AgentBoard) bool { return a.NUnits < leastAnswers })
			line := r.observedLine(b, l.Part, l.Language)
			if len(agents) < 2 || l.NUnits < observed.MinUnits || len(line.Tools) == 0 {
				continue
			}
			for _, a := range agents {
				units[a.Agent] += a.NUnits
			}
			row := seenFirstRow{Name: line.inLanguage, Link: line.Link, Page: line.Page, All: seenFirstOf(b, l.Part, observed.AgentBoard{Part: l.Part}), units: l.NUnits}
			if l.Tools[0].UseRate > 1-leastChoice {
				row.alone = 1
			}
			parts = append(parts, part{row, l.Part, b, agents})
		}
	}
	f := seenFirsts{}
	for name := range units {
		f.Agents = append(f.Agents, render.Link{Path: r.codingAgentPath(name), Text: name})
	}
	sorting.Func(f.Agents, func(x, y render.Link) int {
		return cmp.Or(units[y.Text]-units[x.Text], cmp.Compare(x.Text, y.Text))
	})
	f.Left = max(0, len(f.Agents)-maxSeenAgents)
	f.Agents = f.Agents[:len(f.Agents)-f.Left]
	for _, p := range parts {
		p.row.order = alike
		for _, agent := range f.Agents {
			c := seenFirst{Agent: agent.Text}
			if i := slices.IndexFunc(p.agents, func(a observed.AgentBoard) bool { return a.Agent == agent.Text }); i >= 0 {
				c = seenFirstOf(p.board, p.part, p.agents[i])
			}
			if c.Other {
				p.row.order, f.Differ = 0, true
			} else if c.Tool != "" && c.Tool != observedName(p.board, p.part.Tools[0].Slug) {
				p.row.order = min(p.row.order, 1)
			}
			p.row.Cells = append(p.row.Cells, c)
		}
		f.Rows = append(f.Rows, p.row)
	}
	if len(f.Rows) == 0 {
		return nil
	}
	f.Least = quantity(leastAnswers, r.in.Observed[0].Unit)
	sorting.StableFunc(f.Rows, func(x, y seenFirstRow) int { return cmp.Or(x.order-y.order, y.known()-x.known(), y.units-x.units) })
	return &f
}

// seenFirstOf is the tool that an agent used most of a part; of several, that which most agents used.
func seenFirstOf(b *observed.Board, p observed.Part, a observed.AgentBoard) seenFirst {
	out := seenFirst{Agent: a.Agent}
	if len(a.Tools) == 0 {
		return out
	}
	all := func(t observed.Rate) int { use, _ := useOf(p, t.Slug); return use.Uses }
	first := slices.MaxFunc(a.Tools, func(x, y observed.Rate) int { return cmp.Or(cmp.Compare(x.Uses, y.Uses), all(x)-all(y)) })
	out.Tool = observedName(b, first.Slug)
	out.InOne = observed.MostlyOne(first.Uses, first.InOne)
	if all(first) < p.Tools[0].Uses {
		out.Other = a.Pairs[[2]string{first.Slug, p.Tools[0].Slug}].Shown
	}
	if out.Rate, out.Interval = wholeUse(a.Part, first); out.Interval != "" {
		out.Of = chart.Whole(int64(a.NUnits))
	}
	return out
}

// Rest is like: 24 more agents. It is empty where each has a column.
func (f seenFirsts) Rest() string {
	if f.Left == 0 {
		return ""
	}
	return quantity(f.Left, "more agent")
}
