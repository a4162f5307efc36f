package views

import (
	"cmp"
	"html/template"

	"github.com/firstpick/firstpick/analytics/observed"
	"github.com/firstpick/firstpick/fixtures/sorting"
	"github.com/firstpick/firstpick/server/kit/chart"
	"github.com/firstpick/firstpick/server/kit/render"
)

// A pairAgents compares what each coding agent used of two tools, in the shape of the comparison of
// what was asked.
type pairAgents struct {
	A, B, Board, Link string
	Unit, Units, Of   string // what is counted, the heading of the counts, what the rates are of
	Ruler             template.HTML
	Parts             []pairAgent
	Source, Lines     string // the study, and the file with each unit
	Rule              string // when counts stand for rates
	Tested            string // which agents are tested, and how
	Age               age
}

// A pairAgent is how often one agent used each of two tools.
type pairAgent struct {
	Agent, A, B, RangeA, RangeB, N, Repos string
	Few                                   bool // so few units that counts stand for rates
	Chips                                 []string
	Plot                                  template.HTML
	marks                                 [2]chart.Mark
	pair                                  *observed.Pair // the difference; nil where there is too little data for a test
}

// agents compares two tools by agent; nil where they were not seen on one part of a board.
func (s pairSeen) agents(in Input, x, y, a, b string) *pairAgents {
	board, agents := s.Board, usersOf(s.Board, s.Language)
	if s.Apart != nil || len(agents) == 0 {
		return nil
	}
	d := pairAgents{
		A: x, B: y, Board: board.Name, Link: observedPath(board.Category), Unit: board.Unit, Units: render.Capital(board.Unit) + "s", Source: board.Cite(), Age: seenAgeOf(board, in.Now),
		Rule: useRule(board.Unit), Of: unitsOf(board, s.Part, s.Language) + " of " + chart.Count(s.Part.NRepos, "repository", "repositories"), Lines: linesPath(in, board),
	}
	most := 0.0
	for _, agent := range agents {
		p := newPairAgent(board, agent, x, y, a, b)
		for _, m := range p.marks {
			most = max(most, m.Rate, m.High)
		}
		d.Parts = append(d.Parts, p)
	}
	axis := chart.NewAxis(most)
	d.Ruler = axis.Ruler()
	for i, p := range d.Parts {
		d.Parts[i].Plot = axis.Pair(p.marks[0], p.marks[1])
	}
	sorting.StableFunc(d.Parts, func(p, q pairAgent) int { // those that can be read first, then from the first tool's best
		return cmp.Or(falseFirst(p.Few, q.Few), cmp.Compare(q.marks[0].Rate-q.marks[1].Rate, p.marks[0].Rate-p.marks[1].Rate))
	})
	return &d
}

func newPairAgent(board *observed.Board, agent observed.AgentBoard, x, y, a, b string) pairAgent {
	p := pairAgent{Agent: agent.Agent, N: chart.Whole(int64(agent.NUnits)), Repos: chart.Whole(int64(agent.NRepos)), Few: agent.NUnits < observed.MinUnits, Chips: partChips(board, agent.Part), pair: testable(agent, a, b)}
	side := func(name, slug string) (text, interval string, m chart.Mark) {
		use, _ := useOf(agent.Part, slug)
		text, interval = render.UseRate(use, agent.NUnits)
		m = chart.Mark{Rate: use.UseRate, Text: name + " " + text}
		if interval != "" {
			m.Low, m.High, m.Interval, m.Text = use.CILow, use.CIHigh, true, m.Text+", 95% CI "+interval
		}
		return text, interval, m
	}
	p.A, p.RangeA, p.marks[0] = side(x, a)
	p.B, p.RangeB, p.marks[1] = side(y, b)
	return p
}
