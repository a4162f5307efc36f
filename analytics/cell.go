package analytics

import (
	"cmp"
	"slices"
	"time"

	"github.com/firstpick/firstpick/runner/pick"
)

// A Group counts valid trials of one category that are alike in everything that the
// statistics look at.
type Group struct {
	Prompt, Agent, Template string
	Outcome                 pick.Kind
	// Picked is the slug of the tool where Outcome is pick.Tool.
	Picked string
	// Shortlist holds sorted slugs.
	Shortlist []string
	// Trials is how many there are.
	Trials int
	// Mismatched is how many of them said one tool and used another.
	Mismatched int
	// Unresolved is how many of them no rule decided. UnresolvedUnknown is how many do not
	// report it: imports, and results of extractors before that field.
	Unresolved, UnresolvedUnknown int
	// FirstNamed is the slug of the tool that the final messages name first; empty for
	// none. FirstUnknown is how many do not report it: also listings without a message.
	FirstNamed   string
	FirstUnknown int
	// Judged is how many of them two judges read, Agreed on how many these agreed.
	Judged, Agreed int
	// DecidedBy counts them by layer. Where it does not sum to Trials, layers are unknown.
	DecidedBy DecidedBy
	// LastAt is when the latest of them finished.
	LastAt time.Time
}

// A Cell counts the valid trials of one prompt, agent and template. Boards are computed
// from the cells of a category.
type Cell struct {
	Prompt   string   `json:"prompt"`
	Agent    string   `json:"agent"`
	Template string   `json:"template,omitempty"`
	Trials   int      `json:"trials"`
	Outcomes Outcomes `json:"outcomes"`
	// Tools holds those that a trial picked, weighed or named first, by slug.
	Tools []ToolCount `json:"tools,omitempty"`
	// The other counts are sums of those of Group. Resolved counts what judges resolved.
	Mismatched        int       `json:"mismatched,omitempty"`
	Unresolved        int       `json:"unresolved,omitempty"`
	UnresolvedUnknown int       `json:"unresolvedUnknown,omitempty"`
	FirstUnknown      int       `json:"firstUnknown,omitempty"`
	Judged            int       `json:"judged,omitempty"`
	Agreed            int       `json:"agreed,omitempty"`
	Resolved          int       `json:"resolved,omitempty"`
	DecidedBy         DecidedBy `json:"decidedBy,omitzero"`
	LastAt            time.Time `json:"lastAt,omitzero"`
}

// A ToolCount counts what the trials of a cell say of one tool.
type ToolCount struct {
	Slug string `json:"slug"`
	// Picks <= Shortlists; Defaults <= Picks.
	Picks      int `json:"picks,omitempty"`
	Shortlists int `json:"shortlists,omitempty"`
	Defaults   int `json:"defaults,omitempty"`
	FirstNamed int `json:"firstNamed,omitempty"`
}

// Cells sums groups into cells, sorted by prompt, agent and template. A group without
// trials is left out: it must not make a cluster of a prompt without an answer.
func Cells(groups []Group) []Cell {
	type key struct{ prompt, agent, template string }
	place := map[key]int{}
	var out []Cell
	for _, g := range groups {
		if g.Trials <= 0 {
			continue
		}
		k := key{g.Prompt, g.Agent, g.Template}
		i, known := place[k]
		if !known {
			i = len(out)
			place[k] = i
			out = append(out, Cell{Prompt: g.Prompt, Agent: g.Agent, Template: g.Template})
		}
		out[i].add(g)
	}
	for i := range out {
		out[i].sortTools()
	}
	slices.SortFunc(out, compareCells)
	return out
}

func (c *Cell) sortTools() {
	slices.SortFunc(c.Tools, func(a, b ToolCount) int { return cmp.Compare(a.Slug, b.Slug) })
}

func compareCells(a, b Cell) int {
	return cmp.Or(cmp.Compare(a.Prompt, b.Prompt), cmp.Compare(a.Agent, b.Agent), cmp.Compare(a.Template, b.Template))
}

func (c *Cell) add(g Group) {
	c.sumWith(&Cell{
		Trials: g.Trials, Mismatched: g.Mismatched, Unresolved: g.Unresolved, UnresolvedUnknown: g.UnresolvedUnknown,
		FirstUnknown: g.FirstUnknown, Judged: g.Judged, Agreed: g.Agreed, Resolved: min(g.Agreed, g.DecidedBy.Judge),
		DecidedBy: g.DecidedBy, LastAt: g.LastAt,
	})
	c.Outcomes.count(g.Outcome, g.Trials)
	if g.FirstNamed != "" {
		c.tool(g.FirstNamed).FirstNamed += g.Trials
	}
	c.consider(g)
}

// sumWith adds all counts of another cell but Tools.
func (c *Cell) sumWith(o *Cell) {
	c.Trials += o.Trials
	c.Outcomes.sumWith(o.Outcomes)
	c.Mismatched += o.Mismatched
	c.Unresolved += o.Unresolved
	c.UnresolvedUnknown += o.UnresolvedUnknown
	c.FirstUnknown += o.FirstUnknown
	c.Judged += o.Judged
	c.Agreed += o.Agreed
	c.Resolved += o.Resolved
	c.DecidedBy.sumWith(o.DecidedBy)
	if o.LastAt.After(c.LastAt) {
		c.LastAt = o.LastAt
	}
}

// consider counts picks and the tools that a group's trials weighed. A pick is on its own
// shortlist whether the list names it or not, and a slug counts once however often the
// list has it; only so are default, pick and shortlist rates nested.
func (c *Cell) consider(g Group) {
	picked := g.Outcome == pick.Tool && g.Picked != ""
	rival := false
	for i, slug := range g.Shortlist {
		if picked && slug == g.Picked || slices.Contains(g.Shortlist[:i], slug) {
			continue
		}
		rival = true
		if slug != "" {
			c.tool(slug).Shortlists += g.Trials
		}
	}
	if picked {
		t := c.tool(g.Picked)
		t.Picks += g.Trials
		t.Shortlists += g.Trials
		if !rival {
			t.Defaults += g.Trials
		}
	}
}

func (c *Cell) tool(slug string) *ToolCount {
	i := slices.IndexFunc(c.Tools, func(t ToolCount) bool { return t.Slug == slug })
	if i < 0 {
		i = len(c.Tools)
		c.Tools = append(c.Tools, ToolCount{Slug: slug})
	}
	return &c.Tools[i]
}

// Picks is the number of trials of the cell that picked a tool.
func (c *Cell) Picks(slug string) int {
	for _, t := range c.Tools {
		if t.Slug == slug {
			return t.Picks
		}
	}
	return 0
}

func (o *Outcomes) count(kind pick.Kind, n int) {
	switch kind {
	case pick.Tool:
		o.Tool += n
	case pick.DIY:
		o.DIY += n
	case pick.Other:
		o.Other += n
	case pick.Ambiguous:
		o.Ambiguous += n
	case pick.Refused:
		o.Refused += n
	case pick.Truncated:
		o.Truncated += n
	case pick.None:
		o.None += n
	}
}

func (o *Outcomes) sumWith(p Outcomes) {
	o.Tool += p.Tool
	o.DIY += p.DIY
	o.Other += p.Other
	o.None += p.None
	o.Ambiguous += p.Ambiguous
	o.Refused += p.Refused
	o.Truncated += p.Truncated
}

func (d *DecidedBy) sumWith(e DecidedBy) {
	d.Structured += e.Structured
	d.Actions += e.Actions
	d.Statement += e.Statement
	d.Judge += e.Judge
	d.Given += e.Given
	d.Undecided += e.Undecided
}
