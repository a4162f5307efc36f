package views

import (
	"fmt"
	"html/template"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/analytics/stats"
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
	Observed string // a sentence
	InWork   string // the same in short, beside a Sentence
	When     string // which of both is ahead when
	Leans    []lean // where nothing is firm: the prompt on which each leads by most
	Measures []measure
	Boards   []compareBoard
	Work     *pairAgents // in real work, by agent; nil where both were not seen together
	Seen     []seenPlace
	SeenCite string        // of real work, beside that of the answers; empty without either
	Others   []render.Link // other comparisons
}

type compareSide struct{ Name, Slug, Link string }

// A compareBoard compares two tools on a board that ranks both.
type compareBoard struct {
	Name, Link, Noun    string
	Asked               measure
	Groups              []compareGroup
	HeadToHead          []headToHead
	First, Second       string  // the tools, in the order of the page
	ForFirst, ForSecond []quote // of trials that picked one of them
	Spoken              bool    // quotes have a text
	Single              bool    // one prompt
	Prompt              *promptText
	Doubts              []render.Warning
	Category, Cite      string
	HasTrials           bool
}

// Measures is what was asked on the board, as a list.
func (c compareBoard) Measures() []measure { return []measure{c.Asked} }

// A lead is how far one of two tools is ahead of the other.
type lead struct {
	Leader            string // empty where both have the same rate
	Diff, Interval, P string
	Plot              template.HTML // the difference with its interval; empty without one
	Significant       bool
	Alone             bool      // Interval, P and Significant are for this pair alone
	All               *together // with all pairs of the board; nil where that is not known, or the same
	Single            bool      // one prompt
	Observed          bool
	Unknown           string // why nothing is known of the difference
}

// A together is what a test of all pairs of a board at once says of one of them. Interval is empty where
// it leaves out nothing.
type together struct {
	Pairs, Interval, P string
	Significant        bool
}

// Compare renders the comparison of two tools; ok is false where no board ranks both, and no
// observed board has both.
func (r *Renderer) Compare(a, b string) (p Page, ok bool, err error) {
	if b < a {
		a, b = b, a
	}
	x, y := r.tools[a], r.tools[b]
	if x == nil || y == nil || a == b {
		return p, false, nil
	}
	if ahead(y, x) {
		x, y, a, b = y, x, b, a
	}
	d := comparePage{A: compareSide{x.Name, a, toolPath(a)}, B: compareSide{y.Name, b, toolPath(b)}}
	asked, seen := measure{Title: whenAsked, None: "Not asked: no board of trials ranks both."}, measure{Title: inWork, Observed: true, None: "Not observed: no board of real work has both in one language."}
	home := ""
	for _, p := range x.Places {
		if i := slices.IndexFunc(y.Places, func(q place) bool { return q.Board == p.Board }); i >= 0 {
			s, t := p.Standing, y.Places[i].Standing
			d.Boards = append(d.Boards, r.compareBoard(p.Board, s, t))
			if d.Sentence == "" {
				d.Sentence, home, asked = compareSentence(p.Board, s, t), p.Board.Category, d.Boards[0].Asked
			}
		}
	}
	for i, s := range r.seenWith(x, y, a, b, home) {
		if i == 0 {
			d.Observed, seen, d.Work = s.sentence(x.Name, y.Name), s.measure(r, a, b), s.agents(r.in, x.Name, y.Name, a, b)
			if d.Sentence != "" {
				d.InWork = s.short(x.Name, y.Name)
			}
		}
		for _, p := range s.places(r, a, b) {
			p.Cite = citeObserved(r.in, s.Board, x.Name+" or "+y.Name+" in "+p.Name+", how often agents used them"+s.cited(x.Name, y.Name), r.in.BaseURL+ComparePath(a, b))
			p.Again = s.Apart == nil && slices.ContainsFunc(d.Seen, func(o seenPlace) bool { return o.Source == p.Source })
			d.Seen = append(d.Seen, p)
		}
	}
	if len(d.Boards)+len(d.Seen) == 0 {
		return p, false, nil
	}
	if len(d.Boards) > 0 && len(d.Seen) > 0 {
		d.SeenCite, d.Seen[0].Cite = d.Seen[0].Cite, ""
	}
	for _, l := range slices.Concat(r.CompareLinks(a), r.CompareLinks(b)) {
		if l.Path != ComparePath(a, b) && len(d.Others) < maxCompareLinks && !slices.Contains(d.Others, l) {
			d.Others = append(d.Others, l)
		}
	}
	d.When = d.whenWhich()
	d.Leans = d.leans()
	if d.Measures = []measure{asked, seen}; len(r.in.Observed) == 0 {
		d.Measures = d.Measures[:1]
	}
	if d.Sentence == "" {
		d.Sentence, d.Observed = d.Observed+" No board asks about both.", ""
	}
	title := "which one AI agents use in real work"
	if len(d.Boards) > 0 {
		title = "which one AI " + d.Boards[0].Noun + "s pick"
	}
	p, err = r.page("compare", render.Head{
		Path: ComparePath(a, b), Title: x.Name + " or " + y.Name + ": " + title, Description: both(d.Sentence, d.Observed), Section: "compare", Image: "/og" + ComparePath(a, b) + ".png",
		Site: render.Site{Notes: r.sources(len(d.Boards), d.Seen)},
	}, d)
	return p, true, err
}

// ahead reports whether a tool is picked more often than another on the first board that ranks both, or
// without one used more often. It stands first on the page, in the colour of a leader.
func ahead(x, y *tool) bool {
	for _, p := range x.Places {
		if i := slices.IndexFunc(y.Places, func(q place) bool { return q.Board == p.Board }); i >= 0 && p.Standing.Picks+y.Places[i].Standing.Picks > 0 {
			return p.Standing.PickRate > y.Places[i].Standing.PickRate
		}
	}
	for _, s := range x.Seen {
		if i := slices.IndexFunc(y.Seen, func(o sighting) bool { return o.Board == s.Board && o.Language == s.Language }); i >= 0 {
			return s.Use.Uses > y.Seen[i].Use.Uses
		}
	}
	return false
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
	if render.Single(*b) && b.NTrials > 1 {
		text = "On one prompt, " + inSentence(text)
	}
	first := ""
	if best := b.Tools[0]; best.PickRate > ahead.PickRate {
		first = fmt.Sprintf(" %s is first with %s.", best.Tool, chart.Fixed(best.PickRate))
	}
	if behind.Picks == 0 {
		return text + "never " + behind.Tool + "." + first
	}
	text += fmt.Sprintf("%s in %s", behind.Tool, chart.Fixed(behind.PickRate))
	if !render.Single(*b) && unproven(behind, ahead.Slug) {
		diff := strings.TrimPrefix(render.Difference(ahead.PickRate, behind.PickRate), "+")
		if alone, ok := b.Alone(ahead, behind); ok && alone.Shown {
			text += fmt.Sprintf("; the difference of %s points is significant for this pair alone, not with all %s pairs of the board at once", diff, pairsOf(b))
		} else {
			text = fmt.Sprintf("No clear winner: %s; the difference of %s points is not significant", inSentence(text), diff)
		}
	}
	var with, near []string
	for _, a := range b.Agents {
		front, second := bounded(agentRate(a.Tools, ahead.Slug), a.NFamilies), bounded(agentRate(a.Tools, behind.Slug), a.NFamilies)
		switch {
		case isAhead(b, a, second, front):
			with = append(with, render.AgentName(a.Agent))
		case second.PickRate-front.PickRate >= leastLead:
			near = append(near, fmt.Sprintf("with %s, %s has %s to %s, not a clear lead", render.AgentName(a.Agent), behind.Tool, chart.Fixed(second.PickRate), chart.Fixed(front.PickRate)))
		}
	}
	if n := len(with); n > 0 && n <= 3 {
		text += fmt.Sprintf("; %s pick%s %s more often", and(with), verbEnding(n), behind.Tool)
	}
	if n := len(near); n > 0 && n <= 2 && n < len(b.Agents) {
		text += "; " + and(near)
	}
	if significant, _ := tested(behind, ahead.Slug); significant && !render.Single(*b) {
		text += "; the difference is significant"
	}
	return text + "." + first
}

func agentRate(tools []analytics.AgentRate, slug string) analytics.AgentRate {
	if i := slices.IndexFunc(tools, func(t analytics.AgentRate) bool { return t.Slug == slug }); i >= 0 {
		return tools[i]
	}
	return analytics.AgentRate{Slug: slug}
}

func rateOf(tools []analytics.AgentRate, slug string) float64 {
	return agentRate(tools, slug).PickRate
}

func (r *Renderer) compareBoard(b *analytics.Board, x, y analytics.Standing) compareBoard {
	c := compareBoard{
		Name: b.Name, Link: boardPath(b.Category), Noun: nounOf(b), Single: render.Single(*b), Asked: r.askedOf(0, b, x, y),
		Prompt: onlyPrompt(b), Category: b.Category, Cite: citePair(r.in, b, x, y), HasTrials: r.in.Trials,
		Doubts: render.Doubts(b, x, y),
	}
	if x.Picks == 0 && y.Picks == 0 { // there is nothing to compare
		return c
	}
	ahead, behind := x, y
	if y.PickRate > x.PickRate {
		ahead, behind = y, x
	}
	c.First, c.Second, c.Asked.Lead = x.Tool, y.Tool, leadOn(b, ahead, behind)
	c.Groups = compareGroups(b, x, y)
	c.HeadToHead = headToHeadOf(b, ahead, behind)
	c.ForFirst, _ = quotesOf(b, x)
	c.ForSecond, _ = quotesOf(b, y)
	if c.Spoken = spoken(c.ForFirst, c.ForSecond); c.Prompt != nil {
		dropPrompts(c.ForFirst)
		dropPrompts(c.ForSecond)
	}
	return c
}

// pairsOf is the number of pairs of a board's tools.
func pairsOf(b *analytics.Board) string { return countPairs(len(b.Tools)) }

func countPairs(tools int) string { return chart.Whole(int64(tools * (tools - 1) / 2)) }

// leadOn says how far a tool is ahead of another on a board.
func leadOn(b *analytics.Board, ahead, behind analytics.Standing) *lead {
	l := lead{Diff: strings.TrimPrefix(render.Difference(ahead.PickRate, behind.PickRate), "+"), Single: render.Single(*b)}
	if ahead.PickRate != behind.PickRate {
		l.Leader = ahead.Tool
	}
	if l.Single || behind.Breakdown == nil {
		return &l
	}
	i := slices.IndexFunc(behind.Breakdown.Rivals, func(v analytics.Comparison) bool { return v.Slug == ahead.Slug })
	if i < 0 {
		return &l
	}
	v := behind.Breakdown.Rivals[i]
	interval := stats.Interval{Low: v.CILow, High: v.CIHigh}
	l.All = &together{pairsOf(b), pointsOf(interval), render.PValue(v.PAdjusted), v.Significant}
	if alone, ok := b.Alone(ahead, behind); ok {
		l.Alone, interval, l.P, l.Significant = true, alone.Interval, render.PValue(alone.Adjusted), alone.Shown
	}
	if len(b.Tools) == 2 { // one pair
		l.Alone, l.P, l.Significant, l.All = true, l.All.P, l.All.Significant, nil
	}
	l.Interval = pointsOf(interval)
	l.Plot = chart.Difference(ahead.PickRate-behind.PickRate, interval.Low, interval.High, l.Interval, behind.Tool, ahead.Tool)
	return &l
}

// pointsOf is the interval of a difference in points.
func pointsOf(i stats.Interval) string {
	return render.PointsEnd(i.Low) + " to " + render.PointsEnd(i.High)
}
