package views

import (
	"math"
	"slices"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/server/kit/render"
)

// A favourite is the tool that an agent picks most.
type favourite struct {
	agent, slug, tool string
	rate, lead        float64 // lead: over the second
}

// leastLead is the least lead, as a share of answers, of a favourite.
const leastLead = .05

// leads reports whether an agent's lead is more than its answers show by chance: more than 1.96
// standard errors of the difference of two shares of the same n answers (multinomial), and at
// least leastLead. It says nothing of other prompts; see clearLead. With n = 0 leastLead alone
// counts.
func leads(first, second analytics.AgentRate, n int) bool {
	lead := first.PickRate - second.PickRate
	least := leastLead - 1e-9
	if n > 0 {
		least = max(least, 1.96*math.Sqrt((first.PickRate+second.PickRate-lead*lead)/float64(n)))
	}
	return first.Picks > 0 && (second.Picks == 0 || lead > least)
}

// nounOf returns what answered on a board: models in studies, which asked for one answer of
// text, else agents.
func nounOf(b *analytics.Board) string {
	if b.Study != "" {
		return "model"
	}
	return "agent"
}

// favourites returns what each agent of a board picks most. Agents without a pick, and those
// whose lead is not sure, are left out: see isAhead.
func favourites(b *analytics.Board) (out []favourite) {
	for _, a := range b.Agents {
		if best, second := firstTwo(a); isAhead(b, best, second, a.NTrials) {
			out = append(out, favourite{a.Agent, best.Slug, nameOf(b, best.Slug), best.PickRate, best.PickRate - second.PickRate})
		}
	}
	return out
}

// isAhead reports whether an agent with n answers picks the first of two tools more often. Where
// the board has intervals they must not overlap, so that it holds for other prompts, too; else
// the lead must be more than chance in these answers.
func isAhead(b *analytics.Board, first, second analytics.AgentRate, n int) bool {
	switch {
	case len(b.Agents) == 1: // a sentence about one agent says its rate, and compares nothing
		return leads(first, second, 0)
	case ranged(b):
		return clearLead(first, second)
	}
	return leads(first, second, n)
}

// ranged reports whether the rates of the agents of a board have intervals to show: not on one
// prompt, and not in boards of older snapshots.
func ranged(b *analytics.Board) bool {
	return !render.Single(*b) && slices.ContainsFunc(b.Agents, func(a analytics.AgentBoard) bool {
		return slices.ContainsFunc(a.Tools, func(t analytics.AgentRate) bool { return t.Interval != nil })
	})
}

// firstTwo returns the tools that an agent picks most.
func firstTwo(a analytics.AgentBoard) (best, second analytics.AgentRate) {
	for _, t := range a.Tools {
		switch {
		case t.PickRate > best.PickRate:
			best, second = t, best
		case t.PickRate > second.PickRate:
			second = t
		}
	}
	return best, second
}

// clearLead reports whether the 95 % intervals of two rates of one agent do not overlap. Two
// rates whose intervals overlap may still differ: the rule errs on the side of caution. It is
// false without intervals, as with one prompt.
func clearLead(first, second analytics.AgentRate) bool {
	if first.Picks == 0 || first.Interval == nil {
		return false
	}
	if second.Picks == 0 {
		return first.CILow > 0
	}
	return second.Interval != nil && first.CILow > second.CIHigh
}

// preference returns how a sentence says what agents pick: they prefer a tool where intervals
// show it, else they pick it most often.
func preference(b *analytics.Board, one bool) (verb, after string) {
	verb, after = "pick", " most often"
	if ranged(b) {
		verb, after = "prefer", ""
	}
	if one {
		verb += "s"
	}
	return verb, after
}

func nameOf(b *analytics.Board, slug string) string {
	if i := slices.IndexFunc(b.Tools, func(s analytics.Standing) bool { return s.Slug == slug }); i >= 0 {
		return b.Tools[i].Tool
	}
	return slug
}
