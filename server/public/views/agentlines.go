package views

import (
	"cmp"
	"fmt"
	"html/template"
	"maps"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/fixtures/sorting"
	"github.com/firstpick/firstpick/server/kit/chart"
	"github.com/firstpick/firstpick/server/kit/render"
)

// An agentLine is a tool with one agent, and the rival that the agent picks most.
type agentLine struct {
	Name, Title, Link, Rate, Interval, N string
	Rival, RivalRate, Trials             string
	Same                                 []render.Link // the agents of a joined line
	rate, low, high                      float64
	Plot                                 template.HTML
}

// minAlike is how many lines that are alike are joined.
const minAlike = 3

// agentLines lists the agents, those with the lowest rate first.
func (r *Renderer) agentLines(b *analytics.Board, s analytics.Standing) (out []agentLine) {
	for _, a := range b.Agents {
		line := agentLine{Name: render.AgentName(a.Agent), Title: a.Agent, Link: agentPath(agentSlug(a.Agent)), Rate: chart.Fixed(0), N: chart.Whole(int64(a.NTrials))}
		for _, t := range a.Tools {
			if t.Slug != s.Slug {
				continue
			}
			line.rate, line.Rate = t.PickRate, chart.Fixed(t.PickRate)
			if t.Interval != nil {
				line.Interval, line.low, line.high = render.Interval(t.CILow, t.CIHigh), t.CILow, t.CIHigh
			}
		}
		rivals := strongestOf(a.Tools, s.Slug, agentRates)
		switch {
		case rivals.most > 0:
			line.Rival, line.RivalRate = rivals.names(b), rivals.each(chart.Fixed(rivals.most))
		case line.rate == 0 && a.NTrials > 0:
			line.Rival, line.RivalRate = noTool, fmt.Sprintf("in %s of %s", line.N, line.N)
		}
		if r.in.Trials {
			line.Trials = TrialsPath(b.Category, "agent", a.Agent)
			if line.rate > 0 {
				line.Trials = TrialsPath(b.Category, "agent", a.Agent, "tool", s.Slug)
			}
		}
		out = append(out, line)
	}
	sorting.StableFunc(out, func(a, b agentLine) int { return cmp.Compare(a.rate, b.rate) })
	return out
}

// noTool is the rival of an agent that picked none.
const noTool = "no tool"

// joinLines joins the lines of three and more agents with the same rate and interval. Those of
// agents that picked no tool at all come before others with the same rate.
func joinLines(lines []agentLine, noun string) (out []agentLine) {
	picky := func(l agentLine) int {
		if l.Rival == noTool {
			return 0
		}
		return 1
	}
	sorting.StableFunc(lines, func(a, b agentLine) int { return cmp.Or(cmp.Compare(a.rate, b.rate), picky(a)-picky(b)) })
	for i := 0; i < len(lines); {
		end := i + 1
		for end < len(lines) && lines[end].Rate == lines[i].Rate && lines[end].Interval == lines[i].Interval && picky(lines[end]) == picky(lines[i]) {
			end++
		}
		group := lines[i:end]
		i = end
		if len(group) < minAlike {
			out = append(out, group...)
			continue
		}
		joined := group[0]
		joined.Name, joined.Title, joined.Link, joined.Trials = alikeName(len(group), len(lines), noun), "", "", ""
		var rivals []string
		for _, g := range group {
			rivals = append(rivals, g.Rival)
			joined.Same = append(joined.Same, render.Link{Path: g.Link, Text: g.Name})
			if g.N != joined.N {
				joined.N = "–"
			}
			if g.Rival != joined.Rival || g.RivalRate != joined.RivalRate {
				joined.RivalRate = ""
			}
		}
		joined.Rival = nameCounts(rivals)
		out = append(out, joined)
	}
	return out
}

// nameCounts lists names with how often each is in a list, the most frequent first: TensorFlow (3), Keras (1).
// It is the name alone where there is one.
func nameCounts(names []string) string {
	times := map[string]int{}
	for _, name := range names {
		if name != "" {
			times[name]++
		}
	}
	order := slices.Collect(maps.Keys(times))
	sorting.Func(order, func(a, b string) int { return cmp.Or(times[b]-times[a], cmp.Compare(a, b)) })
	if len(order) < 2 {
		return strings.Join(order, "")
	}
	for i, name := range order {
		order[i] = fmt.Sprintf("%s (%d)", name, times[name])
	}
	return strings.Join(order, ", ")
}

// alikeName names n agents of all whose lines are alike.
func alikeName(n, all int, noun string) string {
	if n == all {
		return fmt.Sprintf("All %s, each", quantity(n, noun))
	}
	return quantity(n, noun) + ", each"
}

// plotAgents draws the rates by agent on one axis.
func (d *toolPlace) plotAgents() {
	most := 0.0
	for _, a := range d.Agents {
		most = max(most, a.rate, a.high)
	}
	axis := chart.NewAxis(most)
	d.Ruler = axis.Ruler()
	for i := range d.Agents {
		a := &d.Agents[i]
		m := chart.Mark{Rate: a.rate, Low: a.low, High: a.high, Interval: a.Interval != "" && !d.Single, Text: a.Rate}
		if m.Interval {
			m.Text += ", 95% CI " + a.Interval
		}
		a.Plot = axis.Forest(m)
	}
}

// nobody says that no agent picked the tool; empty where one did.
func (d *toolPlace) nobody(b *analytics.Board, s analytics.Standing) string {
	if s.Picks > 0 || len(b.Agents) == 0 {
		return ""
	}
	if len(b.Agents) == 1 {
		return fmt.Sprintf("%s was asked, and did not pick it: 0 of %s.", render.AgentName(b.Agents[0].Agent), quantity(s.NTrials, "answer"))
	}
	return fmt.Sprintf("None of %s picked it in %s.", quantity(len(b.Agents), nounOf(b)), quantity(s.NTrials, "answer"))
}

// A group of agents with the same rate: its name, or how many they are.
func groupName(agents []analytics.AgentBoard, noun string) (name string, one bool) {
	if len(agents) == 1 {
		return render.AgentName(agents[0].Agent), true
	}
	return small(len(agents)) + " " + noun + "s", false
}

// fewNames names up to two agents, and counts more.
func fewNames(agents []analytics.AgentBoard, noun string) string {
	if len(agents) == 2 {
		return render.AgentName(agents[0].Agent) + " and " + render.AgentName(agents[1].Agent)
	}
	name, _ := groupName(agents, noun)
	return name
}

// extremes returns the agents that pick a tool most and least often, and their rates.
func extremes(b *analytics.Board, slug string) (most, least []analytics.AgentBoard, high, low float64) {
	for i, a := range b.Agents {
		rate := rateOf(a.Tools, slug)
		if i == 0 || rate > high {
			most, high = nil, rate
		}
		if i == 0 || rate < low {
			least, low = nil, rate
		}
		if rate == high {
			most = append(most, a)
		}
		if rate == low {
			least = append(least, a)
		}
	}
	return most, least, high, low
}
