package views

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/fixtures/sorting"
	"github.com/firstpick/firstpick/server/kit/render"
)

// firstPicks has the tool that each agent picks most, on several boards.
type firstPicks struct {
	Noun   string // agent or model
	Boards []firstBoard
	Agreed []card         // the boards on which all have the same first tool
	Rows   []firstPickRow // of agents, those first that agree least with the others
	Left   int            // agents without a row
	Other  bool           // a cell has another tool than the first of its board
	Note   string         // how much each board asked, where that is the same; else empty
}

// A firstBoard is a column of the table. Others are its agents that differ from its first tool or have no clear first one,
// and Rest says what is left.
type firstBoard struct {
	card

	Asked  *promptText // the only prompt; nil for others
	Others []firstPickRow
	Rest   string
}

type firstPickRow struct {
	Agent, Link string
	Cells       []firstPick // one for each board
	id          string      // the exact name of the agent
	others      float64     // share of its boards with another first tool
}

// A firstPick is the tool that an agent picks most on a board, and the second; both are empty where the board did not
// ask the agent.
type firstPick struct {
	First, Second agentPick
	Clear         bool // it picks the first more often: see isAhead
	Other         bool // another tool than the first of the board
	None          bool // it picks no listed tool
}

// The size of the table of first picks.
const (
	maxFirstBoards = 6
	maxFirstAgents = 12
)

// firstPicksOf returns the table of the boards with the most trials; nil unless agents differ on two boards. first is the
// first column, where it is in the table.
func (r *Renderer) firstPicksOf(first *analytics.Board) *firstPicks {
	f := firstPicks{Noun: "model"}
	var boards []*analytics.Board
	for _, b := range r.byTrials() {
		switch {
		case len(b.Agents) < 2 || len(b.Tools) == 0 || b.Tools[0].Picks == 0:
		case !slices.ContainsFunc(b.Agents, func(a analytics.AgentBoard) bool { return !firstPickOf(b, a).alike() }):
			f.Agreed = append(f.Agreed, r.boardCard(b))
		default:
			boards = append(boards, b)
		}
	}
	if len(boards) < 2 {
		return nil
	}
	sorting.StableFunc(boards, descending(func(b *analytics.Board) float64 {
		if b == first {
			return 1
		}
		return 0
	}))
	boards, f.Agreed = boards[:min(maxFirstBoards, len(boards))], f.Agreed[:min(maxFirstBoards, len(f.Agreed))]
	rows := map[string]*firstPickRow{}
	for i, b := range boards {
		f.Boards = append(f.Boards, r.firstBoardOf(b))
		if nounOf(b) == "agent" {
			f.Noun = "agent"
		}
		for _, a := range b.Agents {
			row := rows[a.Agent]
			if row == nil {
				row = &firstPickRow{id: a.Agent, Agent: render.AgentName(a.Agent), Link: agentPath(agentSlug(a.Agent)), Cells: make([]firstPick, len(boards))}
				rows[a.Agent] = row
			}
			row.Cells[i] = firstPickOf(b, a)
		}
	}
	for _, row := range rows {
		asked := 0.0
		for _, c := range row.Cells {
			if c.Asked() {
				asked++
			}
			if c.Other {
				row.others++
			}
		}
		row.others /= asked
		f.Rows = append(f.Rows, *row)
	}
	sorting.Func(f.Rows, func(x, y firstPickRow) int {
		return cmp.Or(cmp.Compare(y.others, x.others), cmp.Compare(x.Agent, y.Agent), cmp.Compare(x.id, y.id))
	})
	f.Left = max(0, len(f.Rows)-maxFirstAgents)
	f.Rows = f.Rows[:len(f.Rows)-f.Left]
	f.Other, f.Note = f.Rows[0].others > 0, f.commonNote()
	return &f
}

// commonNote is the note that all boards share; empty where they differ.
func (f firstPicks) commonNote() string {
	note := f.Boards[0].Note
	if slices.ContainsFunc(f.Boards, func(b firstBoard) bool { return b.Note != note }) || slices.ContainsFunc(f.Agreed, func(c card) bool { return c.Note != note }) {
		return ""
	}
	return note
}

// firstBoardOf is the column of a board.
func (r *Renderer) firstBoardOf(b *analytics.Board) firstBoard {
	f := firstBoard{card: r.boardCard(b), Asked: onlyPrompt(b)}
	for i := range f.Top { // as in the cells
		f.Top[i].Rate = wholeShare(f.Top[i].share)
	}
	low, high, n := 1.0, 0.0, 0
	for _, a := range b.Agents {
		if p := firstPickOf(b, a); !p.alike() {
			f.Others = append(f.Others, firstPickRow{Agent: render.AgentName(a.Agent), Link: agentPath(agentSlug(a.Agent)), Cells: []firstPick{p}})
			continue
		}
		best, _ := firstTwo(a)
		low, high, n = min(low, best.PickRate), max(high, best.PickRate), n+1
	}
	cut := max(0, len(f.Others)-maxFirstAgents)
	if f.Others = f.Others[:len(f.Others)-cut]; n > 0 {
		f.Rest = fmt.Sprintf("The other %d: %s, %s%%", n, b.Tools[0].Tool, wholePercent(high))
		if wholePercent(low) != wholePercent(high) {
			f.Rest = fmt.Sprintf("The other %d: %s, %s–%s%%", n, b.Tools[0].Tool, wholePercent(low), wholePercent(high))
		}
	}
	if cut > 0 {
		f.Rest = strings.TrimPrefix(f.Rest+fmt.Sprintf("; %d more differ", cut), "; ")
	}
	return f
}

// alike reports whether the first tool is that of the board, clearly.
func (p firstPick) alike() bool { return !p.None && !p.Other && p.Clear }

// Asked reports whether the board asked the agent.
func (p firstPick) Asked() bool { return p.None || p.First.Tool != "" }

func firstPickOf(b *analytics.Board, a analytics.AgentBoard) firstPick {
	best, second := firstTwo(a)
	if best.Picks == 0 {
		return firstPick{None: a.NTrials > 0, Other: a.NTrials > 0}
	}
	pick := func(t analytics.AgentRate) agentPick {
		if t.Picks == 0 {
			return agentPick{}
		}
		return agentPick{Tool: nameOf(b, t.Slug), Rate: shareText(t.Picks, a.NTrials)}
	}
	most := 0.0 // its rate of a tool that is first on the board
	for _, s := range b.Tools {
		if s.PickRate == b.Tools[0].PickRate {
			most = max(most, rateOf(a.Tools, s.Slug))
		}
	}
	return firstPick{First: pick(best), Second: pick(second), Clear: a.NTrials >= leastAnswers && isAhead(b, a, best, second), Other: best.PickRate > most}
}

// leastAnswers is from how many answers of an agent its first tool may be clear, and from how many units it is said what an
// agent used most.
const leastAnswers = 10

// Rest names the agents without a row, as: 18 more agents. It is empty where each has one.
func (f firstPicks) Rest() string {
	if f.Left == 0 {
		return ""
	}
	return quantity(f.Left, "more "+f.Noun)
}
