package nights

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/firstpick/firstpick/analytics/stats"
)

// fdr is the expected share of false claims among those of a night.
const fdr = 0.05

// An evidence gathers e-values against "the pick rate did not change", one for each tool,
// agent and direction.
type evidence struct {
	tests  map[subject]*stats.NightTest
	tools  map[string]bool
	agents map[string]bool
	since  map[claim]time.Time // of the claims that the last night showed
}

// A subject is a tool with an agent; an empty agent is all of them.
type subject struct{ tool, agent string }

type claim struct {
	subject
	direction Direction
}

func newEvidence() evidence {
	return evidence{map[subject]*stats.NightTest{}, map[string]bool{}, map[string]bool{}, map[claim]time.Time{}}
}

// breakAll makes the tests compare later nights with one another only.
func (e *evidence) breakAll() {
	for _, t := range e.tests {
		t.Break()
	}
}

// add adds the cells of a night to the tests of its tools.
func (e *evidence) add(tools []string, cells []cell) {
	for _, tool := range tools {
		e.tools[tool] = true
		all := make([]stats.NightCell, len(cells))
		for i, c := range cells {
			all[i] = stats.NightCell{Family: c.key, Agent: c.agent, Picks: c.picks[tool], Trials: c.trials}
		}
		e.test(subject{tool, ""}).Add(all)
		for own := range chunksByAgent(all) {
			e.agents[own[0].Agent] = true
			e.test(subject{tool, own[0].Agent}).Add(own)
		}
	}
}

// chunksByAgent yields the cells of each agent, of cells sorted by agent.
func chunksByAgent(cells []stats.NightCell) func(func([]stats.NightCell) bool) {
	return func(yield func([]stats.NightCell) bool) {
		for i, j := 0, 0; i < len(cells); i = j {
			for j = i; j < len(cells) && cells[j].Agent == cells[i].Agent; j++ {
			}
			if !yield(cells[i:j]) {
				return
			}
		}
	}
}

func (e *evidence) test(s subject) *stats.NightTest {
	if e.tests[s] == nil {
		e.tests[s] = &stats.NightTest{}
	}
	return e.tests[s]
}

// shown selects among all tools, agents and directions by e-BH, and returns the changes
// that are shown now, by tool. The changes of all agents together are hypotheses where
// there are several agents.
func (e *evidence) shown(at time.Time) map[string][]Shown {
	agents := slices.Sorted(maps.Keys(e.agents))
	if len(agents) > 1 {
		agents = append([]string{""}, agents...)
	}
	var claims []claim
	var values []float64
	for _, tool := range slices.Sorted(maps.Keys(e.tools)) {
		for _, agent := range agents {
			s := subject{tool, agent}
			claims = append(claims, claim{s, Drop}, claim{s, Rise})
			values = append(values, e.test(s).DropE(), e.test(s).RiseE())
		}
	}
	since, out := map[claim]time.Time{}, map[string][]Shown{}
	for i, selected := range stats.EBH(values, fdr) {
		if !selected {
			continue
		}
		c := claims[i]
		first, ok := e.since[c]
		if !ok {
			first = at
		}
		since[c] = first
		out[c.tool] = append(out[c.tool], Shown{cmp.Or(c.agent, AllAgents), c.direction, rounded(values[i]), first})
	}
	e.since = since
	return out
}

// rounded returns three digits of a number: the same on every platform.
func rounded(v float64) float64 {
	r, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 3, 64), 64)
	if err != nil {
		return v
	}
	return r
}
