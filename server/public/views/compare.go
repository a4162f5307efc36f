package views

import (
	"cmp"
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/server/kit/chart"
	"github.com/firstpick/firstpick/server/kit/render"
)

// ComparePath is the path of the comparison of two tools, in the order of their slugs.
func ComparePath(a, b string) string {
	if b < a {
		a, b = b, a
	}
	return "/compare/" + a + "-vs-" + b
}

type comparePage struct {
	A, B     compareSide
	Sentence string
	Boards   []compareBoard
	Others   []render.Link // other comparisons
}

type compareSide struct{ Name, Slug, Link string }

// A compareBoard compares two tools on a board that ranks both.
type compareBoard struct {
	Name, Link          string
	Age                 age
	Forest              render.Forest
	Leader              string // empty where both have the same rate
	Diff, Interval, P   string
	Pairs               string // how many pairs the board has
	Significant, Single bool
	Groups              []compareGroup
	HeadToHead          []headToHead
	First, Second       string  // the tools, the one with the higher rate first
	ForFirst, ForSecond []quote // of trials that picked one of them
}

// A compareGroup has the parts of one kind: agents, or the values of a tag.
type compareGroup struct {
	Name  string
	Early bool // all parts are
	Ruler template.HTML
	Parts []comparePart
}

// A comparePart is both rates with one agent, or under one tag.
type comparePart struct {
	Name, Title, Link, A, B, Diff, N string
	Plot                             template.HTML
	AheadA, AheadB, Early            bool
	lead                             float64 // of the first tool
}

// Compare renders the comparison of two tools; ok is false where no board ranks both.
func (r *Renderer) Compare(a, b string) (p Page, ok bool, err error) {
	if b < a {
		a, b = b, a
	}
	x, y := r.tools[a], r.tools[b]
	if x == nil || y == nil || a == b {
		return p, false, nil
	}
	d := comparePage{A: compareSide{x.Name, a, toolPath(a)}, B: compareSide{y.Name, b, toolPath(b)}}
	for _, p := range x.Places {
		if i := slices.IndexFunc(y.Places, func(q place) bool { return q.Board == p.Board }); i >= 0 {
			d.Boards = append(d.Boards, r.compareBoard(p.Board, p.Standing, y.Places[i].Standing))
			if d.Sentence == "" {
				d.Sentence = compareSentence(p.Board, p.Standing, y.Places[i].Standing)
			}
		}
	}
	if len(d.Boards) == 0 {
		return p, false, nil
	}
	d.Others = others(x.Places[0], a, b)
	p, err = r.page("compare", render.Head{
		Path: ComparePath(a, b), Title: x.Name + " or " + y.Name + ": which one AI agents pick", Description: d.Sentence, Section: "compare", Image: "/og" + ComparePath(a, b) + ".png",
	}, d)
	return p, true, err
}

func others(p place, a, b string) (out []render.Link) {
	for _, s := range p.Board.Tools {
		if s.Slug != a && s.Slug != b && s.Picks > 0 && len(out) < 6 {
			out = append(out, render.Link{Path: ComparePath(a, s.Slug), Text: p.Standing.Tool + " or " + s.Tool})
		}
	}
	return out
}

func compareSentence(b *analytics.Board, x, y analytics.Standing) string {
	if x.Picks == 0 && y.Picks == 0 {
		return fmt.Sprintf("No %s picked %s or %s in %s.", nounOf(b), x.Tool, y.Tool, quantity(b.NTrials, "answer"))
	}
	ahead, behind := x, y
	if y.PickRate > x.PickRate {
		ahead, behind = y, x
	}
	who, whose := subject(b)
	if x.PickRate == y.PickRate {
		return fmt.Sprintf("%s %s as often as %s: in %s.", who, x.Tool, y.Tool, ofAnswers(x.PickRate, b.NTrials, whose))
	}
	text := fmt.Sprintf("%s %s in %s and ", who, ahead.Tool, ofAnswers(ahead.PickRate, b.NTrials, whose))
	if behind.Picks == 0 {
		return text + "never " + behind.Tool + "."
	}
	text += fmt.Sprintf("%s in %s", behind.Tool, chart.Percent(behind.PickRate))
	var with []string
	for _, a := range b.Agents {
		if rateOf(a.Tools, behind.Slug) >= rateOf(a.Tools, ahead.Slug)+leastLead {
			with = append(with, render.AgentName(a.Agent))
		}
	}
	if n := len(with); n > 0 && n <= 3 {
		verb := "picks"
		if n > 1 {
			verb = "pick"
		}
		text += fmt.Sprintf("; %s %s %s more often", and(with), verb, behind.Tool)
	}
	if even := level(b, x, y); even != "" {
		text += "; with " + even + " they are level"
	}
	return text + "."
}

// level names the agents with which two tools are picked about as often; empty for none, or
// more than two.
func level(b *analytics.Board, x, y analytics.Standing) string {
	var names []string
	for _, a := range b.Agents {
		p, q := rateOf(a.Tools, x.Slug), rateOf(a.Tools, y.Slug)
		if p > leastLead && q > leastLead && math.Abs(p-q) < leastLead {
			names = append(names, render.AgentName(a.Agent))
		}
	}
	if len(names) > 2 || len(names) == len(b.Agents) {
		return ""
	}
	return and(names)
}

func rateOf(tools []analytics.AgentRate, slug string) float64 {
	if i := slices.IndexFunc(tools, func(t analytics.AgentRate) bool { return t.Slug == slug }); i >= 0 {
		return tools[i].PickRate
	}
	return 0
}

func (r *Renderer) compareBoard(b *analytics.Board, x, y analytics.Standing) compareBoard {
	part := *b
	part.Tools = slices.DeleteFunc(slices.Clone(b.Tools), func(s analytics.Standing) bool { return s.Slug != x.Slug && s.Slug != y.Slug })
	c := compareBoard{
		Name: b.Name, Link: boardPath(b.Category), Age: ageOf(b.AsOf, r.in.Now), Single: render.Single(*b), Forest: render.NewForest(&part, standingPath, x.Slug, y.Slug),
		Pairs: chart.Whole(int64(len(b.Tools) * (len(b.Tools) - 1) / 2)),
	}
	if x.Picks == 0 && y.Picks == 0 { // there is nothing to compare
		return c
	}
	ahead, behind := x, y
	if y.PickRate > x.PickRate {
		ahead, behind = y, x
	}
	c.First, c.Second = ahead.Tool, behind.Tool
	if c.Diff = strings.TrimPrefix(render.Difference(ahead.PickRate, behind.PickRate), "+"); x.PickRate != y.PickRate {
		c.Leader = ahead.Tool
	}
	if behind.Breakdown != nil {
		if i := slices.IndexFunc(behind.Breakdown.Rivals, func(v analytics.Comparison) bool { return v.Slug == ahead.Slug }); i >= 0 {
			v := behind.Breakdown.Rivals[i]
			c.P, c.Significant = render.PValue(v.PAdjusted), v.Significant
			if !c.Single {
				c.Interval = render.Points(v.CILow) + " to " + render.Points(v.CIHigh)
			}
		}
	}
	c.Groups = compareGroups(b, ahead, behind)
	c.HeadToHead = headToHeadOf(b, ahead, behind)
	c.ForFirst, _ = quotesOf(b, ahead)
	c.ForSecond, _ = quotesOf(b, behind)
	return c
}

// compareGroups compares the rates with each agent and under each tag, on one axis.
func compareGroups(b *analytics.Board, x, y analytics.Standing) []compareGroup {
	most := 0.0
	for _, a := range b.Agents {
		most = max(most, rateOf(a.Tools, x.Slug), rateOf(a.Tools, y.Slug))
	}
	for _, cut := range b.Cuts {
		most = max(most, rateOf(cut.Tools, x.Slug), rateOf(cut.Tools, y.Slug))
	}
	axis := chart.NewAxis(most)
	part := func(name, title, link string, n int, tools []analytics.AgentRate) comparePart {
		p, q := rateOf(tools, x.Slug), rateOf(tools, y.Slug)
		text := x.Tool + " " + chart.Fixed(p) + ", " + y.Tool + " " + chart.Fixed(q)
		return comparePart{name, title, link, chart.Fixed(p), chart.Fixed(q), render.Difference(p, q), chart.Whole(int64(n)), axis.Pair(p, q, text), p > q, q > p, false, p - q}
	}
	agents := compareGroup{Name: "Agent", Ruler: axis.Ruler()}
	for _, a := range b.Agents {
		agents.Parts = append(agents.Parts, part(render.AgentName(a.Agent), a.Agent, agentPath(agentSlug(a.Agent)), a.NTrials, a.Tools))
	}
	out := []compareGroup{agents}
	for _, cut := range b.Cuts {
		name := render.Capital(cut.Tag)
		if out[len(out)-1].Name != name {
			out = append(out, compareGroup{Name: name, Ruler: axis.Ruler()})
		}
		last := &out[len(out)-1]
		p := part(cut.Value, "", "", cut.NFamilies, cut.Tools)
		p.Early = slices.Contains(cut.Warnings, analytics.Directional)
		last.Parts = append(last.Parts, p)
	}
	for i := range out {
		out[i].Early = !slices.ContainsFunc(out[i].Parts, func(p comparePart) bool { return !p.Early })
	}
	for _, g := range out { // from the first tool's best to the second's
		slices.SortStableFunc(g.Parts, func(p, q comparePart) int { return cmp.Or(cmp.Compare(q.lead, p.lead), cmp.Compare(p.Name, q.Name)) })
	}
	return out
}

type compareIndex struct {
	Tools []compareSide
	Pairs []comparePair
}

type comparePair struct{ Text, Link, Board, Sentence string }

// compareIndex lists comparisons of the leading tools.
func (r *Renderer) compareIndex() (Page, error) {
	var d compareIndex
	for slug, t := range r.tools {
		d.Tools = append(d.Tools, compareSide{t.Name, slug, toolPath(slug)})
	}
	slices.SortFunc(d.Tools, func(a, b compareSide) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Slug, b.Slug)) })
	for _, b := range r.byTrials() {
		if len(b.Tools) > 1 && b.Tools[1].Picks > 0 {
			x, y := b.Tools[0], b.Tools[1]
			d.Pairs = append(d.Pairs, comparePair{x.Tool + " or " + y.Tool, ComparePath(x.Slug, y.Slug), b.Name, compareSentence(b, x, y)})
		}
	}
	return r.page("comparisons", render.Head{Path: "/compare", Title: "Compare two tools", Description: "Which of two developer tools AI agents pick, by agent and by kind of prompt.", Section: "compare"}, d)
}
