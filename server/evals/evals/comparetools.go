package evals

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/analytics/stats"
)

// significant is the chance of a false alarm over all tools of a comparison.
const significant = 0.05

// A family is the set of hypotheses tested together. It excludes tools that were never
// picked in either run: they cannot show a change, so they must not reduce the power
// of the other tests (Tarone 1990).
type family struct{ lists [][]ToolChange }

// tools compares the tools that two boards have, whose cells are given. Pairing does
// not depend on the tool, so one result covers all.
func (f *family) tools(base, run *analytics.Board, was, is []analytics.Cell) (list []ToolChange, paired bool) {
	list = []ToolChange{}
	if base.NTrials == 0 || run.NTrials == 0 {
		return list, false
	}
	before := map[string]analytics.Standing{}
	for _, s := range base.Tools {
		before[s.Slug] = s
	}
	for _, s := range run.Tools {
		old, ok := before[s.Slug]
		if !ok {
			continue
		}
		d := analytics.DriftOf(was, is, s.Slug)
		paired = d.Paired
		list = append(list, ToolChange{
			Slug: s.Slug, Tool: s.Tool, BasePickRate: old.PickRate, BaseCILow: old.CILow, BaseCIHigh: old.CIHigh,
			PickRate: s.PickRate, CILow: s.CILow, CIHigh: s.CIHigh,
			Diff: round(d.Value), DiffCILow: round(d.Interval.Low), DiffCIHigh: round(d.Interval.High), PAdjusted: d.P,
		})
	}
	slices.SortFunc(list, func(a, b ToolChange) int {
		return cmp.Or(
			cmp.Compare(math.Abs(b.Diff), math.Abs(a.Diff)), cmp.Compare(b.PickRate+b.BasePickRate, a.PickRate+a.BasePickRate), strings.Compare(a.Slug, b.Slug),
		)
	})
	f.lists = append(f.lists, list)
	return list, paired
}

// adjust corrects the p-values of all lists together (Holm).
func (f *family) adjust() {
	var ps []float64
	var tested []*ToolChange
	for _, list := range f.lists {
		for i := range list {
			if t := &list[i]; t.BasePickRate > 0 || t.PickRate > 0 {
				tested, ps = append(tested, t), append(ps, t.PAdjusted)
			}
		}
	}
	for i, p := range stats.Holm(ps) {
		tested[i].PAdjusted, tested[i].Significant = round(p), p < significant
	}
}

// compareAgents compares the agents that both runs asked, each alone.
func compareAgents(c *Comparison, base, run *measured) {
	var all family
	for _, now := range run.agents {
		i := slices.IndexFunc(base.agents, func(a agentScores) bool { return a.Agent == now.Agent })
		if i < 0 {
			continue
		}
		then := base.agents[i]
		a := AgentChange{Agent: now.Agent, BaseNTrials: then.Board.NTrials, NTrials: now.Board.NTrials, Changed: changed(base.manifest, run.manifest, now.Agent)}
		a.Tools, a.Paired = all.tools(picked(&then.Board, &now.Board), &now.Board, of(base.cells, now.Agent), of(run.cells, now.Agent))
		c.Agents = append(c.Agents, a)
	}
	all.adjust()
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

// round keeps six decimals, as boards do.
func round(v float64) float64 { return math.Round(v*1e6)/1e6 + 0 }
