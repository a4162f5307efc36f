package progress

import (
	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/runner/pick"
	"github.com/firstpick/firstpick/runner/plan"
)

// leaders counts the outcomes of a run, and holds the board that was last made of them.
type leaders struct {
	run      journal.Run
	category *catalog.Category // nil: nothing is ranked
	groups   map[group]int
	trials   int
	board    *analytics.Board // of ranked trials; nil before the first
	ranked   int
}

// A group is what answers have in common; see analytics.Group.
type group struct {
	prompt, agent, template, picked string
	outcome                         pick.Kind
}

func newLeaders(run journal.Run, category *catalog.Category) leaders {
	return leaders{run: run, category: category, groups: map[group]int{}}
}

func (l *leaders) add(t plan.Trial, r *pick.Result) {
	g := group{prompt: t.Eval + "/" + t.PromptID, agent: t.Agent, template: t.Template, outcome: r.Kind}
	if r.Kind == pick.Tool {
		g.picked = r.Picked
	}
	l.groups[g]++
	l.trials++
}

// measurement is what the board is computed from; false if there is nothing new. It
// shares nothing with l.
func (l *leaders) measurement() (analytics.Measurement, int, bool) {
	if l.category == nil || l.trials == l.ranked {
		return analytics.Measurement{}, 0, false
	}
	groups := make([]analytics.Group, 0, len(l.groups))
	for g, n := range l.groups {
		groups = append(groups, analytics.Group{Prompt: g.prompt, Agent: g.agent, Template: g.template, Outcome: g.outcome, Picked: g.picked, Trials: n})
	}
	return analytics.Measurement{
		Category: l.category, Cells: analytics.Cells(groups), Planned: l.run.Planned, Synthetic: l.run.Synthetic,
		Design: analytics.DesignOf(journal.Pool([]journal.Run{l.run}, l.run.Eval.Category)),
	}, l.trials, true
}

// rank makes the board of all answers.
func (l *leaders) rank() {
	if m, n, ok := l.measurement(); ok {
		b := analytics.Rank(m)
		l.board, l.ranked = &b, n
	}
}
