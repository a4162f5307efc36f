package views

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/fixtures/sorting"
	"github.com/firstpick/firstpick/server/kit/chart"
	"github.com/firstpick/firstpick/server/kit/render"
)

// evenSplit is the least share of answers that two tools have together where an agent is said
// to be split between them.
const evenSplit = .6

// undecided says what is known of the agents without a favourite; empty where each has one.
func undecided(b *analytics.Board, all []favourite) string {
	text, n, unpicked := "", 0, 0
	for _, a := range b.Agents {
		best, second := firstTwo(a)
		switch {
		case slices.ContainsFunc(all, func(f favourite) bool { return f.agent == a.Agent }) || a.NTrials == 0:
			continue
		case best.Picks == 0:
			text = tense(b, "picks", "picked") + " no listed tool"
			unpicked++
		case second.Picks > 0 && best.PickRate+second.PickRate >= evenSplit:
			text = tense(b, "is", "was") + " split between " + nameOf(b, best.Slug) + " and " + nameOf(b, second.Slug)
		default:
			text = tense(b, "has", "had") + " no clear favourite"
		}
		text = render.AgentName(a.Agent) + " " + text
		n++
	}
	switch n {
	case 0:
		return ""
	case 1:
		return "; " + text
	}
	if unpicked > 0 {
		text := fmt.Sprintf("; of the %s others, %s %s no listed tool", small(n), small(unpicked), tense(b, "pick"+verbEnding(unpicked), "picked"))
		if left := n - unpicked; left == 1 {
			text += " and one " + tense(b, "has", "had") + " no clear favourite"
		} else if left > 1 {
			text += " and " + small(left) + " " + tense(b, "have", "had") + " no clear favourite"
		}
		return text
	}
	return "; the " + small(n) + " others " + tense(b, "have", "had") + " no clear favourite"
}

// claim says in one sentence what agents pick on a board, from the counts alone. surprise is
// how much of a story it is: agents that differ from most others by a clear lead.
func claim(b *analytics.Board) (text string, surprise float64) {
	all := favourites(b)
	switch {
	case len(b.Tools) == 0 || b.Tools[0].Picks == 0:
		return fmt.Sprintf("No %s picked a tool of this list in %s.", nounOf(b), quantity(b.NTrials, "answer")), -1
	case len(all) == 0:
		return tied(b), 0
	case len(b.Agents) == 1:
		return fmt.Sprintf("%s %s %s in %s.", render.AgentName(all[0].agent), tense(b, "picks", "picked"), all[0].tool, ofAnswers(all[0].rate, b.NTrials, "its ")), 0
	}
	groups := map[string][]favourite{}
	for _, f := range all {
		groups[f.tool] = append(groups[f.tool], f)
	}
	order := make([]string, 0, len(groups))
	for tool := range groups {
		order = append(order, tool)
	}
	sorting.Func(order, func(x, y string) int { return cmp.Or(len(groups[y])-len(groups[x]), cmp.Compare(x, y)) })
	first := order[0]
	switch {
	case len(order) == 1 && len(all) == len(b.Agents):
		who := "Both"
		if len(all) > 2 {
			who = fmt.Sprintf("All %d", len(all))
		}
		if b.Tools[0].PickRate == 1 {
			return fmt.Sprintf("%s %ss %s %s in every answer.", who, nounOf(b), tense(b, "pick", "picked"), first), 0
		}
		return fmt.Sprintf("%s %ss %s %s most often, in %s of answers.", who, nounOf(b), tense(b, "pick", "picked"), first, chart.Fixed(b.Tools[0].PickRate)), 0
	case len(order) == 2 && len(groups[order[1]]) <= 2 && len(groups[first]) > len(groups[order[1]]):
		few := groups[order[1]]
		if len(few) == 1 {
			surprise = few[0].lead
		}
		verb, after := preference(b, len(few) == 1)
		others, _ := preference(b, false)
		return fmt.Sprintf("%s %s %s%s; %s other %ss %s %s%s.", agentList(few), verb, order[1], after, small(len(groups[first])), nounOf(b), others, first, undecided(b, all)), surprise + 1
	case len(order) == 1 && len(all) <= 2 && 2*len(all) <= len(b.Agents):
		verb, after := preference(b, len(all) == 1)
		return fmt.Sprintf("%s %s %s%s%s.", agentList(all), verb, first, after, undecided(b, all)), .6
	case len(order) == 1:
		verb, after := preference(b, false)
		return fmt.Sprintf("%d of %d %ss %s %s%s%s.", len(all), len(b.Agents), nounOf(b), verb, first, after, undecided(b, all)), .7
	}
	return fmt.Sprintf("%ss %s: %s.", render.Capital(nounOf(b)), tense(b, "disagree", "disagreed"), joined(b, order, groups, all)), .5
}

// shortClaim is claim without the agents that have no favourite, for a page that shows each agent.
func shortClaim(b *analytics.Board) string {
	text, _ := claim(b)
	if short, ok := strings.CutSuffix(text, undecided(b, favourites(b))+"."); ok {
		return short + "."
	}
	return text
}

// noLead begins a claim of a board whose first tool is not ahead significantly.
const noLead = "No tool leads clearly"

// tied names the tools that share the first place, where no agent has a favourite.
func tied(b *analytics.Board) string {
	var names []string
	for _, s := range b.Tools {
		if s.PickRate == b.Tools[0].PickRate {
			names = append(names, s.Tool)
		}
	}
	who, whose := subject(b)
	rate := ofAnswers(b.Tools[0].PickRate, b.NTrials, whose)
	switch n := len(names); {
	case n == 1 && len(b.Agents) == 1:
		return strings.TrimPrefix(undecided(b, nil), "; ") + "."
	case n == 1 && len(b.Tools) > 1 && unproven(b.Tools[1], b.Tools[0].Slug):
		return fmt.Sprintf(noLead+": %ss %s %s in %s and %s in %s.", nounOf(b), tense(b, "pick", "picked"), names[0], rate, b.Tools[1].Tool, chart.Fixed(b.Tools[1].PickRate))
	case n == 1:
		return fmt.Sprintf("%s %s in %s, but no %s %s a clear favourite.", who, names[0], rate, nounOf(b), tense(b, "has", "had"))
	case n == 2:
		return fmt.Sprintf("%s %s equally often, each in %s.", who, and(names), rate)
	default:
		return fmt.Sprintf("%s %d tools equally often, each in %s.", who, n, rate)
	}
}

// ofAnswers is a rate of n answers in a sentence. whose is "its " for those of one agent.
func ofAnswers(rate float64, n int, whose string) string {
	if n == 1 && rate == 1 {
		return cmp.Or(whose, "the ") + "only answer"
	}
	return chart.Fixed(rate) + " of " + whose + "answers"
}

// joined lists the favourites with the number of agents, at most three.
func joined(b *analytics.Board, order []string, groups map[string][]favourite, all []favourite) string {
	agents := len(b.Agents)
	order = order[:min(3, len(order))]
	named := 0
	for _, tool := range order {
		named += len(groups[tool])
	}
	var parts []string
	for i, tool := range order {
		count := small(len(groups[tool]))
		if i > 0 {
			parts = append(parts, count+" "+tool)
			continue
		}
		verb, after := preference(b, len(groups[tool]) == 1)
		if named < agents { // the others prefer none of them
			count += " of " + small(agents)
		}
		parts = append(parts, count+" "+verb+" "+tool+after)
	}
	text := and(parts)
	if named < len(all) {
		return text
	}
	return text + undecided(b, all)
}

func agentList(list []favourite) string {
	var names []string
	for _, f := range list {
		names = append(names, render.AgentName(f.agent))
	}
	return and(names)
}

// and joins names with commas and "and".
func and(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

// small writes a small number as a word.
func small(n int) string {
	if words := strings.Fields("no one two three four five six seven eight nine ten"); n >= 0 && n < len(words) {
		return words[n]
	}
	return chart.Whole(int64(n))
}

// quantity is a number with its noun: 1 answer, 2,000 answers.
func quantity(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return chart.Whole(int64(n)) + " " + noun
}
