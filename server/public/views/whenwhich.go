package views

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/analytics/observed"
	"github.com/firstpick/firstpick/analytics/stats"
	"github.com/firstpick/firstpick/server/kit/chart"
	"github.com/firstpick/firstpick/server/kit/render"
)

// whenWhich says with which agents and tags each of two tools is clearly ahead, when asked and in
// real work; it names no other difference. It is empty where there are no parts to compare.
func (d *comparePage) whenWhich() string {
	var out []string
	if len(d.Boards) > 0 {
		if text := d.Boards[0].firm(); text != "" {
			out = append(out, text)
		}
	}
	if d.Work != nil && len(d.Work.Parts) > 1 {
		out = append(out, d.Work.firm())
	}
	return strings.Join(out, " ")
}

// firm is whenWhich of a board of trials.
func (c compareBoard) firm() string {
	if len(c.Groups) == 0 || len(c.Groups[0].Parts) < 2 {
		return ""
	}
	parts := "agent or tag"
	if c.Noun != "agent" {
		parts = c.Noun
	}
	if c.Single {
		return fmt.Sprintf("When asked: one prompt, so no difference by %s is firm for other prompts.", parts)
	}
	var first, second []string
	for _, g := range c.Groups {
		for _, p := range g.Parts {
			if !p.Clear {
				continue
			}
			names := []string{p.Name}
			if !g.Agents {
				names[0] = g.Name + " " + p.Name
			} else if len(p.Same) > 0 {
				names = names[:0]
				for _, a := range p.Same {
					names = append(names, a.Text)
				}
			}
			if p.First != "" {
				names = []string{and(names) + " (" + p.First + " is first there)"}
			}
			if p.lead > 0 {
				first = append(first, names...)
			} else {
				second = append(second, names...)
			}
		}
	}
	return "When asked: " + sides(c.First, c.Second, "clearly ahead with", first, second, parts)
}

// firm is whenWhich in real work: it tests the agents with enough data, all at once.
func (d *pairAgents) firm() string {
	var pairs []observed.Pair
	var tested []int
	for i, p := range d.Parts {
		if p.pair != nil {
			pairs, tested = append(pairs, *p.pair), append(tested, i)
		}
	}
	if len(tested) == 0 {
		d.Tested = "No agent has enough data for a test. " + agentTest(d.Unit)
		return "In real work: no coding agent has enough data for a test."
	}
	var names, first, second []string
	for i, shown := range observed.ShownTogether(pairs) {
		p := d.Parts[tested[i]]
		switch names = append(names, p.Agent); {
		case shown && p.marks[0].Rate > p.marks[1].Rate:
			first = append(first, p.Agent)
		case shown:
			second = append(second, p.Agent)
		}
	}
	d.Tested = "Tested, clustered by repository: " + and(names)
	if len(names) > 1 {
		d.Tested += ", corrected for all " + small(len(names)) + " (Holm)"
	}
	if len(names) < len(d.Parts) {
		d.Tested += "; the others are described, not tested. " + agentTest(d.Unit)
	} else {
		d.Tested += "."
	}
	return "In real work: " + sides(d.A, d.B, "used clearly more with", first, second, "coding agent")
}

// agentTest says what is tested, and why all agents together need less than one.
func agentTest(unit string) string {
	return fmt.Sprintf("A test needs at least %d %ss in %d repositories, and an interval that leaves out some difference. "+
		"With one agent, no repository may have more than a quarter of them. With all together one may: this page gives their rates without it.", observed.MinUnits, unit, observed.MinRepos)
}

// testable returns the difference of two tools with one agent; nil where the agent has too few units
// or repositories, or one repository decides its rates.
func testable(agent observed.AgentBoard, a, b string) *observed.Pair {
	if len(agent.Warnings) > 0 || agent.NUnits < observed.MinUnits || agent.NRepos < observed.MinRepos {
		return nil
	}
	for _, slugs := range [][2]string{{a, b}, {b, a}} {
		if p, ok := agent.Pairs[slugs]; ok && p.Known() {
			return &p
		}
	}
	return nil
}

// sides is like: Ash is clearly ahead with Codex; Birch with Devin. No other difference by agent is
// firm.
func sides(x, y, how string, first, second []string, parts string) string {
	var out []string
	for i, names := range [][]string{first, second} {
		if tool := []string{x, y}[i]; len(names) > 0 {
			out = append(out, fmt.Sprintf("%s is %s %s", tool, how, and(names)))
		}
	}
	if len(out) == 0 {
		return "no difference by " + parts + " is firm."
	}
	return strings.Join(out, "; ") + ". No other difference by " + parts + " is firm."
}

// pair returns the difference of both tools, by slug, for this pair alone, and their slugs, that with
// the higher rate first; none where the rates are equal. ok is false where the difference is not known: with too
// few units or repositories, or where its interval leaves out nothing.
func (s pairSeen) pair(a, b string) (p observed.Pair, slugs [2]string, ok bool) {
	if s.Apart != nil {
		return p, slugs, false
	}
	for _, slugs := range [][2]string{{a, b}, {b, a}} {
		if p, ok = s.Part.Pairs[slugs]; ok {
			return p, slugs, p.Known() && s.Part.NUnits >= observed.MinUnits && s.Part.NRepos >= observed.MinRepos
		}
	}
	return p, slugs, false
}

// lead says how far one of two tools is ahead in real work; nil where that is not known.
func (s pairSeen) lead(a, b string) *lead {
	p, slugs, known := s.pair(a, b)
	if slugs[0] == "" || s.Part.NUnits < observed.MinUnits { // so few have counts, and no points
		return nil
	}
	x, y := observedName(s.Board, slugs[0]), observedName(s.Board, slugs[1])
	if !known {
		return &lead{Leader: x, Diff: s.apart(), Interval: "not known", Observed: true, Alone: true, Unknown: s.unknown(a, b)}
	}
	interval := pointsOf(stats.Interval{Low: p.CILow, High: p.CIHigh})
	return &lead{
		Leader: x, Diff: s.apart(), Interval: interval, P: render.PValue(p.P), Significant: p.Shown, Observed: true, Alone: true, All: s.together(p),
		Plot: chart.Difference(p.Diff, p.CILow, p.CIHigh, interval, y, x),
	}
}

// together is the test of a pair with all pairs of the board at once; nil in one language of several,
// whose ranks are not tested.
func (s pairSeen) together(p observed.Pair) *together {
	if p.Together == nil {
		return nil
	}
	all := together{Pairs: countPairs(len(s.Board.Tools)), P: render.PValue(p.Together.P), Significant: p.Together.Shown}
	if p.Together.CIHigh-p.Together.CILow < 2 {
		all.Interval = pointsOf(stats.Interval{Low: p.Together.CILow, High: p.Together.CIHigh})
	}
	return &all
}

// unknown says why the difference of two tools, by slug, is not known.
func (s pairSeen) unknown(a, b string) string {
	p, slugs, _ := s.pair(a, b)
	switch {
	case s.Part.NUnits < observed.MinUnits:
		return fmt.Sprintf("fewer than %d %ss", observed.MinUnits, s.Board.Unit)
	case slugs[0] == "":
		return "this pair was not tested"
	case s.Part.Largest != nil && !p.Known():
		return "one" + strings.TrimPrefix(largeShare(s.Board, s.Part), "One")
	case s.Part.NRepos < observed.MinRepos:
		return fmt.Sprintf("fewer than %d repositories", observed.MinRepos)
	}
	return "the repositories differ too much"
}

// turned says that the order of two tools is another one without the largest repository; empty where it
// is not.
func (s pairSeen) turned(a, b string) string {
	if s.Apart != nil || s.Part.Largest == nil || s.Part.Largest.Without.NUnits == 0 {
		return ""
	}
	x, _ := useOf(s.Part.Largest.Without, a)
	y, _ := useOf(s.Part.Largest.Without, b)
	if (s.First.UseRate-s.Second.UseRate)*(x.UseRate-y.UseRate) >= 0 {
		return ""
	}
	if y.UseRate > x.UseRate {
		a, b = b, a
	}
	share, without := largeShare(s.Board, s.Part), withoutLargest(s.Board, s.Part, a, b)
	if _, _, known := s.pair(a, b); !known && render.Capital(s.unknown(a, b)) == share { // the first sentence has it
		return " Without that repository, " + strings.TrimPrefix(without, withoutIt) + ": the order turns."
	}
	return fmt.Sprintf(" %s; %s: the order turns.", share, without)
}

// apart is the difference of both rates in points, without its sign.
func (s pairSeen) apart() string {
	high, low := max(s.First.UseRate, s.Second.UseRate), min(s.First.UseRate, s.Second.UseRate)
	return strings.TrimPrefix(render.Difference(high, low), "+")
}

// slug returns the slug of a tool of the board by its name.
func (s pairSeen) slug(name string) string {
	if i := slices.IndexFunc(s.Board.Tools, func(t observed.Standing) bool { return t.Tool == name }); i >= 0 {
		return s.Board.Tools[i].Slug
	}
	return ""
}
