package evals

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/fixtures/sorting"
)

// tests are the comparisons that are corrected for each other. They exclude tools that were
// never picked in either run: they cannot show a change, so they must not reduce the power
// of the other tests (Tarone 1990).
type tests struct {
	tested, untested []*analytics.Difference
	changes          map[*analytics.Difference]*ToolChange
}

// tools compares the tools that two boards have, of these measurements. Pairing does
// not depend on the tool, so one result covers all. finish completes the list.
func (t *tests) tools(base, run *analytics.Board, was, is analytics.Measurement) (list []ToolChange, paired bool) {
	list = []ToolChange{}
	if base.NTrials == 0 || run.NTrials == 0 {
		return list, false
	}
	before := map[string]analytics.Standing{}
	for _, s := range base.Tools {
		before[s.Slug] = s
	}
	var slugs []string
	for _, s := range run.Tools {
		if old, ok := before[s.Slug]; ok {
			slugs = append(slugs, s.Slug)
			list = append(list, ToolChange{
				Slug: s.Slug, Tool: s.Tool, BasePickRate: old.PickRate, BaseCILow: old.CILow, BaseCIHigh: old.CIHigh,
				PickRate: s.PickRate, CILow: s.CILow, CIHigh: s.CIHigh,
			})
		}
	}
	differences := analytics.Differences(was, is, slugs)
	bySlug := map[string]*analytics.Difference{}
	for i := range differences {
		d := &differences[i]
		paired = d.Paired > 0
		bySlug[d.Slug], list[i].Diff = d, analytics.Round(d.Value)
	}
	sorting.Func(list, func(a, b ToolChange) int {
		return cmp.Or(
			cmp.Compare(math.Abs(b.Diff), math.Abs(a.Diff)), cmp.Compare(b.PickRate+b.BasePickRate, a.PickRate+a.BasePickRate), strings.Compare(a.Slug, b.Slug),
		)
	})
	if t.changes == nil {
		t.changes = map[*analytics.Difference]*ToolChange{}
	}
	for i := range list {
		c := &list[i]
		d := bySlug[c.Slug]
		t.changes[d] = c
		if c.BasePickRate > 0 || c.PickRate > 0 {
			t.tested = append(t.tested, d)
		} else {
			t.untested = append(t.untested, d)
		}
	}
	return list, paired
}

// finish corrects all lists together, and sets their intervals and verdicts.
func (t *tests) finish() {
	for d, c := range t.changes {
		analytics.Simultaneous([]*analytics.Difference{d})
		c.AloneCILow, c.AloneCIHigh, c.PAlone = analytics.Round(d.Interval.Low), analytics.Round(d.Interval.High), analytics.Round(d.P)
	}
	analytics.Simultaneous(t.tested)
	analytics.Simultaneous(t.untested)
	for d, c := range t.changes {
		c.DiffCILow, c.DiffCIHigh = analytics.Round(d.Interval.Low), analytics.Round(d.Interval.High)
		c.PAdjusted, c.Significant = analytics.Round(d.P), d.Shown
	}
}

// compareAgents compares the agents that both runs asked, each alone.
func compareAgents(c *Comparison, base, run *measured) {
	var all tests
	for _, now := range run.agents {
		i := slices.IndexFunc(base.agents, func(a agentScores) bool { return a.Agent == now.Agent })
		if i < 0 {
			continue
		}
		then := base.agents[i]
		a := AgentChange{Agent: now.Agent, BaseNTrials: then.Board.NTrials, NTrials: now.Board.NTrials, Changed: changed(base.manifest, run.manifest, now.Agent)}
		a.Tools, a.Paired = all.tools(picked(&then.Board, &now.Board), &now.Board, base.measurement(of(base.cells, now.Agent)), run.measurement(of(run.cells, now.Agent)))
		c.Agents = append(c.Agents, a)
	}
	all.finish()
}

// picked is a board with the tools that were picked on it or on another.
func picked(b, other *analytics.Board) *analytics.Board {
	some := map[string]bool{}
	for _, s := range slices.Concat(b.Tools, other.Tools) {
		some[s.Slug] = some[s.Slug] || s.Picks > 0
	}
	out := *b
	out.Tools = slices.DeleteFunc(slices.Clone(b.Tools), func(s analytics.Standing) bool { return !some[s.Slug] })
	return &out
}

// of returns the cells of an agent.
func of(cells []analytics.Cell, agent string) []analytics.Cell {
	return slices.DeleteFunc(slices.Clone(cells), func(c analytics.Cell) bool { return c.Agent != agent })
}

// without returns the tools and prompts of a run that another run lacks.
func (m *measured) without(other *measured) Unshared {
	out := Unshared{Prompts: []string{}}
	for _, p := range m.manifest.Eval.Prompts {
		if text, ok := other.prompts[p.ID]; !ok || text != p.Text {
			out.Prompts = append(out.Prompts, p.ID)
		}
	}
	out.Agents = without(m.agentNames(), other.agentNames())
	out.Tools = without(m.slugs(), other.slugs())
	return out
}

func (m *measured) agentNames() []string {
	var out []string
	for _, a := range m.agents {
		out = append(out, a.Agent)
	}
	return out
}

func (m *measured) slugs() []string {
	var out []string
	for _, t := range m.board.Tools {
		out = append(out, t.Slug)
	}
	return out
}

// union returns the codes of both, sorted.
func union(a, b []string) []string {
	all := map[string]bool{}
	for _, code := range slices.Concat(a, b) {
		all[code] = true
	}
	return append([]string{}, slices.Sorted(maps.Keys(all))...)
}
