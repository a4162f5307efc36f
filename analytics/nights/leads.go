package nights

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/firstpick/firstpick/analytics/stats"
	"github.com/firstpick/firstpick/fixtures/sorting"
)

// overtakenAlpha bounds the chance that a tool is ever shown as overtaken by any rival, on
// nights with the same agents and prompts, while the order of their rates never changes.
const overtakenAlpha = 0.05

// An Overtaken says that a rival, which was behind a tool, is ahead of it now.
type Overtaken struct {
	By string `json:"by"`
	// E is the e-value against "the rival is not ahead", rounded to three digits.
	E float64 `json:"e"`
	// Since is the night that first showed it.
	Since time.Time `json:"since"`
}

// leads follows who is ahead of whom. A tool is overtaken when its own lead was shown
// and then the rival's, so one of the two claims must be false where the order never
// changed.
type leads map[[2]string]*pair

// A pair compares two tools; the slug of the first is the smaller one.
type pair struct {
	tests  [2]stats.LeadTest
	leader int       // 0 or 1 once shown, -1 before
	since  time.Time // when the leader overtook the other; zero if it did not
}

// add adds a night's picks of the tools on its board.
func (l leads) add(at time.Time, tools []string, picks map[string]int) {
	sorted := slices.Sorted(slices.Values(tools))
	threshold := float64(max(len(sorted)-1, 1)) / overtakenAlpha
	for i, a := range sorted {
		for _, b := range sorted[i+1:] {
			if picks[a]+picks[b] == 0 {
				continue
			}
			p := l[[2]string{a, b}]
			if p == nil {
				p = &pair{leader: -1}
				l[[2]string{a, b}] = p
			}
			p.add(at, picks[a], picks[b], threshold)
		}
	}
}

func (p *pair) add(at time.Time, first, second int, threshold float64) {
	p.tests[0].Add(first, second)
	p.tests[1].Add(second, first)
	ahead := 0
	if p.tests[1].E() > p.tests[0].E() {
		ahead = 1
	}
	if p.leader >= 0 {
		ahead = 1 - p.leader
	}
	if p.tests[ahead].E() < threshold {
		return
	}
	if p.leader >= 0 {
		p.since = at
	}
	p.leader, p.tests[1-ahead] = ahead, stats.LeadTest{} // a lead of the other needs later nights
}

// overtaken returns the rivals that are ahead of a tool and were behind it.
func (l leads) overtaken(tool string) []Overtaken {
	var out []Overtaken
	for names, p := range l {
		if !p.since.IsZero() && names[1-p.leader] == tool {
			out = append(out, Overtaken{names[p.leader], rounded(p.tests[p.leader].E()), p.since})
		}
	}
	sorting.Func(out, func(a, b Overtaken) int {
		return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.By, b.By))
	})
	return out
}

// A Delta lists what a night measured otherwise than the night before.
type Delta struct {
	// NewAgents were on no earlier night, and have no From. NewModels are agents whose
	// model changed.
	NewAgents, NewModels []NewModel
	// MissingAgents and MissingPrompts were on the night before.
	MissingAgents, MissingPrompts []string
	// Coverage is valid / planned trials, CoverageBefore that of the night before; negative
	// where unknown.
	Coverage, CoverageBefore float64
}

// A NewModel is another model behind an agent's name.
type NewModel struct{ Agent, From, To string }

// delta compares two nights; before are the models that last answered for each agent.
func delta(older, newer *Night, before map[string]string) Delta {
	d := Delta{Coverage: -1, CoverageBefore: -1}
	if newer.Board.Coverage != nil {
		d.Coverage = *newer.Board.Coverage
	}
	if older == nil {
		return d
	}
	if older.Board.Coverage != nil {
		d.CoverageBefore = *older.Board.Coverage
	}
	for _, agent := range slices.Sorted(maps.Keys(newer.Models)) {
		switch was, known := before[agent]; {
		case !known:
			d.NewAgents = append(d.NewAgents, NewModel{agent, "", newer.Models[agent]})
		case was != newer.Models[agent]:
			d.NewModels = append(d.NewModels, NewModel{agent, was, newer.Models[agent]})
		}
	}
	d.MissingAgents, d.MissingPrompts = missing(older.Models, newer.Models), missing(older.Prompts, newer.Prompts)
	return d
}

// sameDesign reports whether two nights have the same agents and prompts: leads on others
// are not compared.
func sameDesign(older, newer *Night) bool {
	agents := slices.Equal(slices.Sorted(maps.Keys(older.Models)), slices.Sorted(maps.Keys(newer.Models)))
	return agents && older.reading() == newer.reading() && maps.Equal(older.Prompts, newer.Prompts)
}
