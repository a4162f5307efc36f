// Package stopping decides during a run whether its question is answered.
//
// A run with a rule asks one prompt family after the other, in an order drawn before the
// first answer. Each family gives one observation per tool: its mean over the agents. The
// families count as drawn from the frame of the eval, so they are the independent units;
// repeats and phrasings are not. Every claim is made by an e-process (see stats.Ahead), so
// looking after every family and stopping for any reason is allowed: the chance that a
// wrong verdict is ever reached is at most Error.
package stopping

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/analytics/gate"
	"github.com/firstpick/firstpick/fixtures/nearest"
)

// Error is the chance of a wrong verdict, over all looks at one run.
const Error = 0.05

// Decided is the rule that is reached when one tool is shown to be ahead of all others.
const Decided = "decided"

// A Rule is a question to a run. These are the forms:
//
//	decided                   which tool is ahead of all others?
//	rank(stripe) <= 2         also <, >= and >; fewer than 2 tools are ahead of stripe
//	pickRate(stripe) >= 25%   also <=, < and >; as a share, 0.25, or in percent
type Rule struct {
	text string
	// tool is the place of the tool in the list; -1 for Decided.
	tool int
	// rank is the rank that the tool has at most; 0 for another rule.
	rank int
	// rate is the pick rate that the tool is above; 0 for another rule.
	rate float64
	// against says that the rule is met where rank or rate do not hold.
	against bool
	tools   []string
}

// Parse reads a rule about the tools of a category, given by their slugs.
func Parse(text string, tools []string) (Rule, error) {
	r := Rule{text: strings.TrimSpace(text), tool: -1, tools: tools}
	if len(tools) < 2 {
		return r, fmt.Errorf("rule %q: there is one tool only", r.text)
	}
	if r.text == Decided {
		return r, nil
	}
	g, err := gate.Parse(r.text)
	if err != nil {
		return r, fmt.Errorf(`%w; or write %q`, err, Decided)
	}
	if g.Metric != gate.Rank && g.Metric != gate.PickRate || g.Bound != "" || g.Category != "" {
		return r, fmt.Errorf(`rule %q: a run stops for %q, rank(TOOL) OP NUMBER or pickRate(TOOL) OP NUMBER`, r.text, Decided)
	}
	if r.tool = slices.Index(tools, g.Tool); r.tool < 0 {
		names := map[string]string{}
		for _, t := range tools {
			names[t] = t
		}
		hint := ""
		if near := nearest.Names(g.Tool, names, 3); len(near) > 0 {
			hint = "; " + nearest.DidYouMean(near)
		}
		return r, fmt.Errorf("rule %q: no tool %q in the category%s", r.text, g.Tool, hint)
	}
	if g.Metric == gate.PickRate {
		r.rate, r.against = g.Limit, g.Op == "<=" || g.Op == "<"
		if !(r.rate > 0 && r.rate < 1) {
			return r, fmt.Errorf("rule %q: the limit must be between 0 and 1", r.text)
		}
		return r, nil
	}
	if g.Limit != math.Trunc(g.Limit) {
		return r, fmt.Errorf("rule %q: a rank is a whole number", r.text)
	}
	r.rank, r.against = int(g.Limit), g.Op == ">=" || g.Op == ">"
	if g.Op == "<" || g.Op == ">=" {
		r.rank--
	}
	if r.rank < 1 || r.rank >= len(tools) {
		return r, fmt.Errorf("rule %q: true or false of every run; there are %d tools", r.text, len(tools))
	}
	return r, nil
}

// String returns the rule as it was written.
func (r Rule) String() string { return r.text }
