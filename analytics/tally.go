package analytics

import (
	"slices"
	"strings"
	"time"

	"github.com/firstpick/firstpick/analytics/stats"
	"github.com/firstpick/firstpick/runner/pick"
)

// A tally is a category's cells, counted every way that ranking needs.
type tally struct {
	tools   []string       // slugs, as in the category
	index   map[string]int // slug → place in tools
	prompts []*promptTally // sorted by prompt
	byID    map[string]*promptTally
	agents  map[string]*agentTally

	trials, mismatched          int
	outcomes                    Outcomes
	picks, shortlists, defaults []int // by tool
	last                        time.Time

	unresolved   reported
	decidedBy    DecidedBy
	judge        JudgeCounts
	firstNamed   []int // by tool
	firstUnknown int
}

// A promptTally is one cluster.
type promptTally struct {
	id     string
	trials int
	picks  []int // by tool
}

type agentTally struct {
	trials     int
	picks      []int
	unresolved reported
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

func newTally(tools []string, cells []Cell) *tally {
	t := &tally{
		tools: tools, index: map[string]int{}, byID: map[string]*promptTally{}, agents: map[string]*agentTally{},
		picks: make([]int, len(tools)), shortlists: make([]int, len(tools)), defaults: make([]int, len(tools)),
		firstNamed: make([]int, len(tools)),
	}
	for i, slug := range tools {
		t.index[slug] = i
	}
	for _, c := range cells {
		t.add(c)
	}
	for _, p := range t.byID {
		t.prompts = append(t.prompts, p)
	}
	slices.SortFunc(t.prompts, func(a, b *promptTally) int { return strings.Compare(a.id, b.id) })
	return t
}

// add counts a cell. One without trials is nothing: it must not make a cluster
// of a prompt without an answer.
func (t *tally) add(c Cell) {
	if c.Trials <= 0 {
		return
	}
	p := t.byID[c.Prompt]
	if p == nil {
		p = &promptTally{id: c.Prompt, picks: make([]int, len(t.tools))}
		t.byID[c.Prompt] = p
	}
	a := t.agents[c.Agent]
	if a == nil {
		a = &agentTally{picks: make([]int, len(t.tools))}
		t.agents[c.Agent] = a
	}
	t.trials += c.Trials
	p.trials += c.Trials
	a.trials += c.Trials
	t.mismatched += c.Mismatched
	t.unresolved.add(c.Unresolved, c.UnresolvedUnknown, c.Trials)
	a.unresolved.add(c.Unresolved, c.UnresolvedUnknown, c.Trials)
	t.layers(c.DecidedBy)
	t.judge.Judged += c.Judged
	t.judge.Agreed += c.Agreed
	t.judge.Resolved += min(c.Agreed, c.DecidedBy.Judge)
	t.firstUnknown += c.FirstUnknown
	if first, known := t.index[c.FirstNamed]; known {
		t.firstNamed[first] += c.Trials
	}
	if c.LastAt.After(t.last) {
		t.last = c.LastAt
	}
	t.outcome(c)
	if picked, known := t.index[c.Picked]; c.Outcome == pick.Tool && known {
		t.picks[picked] += c.Trials
		p.picks[picked] += c.Trials
		a.picks[picked] += c.Trials
	}
	t.consider(c)
}

// consider counts whom a cell's trials weighed. A pick is on its own shortlist
// whether the list names it or not, and a slug counts once however often the
// list has it; only so are default, pick and shortlist rates nested.
func (t *tally) consider(c Cell) {
	picked, known := t.index[c.Picked]
	known = known && c.Outcome == pick.Tool
	if known {
		t.shortlists[picked] += c.Trials
	}
	rival := false
	for i, slug := range c.Shortlist {
		if known && slug == c.Picked {
			continue
		}
		rival = true
		if j, ok := t.index[slug]; ok && !slices.Contains(c.Shortlist[:i], slug) {
			t.shortlists[j] += c.Trials
		}
	}
	if known && !rival {
		t.defaults[picked] += c.Trials
	}
}

func (t *tally) outcome(c Cell) {
	switch c.Outcome {
	case pick.Tool:
		t.outcomes.Tool += c.Trials
	case pick.DIY:
		t.outcomes.DIY += c.Trials
	case pick.Other:
		t.outcomes.Other += c.Trials
	case pick.Ambiguous:
		t.outcomes.Ambiguous += c.Trials
	case pick.Refused:
		t.outcomes.Refused += c.Trials
	case pick.Truncated:
		t.outcomes.Truncated += c.Trials
	case pick.None:
		t.outcomes.None += c.Trials
	}
}

func (t *tally) layers(d DecidedBy) {
	t.decidedBy.Structured += d.Structured
	t.decidedBy.Actions += d.Actions
	t.decidedBy.Statement += d.Statement
	t.decidedBy.Judge += d.Judge
	t.decidedBy.Given += d.Given
	t.decidedBy.Undecided += d.Undecided
}

// byLayer returns the trials by layer; nil where the layer of a trial is unknown.
func (t *tally) byLayer() *DecidedBy {
	if t.trials == 0 || t.decidedBy.sum() != t.trials {
		return nil
	}
	d := t.decidedBy
	return &d
}

// judged returns what two judges read; nil for nothing.
func (t *tally) judged() *JudgeCounts {
	if t.judge.Judged == 0 {
		return nil
	}
	j := t.judge
	return &j
}

// firstNamedRate returns the share of trials that name a tool first; nil where a trial
// does not report it.
func (t *tally) firstNamedRate(tool int) *float64 {
	if t.trials == 0 || t.firstUnknown > 0 {
		return nil
	}
	rate := share(t.firstNamed[tool], t.trials)
	return &rate
}

// clusters returns a tool's picks as clusters by prompt.
func (t *tally) clusters(tool int) []stats.Cluster {
	out := make([]stats.Cluster, len(t.prompts))
	for i, p := range t.prompts {
		n := float64(p.picks[tool])
		out[i] = stats.Cluster{Sum: n, Squares: n, N: p.trials}
	}
	return out
}

// difference writes picks of a less picks of b as clusters by prompt over out,
// which has one place per prompt: a field of 60 has 1,770 pairs.
func (t *tally) difference(out []stats.Cluster, a, b int) []stats.Cluster {
	for i, p := range t.prompts {
		x, y := float64(p.picks[a]), float64(p.picks[b])
		out[i] = stats.Cluster{Sum: x - y, Squares: x + y, N: p.trials}
	}
	return out
}
