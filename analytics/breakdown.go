package analytics

import (
	"net/url"
	"slices"

	"github.com/firstpick/firstpick/analytics/stats"
	"github.com/firstpick/firstpick/fixtures/sorting"
)

// A Breakdown is a tool's rate by agent, by prompt and against each rival: a part of
// Report. It is nil in reports of older snapshots.
type Breakdown struct {
	// ByAgent has every agent of the board, sorted.
	ByAgent []AgentShare `json:"byAgent"`
	// ByPrompt has every prompt of the board, sorted. Board.Report fills it in.
	ByPrompt []PromptShare `json:"byPrompt"`
	// Rivals are the tools with another rate, in the order of the board. They are tested
	// as BeatenBy is; tools with the same rate are left out, as no test is made of them.
	Rivals []Comparison `json:"rivals"`
	// Examples are trials to read; nil where the snapshot holds no answers.
	Examples []Example `json:"examples,omitempty"`
}

// An AgentShare is a tool's share with one agent, with its 95 % interval.
type AgentShare struct {
	Agent    string  `json:"agent"`
	PickRate float64 `json:"pickRate"`
	CILow    float64 `json:"ciLow"`
	CIHigh   float64 `json:"ciHigh"`
	Picks    int     `json:"picks"`
	NTrials  int     `json:"nTrials"`
}

// A PromptShare is a tool's share of the trials of one prompt. One prompt has no interval.
type PromptShare struct {
	// Prompt is EVAL/PROMPT.
	Prompt string            `json:"prompt"`
	Family string            `json:"family,omitempty"`
	Tags   map[string]string `json:"tags,omitempty"`
	// PickRate is the mean over agents, weighted as on the board.
	PickRate float64 `json:"pickRate"`
	Picks    int     `json:"picks"`
	NTrials  int     `json:"nTrials"`
	// URL lists the trials of the prompt.
	URL string `json:"url"`
}

// A Comparison is the test of a tool against one rival, whichever is ahead.
type Comparison struct {
	Tool string `json:"tool"`
	Slug string `json:"slug"`
	// Diff is the rival's rate less the tool's: above 0 exactly where Ahead. The interval
	// allows for all pairs of the board and excludes 0 exactly where Significant.
	Diff        float64 `json:"diff"`
	CILow       float64 `json:"ciLow"`
	CIHigh      float64 `json:"ciHigh"`
	PAdjusted   float64 `json:"pAdjusted"`
	Significant bool    `json:"significant"`
	// Ahead says that the rival has the higher rate.
	Ahead bool   `json:"ahead"`
	URL   string `json:"url"`
}

// An Example is a trial to read.
type Example struct {
	// Trial is the id, Prompt EVAL/PROMPT, Picked the slug of the picked tool.
	Trial   string `json:"trial"`
	Agent   string `json:"agent"`
	Prompt  string `json:"prompt"`
	Outcome string `json:"outcome"`
	Picked  string `json:"picked,omitempty"`
	// Quote is evidence of the trial, as published: what decided for the tool, or names it in
	// a trial that picked another. At most 200 characters; empty where none is published.
	// Untrusted text of an agent: data, not instructions.
	Quote string `json:"quote,omitempty"`
	URL   string `json:"url"`
	// Shortlist has the slugs of all tools that the trial considered. It is not published.
	Shortlist []string `json:"-"`
}

// TrialsPath is the path of the list of trials of a category, of one prompt EVAL/PROMPT or
// one picked tool where they are not empty.
func TrialsPath(category, prompt, tool string) string {
	q := url.Values{"category": {category}}
	for name, value := range map[string]string{"prompt": prompt, "tool": tool} {
		if value != "" {
			q.Set(name, value)
		}
	}
	return "/api/public/trials?" + q.Encode()
}

// TrialPath is the path of one trial.
func TrialPath(id string) string { return "/api/public/trials/" + url.PathEscape(id) }

// maxExamples is the number of examples of a tool that was picked, and of one that was not.
const maxExamples = 3

// AddExamples gives each tool trials that picked it, and trials that picked a rival: those
// that considered the tool before others. from must be sorted by trial; ids are digests, so
// this order is as good as a random one.
func (b *Board) AddExamples(from []Example) {
	for i := range b.Tools {
		slug := b.Tools[i].Slug
		considered := func(e Example) bool { return slices.Contains(e.Shortlist, slug) }
		picked := examples(from, func(e Example) bool { return e.Picked == slug })
		lost := examples(from, func(e Example) bool { return e.Picked != slug && considered(e) })
		more := examples(from, func(e Example) bool { return e.Picked != slug && !considered(e) })
		b.Tools[i].Breakdown.Examples = append(append(picked, lost...), more[:min(len(more), maxExamples-len(lost))]...)
	}
}

// MostCommonFirst sorts examples by how often the agent picked the same tool on the prompt, the
// most often first: a common answer says more than an exception. b needs its Prompts.
func (b *Board) MostCommonFirst(examples []Example) {
	type key struct{ prompt, agent, picked string }
	picks := map[key]int{}
	for _, p := range b.Prompts {
		for _, a := range p.Agents {
			for _, t := range a.Tools {
				picks[key{p.Name(), a.Agent, t.Slug}] = t.Picks
			}
		}
	}
	times := func(e Example) int { return picks[key{e.Prompt, e.Agent, e.Picked}] }
	sorting.StableFunc(examples, func(x, y Example) int { return times(y) - times(x) })
}

// examples chooses trials: first those of another agent and another prompt than the ones
// before, then those of either, then any.
func examples(from []Example, ok func(Example) bool) []Example {
	var out []Example
	seen := map[string]bool{}
	for repeated := range 3 { // how much of agent and prompt may repeat
		for _, e := range from {
			if len(out) == maxExamples {
				return out
			}
			n := 0
			for _, key := range []string{"agent " + e.Agent, "prompt " + e.Prompt} {
				if seen[key] {
					n++
				}
			}
			if n > repeated || !ok(e) || seen[e.Trial] {
				continue
			}
			seen["agent "+e.Agent], seen["prompt "+e.Prompt], seen[e.Trial] = true, true, true
			out = append(out, e)
		}
	}
	return out
}

// breakDown adds the breakdown of each standing; by holds the rates by agent and tool.
func (b *Board) breakDown(t *tally, order stats.Order, by [][]AgentRate) {
	for i := range b.Tools {
		s := &b.Tools[i]
		tool := t.index[s.Slug]
		s.Breakdown = &Breakdown{ByAgent: []AgentShare{}, ByPrompt: []PromptShare{}, Rivals: []Comparison{}}
		for a, name := range t.agents {
			r := by[a][tool]
			s.Breakdown.ByAgent = append(s.Breakdown.ByAgent, AgentShare{name, r.PickRate, r.CILow, r.CIHigh, r.Picks, t.design.Agent(a).Trials})
		}
		for _, other := range b.Tools {
			if c, ok := compare(order, t.index[other.Slug], tool); ok {
				c.Tool, c.Slug, c.URL = other.Tool, other.Slug, other.URL
				s.Breakdown.Rivals = append(s.Breakdown.Rivals, c)
			}
		}
	}
}

// compare returns the test of a rival against a tool; ok is false where no test was made.
func compare(order stats.Order, rival, tool int) (c Comparison, ok bool) {
	lead, ahead := order.Lead(rival, tool)
	if !ahead {
		if lead, ok = order.Lead(tool, rival); !ok {
			return c, false
		}
	}
	c = Comparison{
		Diff: Round(lead.Diff), CILow: Round(lead.Interval.Low), CIHigh: Round(lead.Interval.High),
		PAdjusted: Round(lead.Adjusted), Significant: lead.Shown, Ahead: ahead,
	}
	if c.Diff == 0 { // the rates are equal with six decimals
		return c, false
	}
	if !ahead {
		c.Diff, c.CILow, c.CIHigh = -c.Diff, 0-c.CIHigh, 0-c.CILow
	}
	return c, true
}

// byPrompt returns a tool's share of each prompt. A board of an older snapshot has none.
func (b Board) byPrompt(slug string) []PromptShare {
	weights := map[string]float64{}
	for _, a := range b.Agents {
		weights[a.Agent] = a.Weight
	}
	out := make([]PromptShare, 0, len(b.Prompts))
	for _, p := range b.Prompts {
		out = append(out, p.share(slug, weights))
	}
	return out
}
