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

// A favourite is the tool that an agent picks most.
type favourite struct {
	agent, slug, tool string
	rate, lead        float64 // lead: over the second
}

// favourites returns what each agent of a board picks most. Agents without a pick, and those
// with a tie, are left out.
func favourites(b *analytics.Board) (out []favourite) {
	for _, a := range b.Agents {
		best, second := analytics.AgentRate{}, 0.0
		for _, t := range a.Tools {
			if t.PickRate > best.PickRate {
				best, second = t, best.PickRate
			} else {
				second = max(second, t.PickRate)
			}
		}
		if best.PickRate > second {
			out = append(out, favourite{a.Agent, best.Slug, nameOf(b, best.Slug), best.PickRate, best.PickRate - second})
		}
	}
	return out
}

func nameOf(b *analytics.Board, slug string) string {
	if i := slices.IndexFunc(b.Tools, func(s analytics.Standing) bool { return s.Slug == slug }); i >= 0 {
		return b.Tools[i].Tool
	}
	return slug
}

// claim says in one sentence what agents pick on a board, from the counts alone. surprise is
// how much of a story it is: agents that differ from most others by a clear lead.
func claim(b *analytics.Board) (text string, surprise float64) {
	all := favourites(b)
	if len(b.Tools) == 0 || b.Tools[0].Picks == 0 || len(all) == 0 {
		return fmt.Sprintf("No agent picked a tool of this list in %s.", quantity(b.NTrials, "answer")), 0
	}
	if len(b.Agents) == 1 {
		return fmt.Sprintf("%s picks %s in %s of its answers.", render.AgentName(all[0].agent), all[0].tool, chart.Percent(all[0].rate)), 0
	}
	groups := map[string][]favourite{}
	for _, f := range all {
		groups[f.tool] = append(groups[f.tool], f)
	}
	order := make([]string, 0, len(groups))
	for tool := range groups {
		order = append(order, tool)
	}
	slices.SortFunc(order, func(x, y string) int { return cmp.Or(len(groups[y])-len(groups[x]), cmp.Compare(x, y)) })
	first := order[0]
	switch {
	case len(order) == 1 && len(all) == len(b.Agents):
		return fmt.Sprintf("All %d agents pick %s most often, in %s of answers.", len(all), first, chart.Percent(b.Tools[0].PickRate)), 0
	case len(order) == 2 && len(groups[order[1]]) <= 2 && len(groups[first]) > len(groups[order[1]]):
		few := groups[order[1]]
		verb := "prefer"
		if len(few) == 1 {
			verb = "prefers"
			surprise = few[0].lead
		}
		return fmt.Sprintf("%s %s %s; %s.", agentList(few), verb, order[1], othersPrefer(len(groups[first]), first)), surprise + 1
	case len(order) == 1:
		return fmt.Sprintf("%d of %d agents pick %s most often.", len(all), len(b.Agents), first), 0
	}
	return fmt.Sprintf("Agents disagree: %s.", joined(order, groups)), .5
}

// joined lists the favourites with the number of agents, at most three.
func joined(order []string, groups map[string][]favourite) string {
	var parts []string
	for _, tool := range order[:min(3, len(order))] {
		n := len(groups[tool])
		verb := "prefer"
		if n == 1 {
			verb = "prefers"
		}
		parts = append(parts, fmt.Sprintf("%s %s %s", small(n), verb, tool))
	}
	return and(parts)
}

func othersPrefer(n int, tool string) string {
	if n == 1 {
		return "the other agent prefers " + tool
	}
	return fmt.Sprintf("%s other agents prefer %s", small(n), tool)
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
