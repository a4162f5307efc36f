package nights

import (
	"cmp"
	"maps"
	"slices"
)

// A History collects the nights of one category, oldest first.
type History struct {
	category string
	counted  map[answer]bool
	last     *Night
	models   map[string]string // the last of each agent
	evidence evidence
	leads    leads
	lines    []Line
}

// An answer is one to a trial: another run's answer to it finished at another time.
type answer struct {
	trial      string
	finishedAt int64 // in microseconds
}

// New returns the history of a category before its first night.
func New(category string) *History {
	return &History{category: category, counted: map[answer]bool{}, models: map[string]string{}, evidence: newEvidence(), leads: leads{}, lines: []Line{}}
}

// Len is the number of nights.
func (h *History) Len() int { return len(h.lines) }

// Series returns the nights so far.
func (h *History) Series() Series { return Series{Category: h.category, Nights: h.lines} }

// Add adds the next night. A trial counts once: those that an earlier night had are left
// out of the tests, whether their outcomes were extracted again or not. A night that has
// no others, such as a run published again, is not added, and Add returns false.
func (h *History) Add(n Night) bool {
	trials := h.uncounted(n.Trials)
	if len(trials) == 0 {
		return false
	}
	line := Line{At: n.At, Snapshot: n.Snapshot, Synthetic: n.Synthetic, Breaks: breaks(h.last, &n, h.models), Delta: delta(h.last, &n, h.models), Tools: []Tool{}}
	if h.last != nil && h.last.reading() != n.reading() {
		h.evidence.breakAll()
	}
	if h.last != nil && !sameDesign(h.last, &n) {
		h.leads = leads{}
	}
	maps.Copy(h.models, n.Models)
	slugs := make([]string, 0, len(n.Board.Tools))
	for _, s := range n.Board.Tools {
		slugs = append(slugs, s.Slug)
	}
	h.evidence.add(slugs, cellsOf(&n, trials))
	h.leads.add(n.At, slugs, picksOf(trials))
	shown := h.evidence.shown(n.At)
	for _, s := range n.Board.Tools {
		line.Tools = append(line.Tools, Tool{s.Slug, s.PickRate, s.CILow, s.CIHigh, s.NTrials, append([]Shown{}, shown[s.Slug]...), h.leads.overtaken(s.Slug)})
	}
	h.lines = append(h.lines, line)
	n.Trials = nil // of no use to the next night
	h.last = &n
	return true
}

// picksOf counts the trials that picked each tool.
func picksOf(trials []Trial) map[string]int {
	out := map[string]int{}
	for _, t := range trials {
		if t.Picked != "" {
			out[t.Picked]++
		}
	}
	return out
}

// uncounted returns the trials that no earlier night had, and counts them.
func (h *History) uncounted(trials []Trial) (out []Trial) {
	for _, t := range trials {
		if a := (answer{t.ID, t.FinishedAt.UnixMicro()}); !h.counted[a] {
			h.counted[a] = true
			out = append(out, t)
		}
	}
	return out
}

// A cell counts the trials of one night that are exchangeable with those of the cell of
// the same key on other nights, where rates did not change.
type cell struct {
	agent string
	// key names the text of the prompt, the template and the model: a reworded prompt or
	// another model is compared with itself only.
	key    string
	trials int
	picks  map[string]int // by tool
}

// cellsOf sums trials into cells, in the order of agents and keys.
func cellsOf(n *Night, trials []Trial) []cell {
	type key struct{ agent, key string }
	cells := map[key]*cell{}
	for _, t := range trials {
		text := n.Prompts[t.Prompt]
		if text == "" {
			text = "named " + t.Prompt
		}
		k := key{t.Agent, text + "\x00" + t.Template + "\x00" + n.Models[t.Agent]}
		c := cells[k]
		if c == nil {
			c = &cell{agent: k.agent, key: k.key, picks: map[string]int{}}
			cells[k] = c
		}
		c.trials++
		if t.Picked != "" {
			c.picks[t.Picked]++
		}
	}
	keys := slices.SortedFunc(maps.Keys(cells), func(a, b key) int { return cmp.Or(cmp.Compare(a.agent, b.agent), cmp.Compare(a.key, b.key)) })
	out := make([]cell, len(keys))
	for i, k := range keys {
		out[i] = *cells[k]
	}
	return out
}
