package views

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/analytics/observed"
	"github.com/firstpick/firstpick/fixtures/sorting"
	"github.com/firstpick/firstpick/server/kit/chart"
	"github.com/firstpick/firstpick/server/kit/render"
)

// A pairing is a category that was asked and observed, in one language: the first tool of each
// kind in both.
type pairing struct {
	Asked, Seen card
	Answers     string   // that the rates of Asked are of
	Doubts      []string // of the part of Seen
	Same        bool     // the first tool is the same
	Tools       []pairedTool
}

// A pairedTool has the rates of a tool when asked and in real work.
type pairedTool struct {
	Tool        string
	Asked, Used portion
	Uses        int // in real work
}

// pairings returns the categories with a board of both kinds: that of the board first, then those with different
// first tools.
func (r *Renderer) pairings(first *analytics.Board) (out []pairing) {
	for _, b := range r.byTrials() {
		i := slices.IndexFunc(r.in.Observed, func(o observed.Board) bool { return o.Category == b.Category })
		if i < 0 || len(b.Tools) == 0 || b.Tools[0].Picks == 0 {
			continue
		}
		o := &r.in.Observed[i]
		p, several := mainPart(o)
		used := firstUsed(p)
		if several != "" && !strings.Contains(o.Name, several) || len(used) == 0 {
			continue
		}
		d := pairing{Asked: r.boardCard(b), Answers: quantity(b.NTrials, "answer"), Seen: r.observedCard(o), Same: used[0].Slug == b.Tools[0].Slug}
		if d.Seen.Lead != "" {
			d.Doubts = append(d.Doubts, "lead "+d.Seen.Lead)
		}
		d.Doubts = append(d.Doubts, partDoubts(o, p)...)
		slugs := []string{b.Tools[0].Slug, used[0].Slug}
		for _, slug := range slices.Compact(slugs) {
			name := nameOf(b, slug)
			if name == slug { // not on the board
				name = observedName(o, slug)
			}
			use, _ := useOf(p, slug)
			d.Tools = append(d.Tools, pairedTool{name, askedPortion(b, slug), usedPortion(o, p, slug), use.Uses})
		}
		out = append(out, d)
	}
	place := func(p pairing) int {
		switch {
		case first != nil && p.Asked.Link == boardPath(first.Category):
			return 0
		case !p.Same:
			return 1
		}
		return 2
	}
	sorting.StableFunc(out, func(x, y pairing) int { return place(x) - place(y) })
	return out[:min(homePairs, len(out))]
}

// realLine returns how often real work used the first tools of both kinds of the headline's category, where they
// differ; empty where that is not known.
func realLine(d homePage) string {
	if d.Headline.board == nil || len(d.Pairs) == 0 || d.Pairs[0].Asked.Link != d.Headline.Link || d.Pairs[0].Same {
		return ""
	}
	used, asked := d.Pairs[0].Tools[1], d.Pairs[0].Tools[0]
	text := fmt.Sprintf("In real work, %s of %s used %s", chart.Whole(int64(used.Uses)), d.Pairs[0].Seen.Units, used.Tool)
	if asked.Used.Rate == "" { // the study cannot see it
		return text + "."
	}
	return text + fmt.Sprintf(", and %s %s.", chart.Whole(int64(asked.Uses)), asked.Tool)
}

// askedPortion is the pick rate of a tool, on the same axis as rates of use.
func askedPortion(b *analytics.Board, slug string) portion {
	i := slices.IndexFunc(b.Tools, func(s analytics.Standing) bool { return s.Slug == slug })
	if i < 0 {
		return portion{}
	}
	s := b.Tools[i]
	m := chart.Mark{Rate: s.PickRate, Low: s.CILow, High: s.CIHigh, Interval: !render.Single(*b), Text: chart.Fixed(s.PickRate)}
	out := portion{Rate: m.Text, Bar: chart.NewAxis(1).Forest(m)}
	if m.Interval {
		out.Interval = render.Interval(s.CILow, s.CIHigh)
	}
	return out
}

// usedPortion is the rate of use of a tool; empty where the study cannot see it.
func usedPortion(o *observed.Board, p observed.Part, slug string) portion {
	if !slices.ContainsFunc(o.Tools, func(t observed.Standing) bool { return t.Slug == slug }) {
		return portion{}
	}
	use, _ := useOf(p, slug)
	return usePortion(o, p, observed.Rate{Slug: slug, Use: use})
}
