package views

import (
	"slices"

	"github.com/firstpick/firstpick/analytics"
)

// A favourite is the tool that an agent picks most.
type favourite struct {
	agent, slug, tool string
	rate, lead        float64 // lead: over the second
	clear             bool    // the 95 % intervals of the first and the second do not overlap
}

// leastLead is the least lead, as a share of answers, of a favourite.
const leastLead = .05

// favourites returns what each agent of a board picks most. Agents without a pick, and those
// that pick another tool nearly as often, are left out.
func favourites(b *analytics.Board) (out []favourite) {
	for _, a := range b.Agents {
		best, second := firstTwo(a)
		if lead := best.PickRate - second.PickRate; best.Picks > 0 && (second.Picks == 0 || lead > leastLead-1e-9) {
			out = append(out, favourite{a.Agent, best.Slug, nameOf(b, best.Slug), best.PickRate, lead, clearLead(best, second)})
		}
	}
	return out
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

// preference returns how a sentence says what agents pick: they prefer a tool where the lead
// of each is clear, else they pick it most often.
func preference(list []favourite, one bool) (verb, after string) {
	verb, after = "pick", " most often"
	if !slices.ContainsFunc(list, func(f favourite) bool { return !f.clear }) {
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
