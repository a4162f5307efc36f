package views

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/server/kit/chart"
	"github.com/firstpick/firstpick/server/kit/render"
)

// wideSpread is the least difference between two agents that a sentence reports.
const wideSpread = .15

// spread says how far agents differ about a tool; empty where they do not.
func spread(b *analytics.Board, s analytics.Standing) string {
	if len(b.Agents) < 2 {
		return ""
	}
	most, least, high, low := extremes(b, s.Slug)
	if high-low < wideSpread || !apart(b, s.Slug, most[0], least[0]) {
		return ""
	}
	first, one := groupName(most, nounOf(b))
	verb := "pick"
	if one {
		verb = "picks"
	}
	second, _ := groupName(least, nounOf(b))
	return fmt.Sprintf("%s %s it in %s, %s in %s", render.Capital(first), verb, chart.Fixed(high), second, chart.Fixed(low))
}

// apart reports whether two agents differ about a tool by more than chance explains: their intervals do
// not overlap. Where they have none, the difference is wide.
func apart(b *analytics.Board, slug string, most, least analytics.AgentBoard) bool {
	x, y := agentRate(most.Tools, slug), bounded(agentRate(least.Tools, slug), least.NFamilies)
	if render.Single(*b) || x.Interval == nil || y.Interval == nil {
		return x.PickRate-y.PickRate >= wideSpread
	}
	return x.CILow > y.CIHigh
}

// strip lists the figures that matter most of a tool that was picked.
func (d *toolPlace) strip(b *analytics.Board, s analytics.Standing, change *move) {
	if s.Picks == 0 {
		return
	}
	rate := render.Fact{Name: "Pick rate", Value: chart.Fixed(s.PickRate)}
	if !d.Single {
		if ci := render.Interval(s.CILow, s.CIHigh); ci != "" {
			rate.Note = "95% CI " + ci
		}
	}
	d.Strip = []render.Fact{rate, rankFact(b, s)}
	if change != nil {
		f := render.Fact{Name: "Since " + cmp.Or(change.Since, "the snapshot before"), Value: change.Diff + " points", Note: "95% CI " + change.Interval + ", not significant"}
		if change.Significant {
			f.Note = "95% CI " + change.Interval + ", significant"
		}
		d.Strip = append(d.Strip, f)
	}
	if most, least, high, low := extremes(b, s.Slug); high > low && apart(b, s.Slug, most[0], least[0]) {
		first, last := fewNames(most, nounOf(b)), fewNames(least, nounOf(b))
		d.Strip = append(d.Strip, render.Fact{Name: "Most with " + first, Value: chart.Fixed(high)}, render.Fact{Name: "Least with " + last, Value: chart.Fixed(low)})
	}
}

// rankFact is the rank of a picked tool with those that are possible, among the picked tools where that
// is known. One prompt has no range.
func rankFact(b *analytics.Board, s analytics.Standing) render.Fact {
	f := render.Fact{Name: "Rank", Value: fmt.Sprint(s.Rank), Note: "of " + quantity(b.Field, "tool")}
	low, high, ok := render.PickedRange(b, s)
	if n := render.CountPicked(b); n < b.Field && (ok || render.Single(*b)) {
		f.Note = "of " + quantity(n, "picked tool")
	}
	if render.Single(*b) {
		f.Note += ", for one prompt"
		return f
	}
	if low == high {
		f.Note += "; no other rank is possible among them (95%)"
		return f
	}
	f.Value += " (" + render.RankRange(b, s) + ")"
	if high == low+1 {
		f.Note += fmt.Sprintf("; rank %d or %d is possible (95%%)", low, high)
		return f
	}
	f.Note += fmt.Sprintf("; among them any rank from %d to %d is possible (95%%)", low, high)
	return f
}

// More returns the facts of the strip that the measures at the top of the page do not have.
func (d *toolPlace) More() []render.Fact { return d.Strip[min(2, len(d.Strip)):] }

// subject begins a sentence about what agents pick on a board, and is the word before
// "answers" in it.
func subject(b *analytics.Board) (who, whose string) {
	if len(b.Agents) == 1 {
		return render.AgentName(b.Agents[0].Agent) + " " + tense(b, "picks", "picked"), "its "
	}
	return render.Capital(nounOf(b)) + "s " + tense(b, "pick", "picked"), ""
}

// tested reports whether the difference of a tool from a rival is significant; ok is false where
// it was not tested.
func tested(s analytics.Standing, rival string) (significant, ok bool) {
	if s.Breakdown != nil {
		if i := slices.IndexFunc(s.Breakdown.Rivals, func(c analytics.Comparison) bool { return c.Slug == rival }); i >= 0 {
			return s.Breakdown.Rivals[i].Significant, true
		}
	}
	if i := slices.IndexFunc(s.BeatenBy, func(c analytics.Rival) bool { return c.Slug == rival }); i >= 0 {
		return s.BeatenBy[i].Significant, true
	}
	return false, false
}

// unproven reports whether the difference of a tool from a rival was tested and is not
// significant.
func unproven(s analytics.Standing, rival string) bool {
	significant, ok := tested(s, rival)
	return ok && !significant
}

// placed says which rank a picked tool has among the picked tools.
func placed(b *analytics.Board, s analytics.Standing) string {
	n, ahead, ties := render.CountPicked(b), 0, -1
	for _, o := range b.Tools {
		switch {
		case o.PickRate > s.PickRate:
			ahead++
		case o.PickRate == s.PickRate:
			ties++
		}
	}
	switch {
	case n == 1:
		return s.Tool + " is the only picked tool"
	case ties > 0:
		return fmt.Sprintf("%s shares rank %d of %s", s.Tool, ahead+1, quantity(n, "picked tool"))
	}
	return fmt.Sprintf("%s is %s of %s", s.Tool, ordinal(ahead+1), quantity(n, "picked tool"))
}

// ordinal is a place as a word, from first on.
func ordinal(place int) string {
	if words := strings.Fields("first second third fourth fifth sixth seventh eighth ninth tenth"); place <= len(words) {
		return words[place-1]
	}
	return fmt.Sprintf("number %d", place)
}

// sentence says which rank a tool has and how often agents pick it, who leads where it does not, and
// which agent is the exception.
func sentence(b *analytics.Board, s analytics.Standing) string {
	if s.Picks == 0 {
		text := fmt.Sprintf("No %s picked %s in %s", nounOf(b), s.Tool, quantity(s.NTrials, "answer"))
		if render.Single(*b) && s.NTrials > 1 {
			text += " to one prompt"
		}
		if s.ShortlistRate > 0 {
			return fmt.Sprintf("%s; %s named it as an option.", text, chart.Fixed(s.ShortlistRate))
		}
		return text + "."
	}
	who, whose := subject(b)
	text := fmt.Sprintf("%s: %s it in %s", placed(b, s), inSentence(who), ofAnswers(s.PickRate, b.NTrials, whose))
	if render.Single(*b) && b.NTrials > 1 {
		text = "On one prompt, " + text
	}
	leads := s.PickRate == b.Tools[0].PickRate
	if !leads {
		if first := b.Tools[0]; render.Single(*b) || !unproven(s, first.Slug) {
			text += fmt.Sprintf("; %s is first with %s", first.Tool, chart.Fixed(first.PickRate))
		} else {
			text += fmt.Sprintf("; %s is ahead with %s, not significantly", first.Tool, chart.Fixed(first.PickRate))
		}
	}
	if leads && len(b.Tools) > 1 {
		if next := b.Tools[1]; next.Picks > 0 && next.PickRate < s.PickRate && !render.Single(*b) && unproven(next, s.Slug) {
			text += fmt.Sprintf("; its lead over %s, with %s, is not significant", next.Tool, chart.Fixed(next.PickRate))
		}
	}
	var even, with, against []string
	for _, o := range b.Tools {
		if leads && o.Slug != s.Slug && o.PickRate == s.PickRate {
			even = append(even, o.Tool)
		}
	}
	if len(even) > 2 {
		even = []string{quantity(len(even), "other tool")}
	}
	if len(even) > 0 {
		text += ", as often as " + and(even)
	}
	for _, f := range favourites(b) {
		if f.slug == s.Slug {
			with = append(with, render.AgentName(f.agent))
		} else {
			verb, after := preference(b, true)
			against = append(against, render.AgentName(f.agent)+" "+verb+" "+f.tool+after)
		}
	}
	switch {
	case leads && len(against) > 0 && len(against) <= 2:
		text += "; " + and(against)
	case len(with) == 0 && spread(b, s) != "":
		text += ". " + spread(b, s)
	case !leads && len(with) > 0 && len(with) <= 3:
		text += ". It is first with " + and(with)
	}
	return text + "."
}
