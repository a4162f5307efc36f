package views

import (
	"math"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/analytics/stats"
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

// tense returns a verb for a board: published studies asked once, in the past.
func tense(b *analytics.Board, now, then string) string {
	if b.Study != "" {
		return then
	}
	return now
}

// inTermsOf returns a fixed text about agents in the term for those of a board.
func inTermsOf(b *analytics.Board, text string) string {
	if b.Study == "" {
		return text
	}
	return strings.ReplaceAll(text, "agent", nounOf(b))
}

// estimand says what the rates of a board are of. Its end may be in the words of the eval, of which one prompt
// is no sample.
func estimand(b *analytics.Board) string {
	text, frame, known := strings.Cut(b.Estimand, "; prompts as if drawn from ")
	switch {
	case known && render.Single(*b):
		text += ". All answers are to one prompt: the figures are of repeated answers to it alone, and other prompts may differ."
	case known:
		text += ". The prompts stand for " + frame
	}
	if b.Study == "" {
		return text
	}
	return strings.Replace(text, " agents", " "+nounOf(b)+"s", 1)
}

// favourites returns what each agent of a board picks most. Agents without a pick, and those
// whose lead is not sure, are left out: see isAhead.
func favourites(b *analytics.Board) (out []favourite) {
	for _, a := range b.Agents {
		if best, second := firstTwo(a); isAhead(b, a, best, second) {
			out = append(out, favourite{a.Agent, best.Slug, nameOf(b, best.Slug), best.PickRate, best.PickRate - second.PickRate})
		}
	}
	return out
}

// isAhead reports whether an agent picks the first of two tools more often. Where the board has
// intervals the lead must be clear for other prompts, too; else it must be more than chance in
// these answers.
func isAhead(b *analytics.Board, a analytics.AgentBoard, first, second analytics.AgentRate) bool {
	switch {
	case len(b.Agents) == 1: // a sentence about one agent says its rate, and compares nothing
		return leads(first, second, 0)
	case ranged(b):
		return clearLead(b, first, second, a.NFamilies)
	}
	return leads(first, second, a.NTrials)
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
	return best, bounded(second, a.NFamilies)
}

// bounded gives a rate without a pick, which boards leave out, the widest interval that it can
// have in so many families of prompts: as if each were one answer.
func bounded(t analytics.AgentRate, families int) analytics.AgentRate {
	if t.Picks == 0 && t.Interval == nil && families > 0 {
		t.Interval = &analytics.Interval{CIHigh: stats.Wilson(0, float64(families)).High}
	}
	return t
}

// clearLead reports whether the lead of one of two rates of the same answers is clear for other
// prompts: more than Student's t times its standard error, at 95 % by Bonferroni for the comparisons
// of the leader with each other picked tool. These are enough to call it first: it is called so wrongly
// only if it is shown ahead of the one that is (Hsu 1996, multiple comparisons with the best). The error
// is that of a difference of two shares of a multinomial, from their intervals. It is false without
// intervals, as with one prompt.
func clearLead(b *analytics.Board, first, second analytics.AgentRate, families int) bool {
	if first.Picks == 0 || first.Interval == nil || second.Interval == nil || families < 2 {
		return false
	}
	const tail = .025
	rivals, df := float64(render.CountPicked(b)-1), float64(families-1)
	half := func(t analytics.AgentRate) float64 { return (t.CIHigh - t.CILow) / 2 }
	p, q := first.PickRate, second.PickRate
	squares := half(first)*half(first) + half(second)*half(second)
	if p > 0 && p < 1 { // the two are not picked in the same answer
		squares += 2 * p * q * half(first) * half(first) / (p * (1 - p))
	}
	return p-q > math.Sqrt(squares)*stats.TQuantile(1-tail/max(rivals, 1), df)/stats.TQuantile(1-tail, df)
}

// preference returns how a sentence says what agents pick: they prefer a tool where intervals
// show it, else they pick it most often.
func preference(b *analytics.Board, one bool) (verb, after string) {
	s := ""
	if one {
		s = "s"
	}
	if ranged(b) {
		return tense(b, "prefer"+s, "preferred"), ""
	}
	return tense(b, "pick"+s, "picked"), " most often"
}

func nameOf(b *analytics.Board, slug string) string {
	if i := slices.IndexFunc(b.Tools, func(s analytics.Standing) bool { return s.Slug == slug }); i >= 0 {
		return b.Tools[i].Tool
	}
	return slug
}
