package analytics

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/firstpick/firstpick/analytics/stats"
)

// A tally is a category's cells as tables of families by agents.
type tally struct {
	tools    []string       // slugs, as in the category
	index    map[string]int // slug → place in tools
	families []string       // sorted
	agents   []string       // sorted
	place    map[string]int // family → place in families
	prompts  int
	planned  int // trials
	design   *stats.Design
	of       Design

	// Of each cell of the measurement: its trials, the numbers of its family, agent and
	// template, and by tool its picks. levels is how many of these there are.
	cells  []cellCounts
	levels [3]int
	picked [][]int

	// Counts by tool and cell of the table; the others by cell.
	picks, shortlists, defaults, firstNamed [][]int
	trials, diy, mismatched, unresolved     []int

	// The rates of all tools, then those of DIY and mismatch; set by Measurement.board.
	estimates []stats.Estimate
	pickRates []stats.Rate

	total             Cell // sums of all cells but Tools
	unresolvedByAgent []reported
}

type cellCounts struct {
	trials int
	level  [3]int
}

// A reported count is one that not every trial may report.
type reported struct{ n, unknown, trials int }

func (r *reported) add(n, unknown, trials int) {
	r.n, r.unknown, r.trials = r.n+n, r.unknown+unknown, r.trials+trials
}

// value is the count; nil without trials and where a trial does not report it.
func (r *reported) value() *int {
	if r.unknown > 0 || r.trials == 0 {
		return nil
	}
	n := r.n
	return &n
}

func newTally(tools []string, cells []Cell, of Design) *tally {
	t := &tally{tools: tools, index: map[string]int{}, place: map[string]int{}, of: of}
	for i, slug := range tools {
		t.index[slug] = i
	}
	prompts, families, agents, templates := map[string]string{}, map[string]int{}, map[string]int{}, map[string]int{}
	distinct := map[string]bool{}
	for i := range cells {
		c := &cells[i]
		family, known := prompts[c.Prompt]
		if !known {
			family = of.family(c.Prompt)
			prompts[c.Prompt] = family
			eval, id, found := strings.Cut(c.Prompt, "/") // the same prompt of two evals is one
			if !found {
				id = eval
			}
			distinct[family+"/"+id] = true
		}
		families[family], agents[c.Agent], templates[c.Template] = 0, 0, 0
	}
	number := func(levels map[string]int) []string {
		names := sortedKeys(levels)
		for i, name := range names {
			levels[name] = i
		}
		return names
	}
	t.families, t.agents, t.prompts, t.place = number(families), number(agents), len(distinct), families
	t.levels = [3]int{len(families), len(agents), len(number(templates))}
	t.allocate(len(cells))
	for i := range cells {
		c := &cells[i]
		t.cells[i] = cellCounts{c.Trials, [3]int{families[prompts[c.Prompt]], agents[c.Agent], templates[c.Template]}}
		t.add(i, c)
	}
	t.design = stats.NewDesign(t.rows(), of.weightsOf(t.agents))
	t.design.Formulas2 = of.Formulas2
	return t
}

func (t *tally) allocate(cells int) {
	n := len(t.families) * len(t.agents)
	table := func(n int) [][]int {
		out, all := make([][]int, len(t.tools)), make([]int, n*len(t.tools))
		for i := range out {
			out[i] = all[i*n : (i+1)*n]
		}
		return out
	}
	t.picks, t.shortlists, t.defaults, t.firstNamed = table(n), table(n), table(n), table(n)
	t.cells, t.picked = make([]cellCounts, cells), table(cells)
	for _, list := range []*[]int{&t.trials, &t.diy, &t.mismatched, &t.unresolved} {
		*list = make([]int, n)
	}
	t.unresolvedByAgent = make([]reported, len(t.agents))
}

// at returns the place of a cell in the tables.
func (t *tally) at(c Cell) int {
	a, _ := slices.BinarySearch(t.agents, c.Agent)
	return t.place[t.of.family(c.Prompt)]*len(t.agents) + a
}

func (t *tally) add(cell int, c *Cell) {
	level := t.cells[cell].level
	at := level[0]*len(t.agents) + level[1]
	t.trials[at] += c.Trials
	t.diy[at] += c.Outcomes.DIY
	t.mismatched[at] += c.Mismatched
	if t.unresolved[at] += c.Unresolved; c.UnresolvedUnknown > 0 {
		t.unresolved[at] += c.Outcomes.Ambiguous
	}
	for _, count := range c.Tools {
		if i, known := t.index[count.Slug]; known {
			t.picks[i][at] += count.Picks
			t.shortlists[i][at] += count.Shortlists
			t.defaults[i][at] += count.Defaults
			t.firstNamed[i][at] += count.FirstNamed
			t.picked[i][cell] += count.Picks
		}
	}
	t.unresolvedByAgent[at%len(t.agents)].add(c.Unresolved, c.UnresolvedUnknown, c.Trials)
	t.total.sumWith(c)
}

// rows returns the trials as a table.
func (t *tally) rows() [][]int {
	out := make([][]int, len(t.families))
	for g := range out {
		out[g] = t.trials[g*len(t.agents) : (g+1)*len(t.agents)]
	}
	return out
}

// asOf is when the last trial finished; nil without trials.
func (t *tally) asOf() *time.Time {
	if t.total.LastAt.IsZero() {
		return nil
	}
	at := t.total.LastAt.UTC()
	return &at
}

// byLayer returns the trials by layer; nil where the layer of a trial is unknown.
func (t *tally) byLayer() *DecidedBy {
	if t.total.Trials == 0 || t.total.DecidedBy.sum() != t.total.Trials {
		return nil
	}
	d := t.total.DecidedBy
	return &d
}

// judged returns what two judges read; nil for nothing.
func (t *tally) judged() *JudgeCounts {
	if t.total.Judged == 0 {
		return nil
	}
	return &JudgeCounts{Judged: t.total.Judged, Agreed: t.total.Agreed, Resolved: t.total.Resolved}
}

// rate estimates the rate of a count by cell.
func (t *tally) rate(counts []int) stats.Rate {
	return t.design.Rate(t.design.Estimate(counts))
}

// rates estimates the rates of all tools; rare ones borrow the board's design effect.
func (t *tally) rates(counts [][]int) ([]stats.Estimate, []stats.Rate) {
	estimates, rates := make([]stats.Estimate, len(counts)), make([]stats.Rate, len(counts))
	for i, c := range counts {
		estimates[i] = t.design.Estimate(c)
		rates[i] = t.design.Rate(estimates[i])
	}
	t.design.Borrow(estimates, rates)
	return estimates, rates
}

func sum(counts []int) (n int) {
	for _, c := range counts {
		n += c
	}
	return n
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
