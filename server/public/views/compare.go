package views

import (
	"cmp"
	"fmt"
	"html/template"
	"math"
	"slices"

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
	Name, Link                 string
	Age                        age
	Forest                     render.Forest
	Diff, Interval, P, Verdict string
	Significant, Single        bool
	Agents, Tags               []comparePart
	Trials                     string
}

// A comparePart is both rates with one agent, or under one tag.
type comparePart struct {
	Name, Title, Link, A, B, Diff, N string
	Bar                              template.HTML
	AheadA, AheadB                   bool
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
		return fmt.Sprintf("No agent picked %s or %s in %s.", x.Tool, y.Tool, quantity(b.NTrials, "answer"))
	}
	ahead, behind := x, y
	if y.PickRate > x.PickRate {
		ahead, behind = y, x
	}
	if x.PickRate == y.PickRate {
		return fmt.Sprintf("Agents pick %s as often as %s: in %s of answers.", x.Tool, y.Tool, chart.Percent(x.PickRate))
	}
	text := fmt.Sprintf("Agents pick %s in %s of answers and %s in %s", ahead.Tool, chart.Percent(ahead.PickRate), behind.Tool, chart.Percent(behind.PickRate))
	var with []string
	for _, a := range b.Agents {
		if rateOf(a.Tools, behind.Slug) > rateOf(a.Tools, ahead.Slug) {
			with = append(with, render.AgentName(a.Agent))
		}
	}
	if n := len(with); n > 0 && n <= 3 {
		text += fmt.Sprintf("; %s prefers %s", and(with), behind.Tool)
		if n > 1 {
			text = text[:len(text)-len("prefers "+behind.Tool)] + "prefer " + behind.Tool
		}
	}
	return text + "."
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
	for i := range part.Tools {
		part.Tools[i].ShortlistRate = max(part.Tools[i].ShortlistRate, 1e-9) // shown even without a pick
	}
	c := compareBoard{
		Name: b.Name, Link: boardPath(b.Category), Age: ageOf(b.AsOf, r.in.Now), Single: render.Single(*b), Forest: render.NewForest(&part, standingPath),
		Diff: render.Points(x.PickRate - y.PickRate),
	}
	if x.Breakdown != nil {
		if i := slices.IndexFunc(x.Breakdown.Rivals, func(v analytics.Comparison) bool { return v.Slug == y.Slug }); i >= 0 {
			v := x.Breakdown.Rivals[i]
			c.P, c.Significant = render.PValue(v.PAdjusted), v.Significant
			if !c.Single {
				c.Interval = render.Points(-v.CIHigh) + " to " + render.Points(-v.CILow)
			}
		}
	}
	for _, a := range b.Agents {
		c.Agents = append(c.Agents, comparedPart(render.AgentName(a.Agent), a.Agent, agentPath(agentSlug(a.Agent)), a.NTrials, rateOf(a.Tools, x.Slug), rateOf(a.Tools, y.Slug), x, y))
	}
	for _, cut := range b.Cuts {
		c.Tags = append(c.Tags, comparedPart(cut.Tag+": "+cut.Value, "", "", cut.NTrials, rateOf(cut.Tools, x.Slug), rateOf(cut.Tools, y.Slug), x, y))
	}
	slices.SortStableFunc(c.Agents, func(p, q comparePart) int { return cmp.Compare(p.Name, q.Name) })
	return c
}

func comparedPart(name, title, link string, n int, x, y float64, a, b analytics.Standing) comparePart {
	parts := []chart.Part{
		{Series: chart.Series{Class: "r1", Name: a.Tool}, Value: int64(math.Round(x * whole)), Text: chart.Percent(x)},
		{Series: chart.Series{Class: "r4", Name: b.Tool}, Value: int64(math.Round(y * whole)), Text: chart.Percent(y)},
	}
	return comparePart{name, title, link, chart.Percent(x), chart.Percent(y), render.Points(x - y), chart.Whole(int64(n)), chart.Split(parts, whole, name), x > y, y > x}
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
