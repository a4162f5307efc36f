package views

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/analytics/observed"
	"github.com/firstpick/firstpick/fixtures/sorting"
	"github.com/firstpick/firstpick/server/kit/render"
)

// A compareIndex is the form for a comparison, and proposals.
type compareIndex struct {
	First  compareSide   // whose comparisons are shown; empty for those of all
	A, B   string        // names in the fields, B the slug in the menu
	Note   string        // why the second tool is to be chosen again
	Names  []string      // of the tools to choose from
	Second []compareList // with which the first can be compared; empty for a field for any name
	Pairs  []comparePair
}

// A compareList is the tools of a board, in the order of their names.
type compareList struct {
	Board string
	Tools []compareSide
}

type comparePair struct {
	Text, Link, Board, Sentence string
	repos                       int // in which the second was used
}

// compareIndex lists comparisons of the leading tools.
func (r *Renderer) compareIndex() (Page, error) {
	d := compareIndex{Names: r.compareNames()}
	d.Pairs = r.askedPairs()
	seen := r.seenPairs()
	d.Pairs = append(d.Pairs, seen[:min(max(0, maxPairs-len(d.Pairs)), len(seen))]...)
	for _, b := range r.byTrials() {
		if d.A == "" && len(b.Tools) > 1 && b.Tools[1].Picks > 0 {
			d.A, d.B = b.Tools[0].Tool, b.Tools[1].Tool
		}
	}
	return r.page("comparisons", render.Head{Path: "/compare", Title: "Compare two tools", Description: "Which of two developer tools AI agents pick when asked, by agent, and which they used in real work.", Section: "compare", Site: r.allSources()}, d)
}

// askedPairs compares the first two tools of each board of trials.
func (r *Renderer) askedPairs() (out []comparePair) {
	for _, b := range r.byTrials() {
		if len(b.Tools) > 1 && b.Tools[1].Picks > 0 {
			x, y := b.Tools[0], b.Tools[1]
			out = append(out, comparePair{x.Tool + " or " + y.Tool, ComparePath(x.Slug, y.Slug), b.Name, compareSentence(b, x, y), 0})
		}
	}
	return out
}

// seenPairs compares the first two tools of each observed board.
func (r *Renderer) seenPairs() (out []comparePair) {
	for i := range r.in.Observed {
		b := &r.in.Observed[i]
		if p, language := mainPart(b); p.NUnits >= observed.MinUnits && len(p.Tools) > 1 && p.Tools[1].Uses >= observed.MinUses {
			x, y := observedName(b, p.Tools[0].Slug), observedName(b, p.Tools[1].Slug)
			seen := pairSeen{Board: b, Part: p, Language: language, First: p.Tools[0].Use, Second: p.Tools[1].Use}
			out = append(out, comparePair{x + " or " + y, ComparePath(p.Tools[0].Slug, p.Tools[1].Slug), b.Name + ", observed", seen.short(x, y), p.Tools[1].Repos})
		}
	}
	return out
}

// homeCompare is how many comparisons the first page has.
const homeCompare = 2

// compareExamples are comparisons for the first page: that of a board by its name, then those of observed
// boards whose second tool is in the most repositories.
func (r *Renderer) compareExamples(board string) (out []comparePair) {
	asked, seen := r.askedPairs(), r.seenPairs()
	sorting.StableFunc(asked, descending(func(p comparePair) float64 {
		if p.Board == board {
			return 1
		}
		return 0
	}))
	sorting.StableFunc(seen, func(x, y comparePair) int { return y.repos - x.repos })
	if len(seen) > 0 {
		asked = asked[:min(1, len(asked))]
	}
	for _, p := range slices.Concat(asked, seen) {
		if len(out) < homeCompare && !slices.ContainsFunc(out, func(o comparePair) bool { return o.Link == p.Link }) {
			out = append(out, p)
		}
	}
	return out
}

// maxPairs is how many comparisons are proposed.
const maxPairs = 12

// Tool returns the page of a tool; ok is false for a tool without one.
func (r *Renderer) Tool(slug string) (page render.Link, ok bool) {
	t := r.tools[slug]
	if t == nil {
		return page, false
	}
	return render.Link{Path: toolPath(slug), Text: t.Name}, true
}

// ObservedTool returns the name of a tool that was observed, and that no board of trials ranks.
func (r *Renderer) ObservedTool(slug string) (name string, ok bool) {
	t := r.tools[slug]
	if t == nil || len(t.Places) > 0 {
		return "", false
	}
	return t.Name, true
}

// Comparable reports whether there is a comparison of two tools.
func (r *Renderer) Comparable(a, b string) bool {
	x, y := r.tools[a], r.tools[b]
	if x == nil || y == nil || a == b {
		return false
	}
	return slices.ContainsFunc(x.Places, func(p place) bool {
		return slices.ContainsFunc(y.Places, func(q place) bool { return q.Board == p.Board })
	}) || len(r.seenWith(x, y, a, b, "")) > 0
}

// CompareWith renders the form for a comparison of a tool, with the tools of its boards; ok is
// false for a tool without a page. other is what it cannot be compared
// with, or empty.
func (r *Renderer) CompareWith(slug, other string) (p Page, ok bool, err error) {
	t := r.tools[slug]
	if t == nil {
		return p, false, nil
	}
	d := compareIndex{First: compareSide{t.Name, slug, toolPath(slug)}, A: t.Name, Names: r.compareNames(), Second: r.compareLists(slug)}
	if o := r.tools[other]; o != nil {
		d.Note = fmt.Sprintf("No board has both %s and %s.", t.Name, o.Name)
	}
	if d.Note == "" && other != "" {
		d.Note = fmt.Sprintf("No tool here is called %q.", other)
	}
	for _, l := range r.CompareLinks(slug) {
		d.Pairs = append(d.Pairs, comparePair{Text: l.Text, Link: l.Path})
	}
	p, err = r.page("comparisons", render.Head{
		Path: "/compare", Title: "Compare " + t.Name, Description: "Tools with which " + t.Name + " can be compared.", Section: "compare", NoIndex: true,
	}, d)
	return p, true, err
}

// maxCompareLinks is how many comparisons of one tool are proposed.
const maxCompareLinks = 8

// CompareLinks proposes comparisons of a tool with the leading tools of its boards.
func (r *Renderer) CompareLinks(slug string) (out []render.Link) {
	t := r.tools[slug]
	if t == nil {
		return nil
	}
	add := func(other, name string) {
		l := render.Link{Path: ComparePath(slug, other), Text: t.Name + " or " + name}
		if other != slug && r.tools[other] != nil && len(out) < maxCompareLinks && !slices.Contains(out, l) {
			out = append(out, l)
		}
	}
	for _, p := range t.Places {
		for _, s := range p.Board.Tools {
			if s.Picks > 0 {
				add(s.Slug, s.Tool)
			}
		}
	}
	for _, s := range t.Seen {
		for _, o := range s.Part.Tools {
			if _, _, ok := bothIn(s.Board, slug, o.Slug); ok && o.Uses > 0 {
				add(o.Slug, observedName(s.Board, o.Slug))
			}
		}
	}
	return out
}

// compareNames lists the names of the tools that were picked or used, each once.
func (r *Renderer) compareNames() (out []string) {
	for _, t := range r.tools {
		picked := slices.ContainsFunc(t.Places, func(p place) bool { return p.Standing.Picks > 0 })
		if picked || slices.ContainsFunc(t.Seen, func(s sighting) bool { return s.Use.Uses > 0 }) {
			out = append(out, t.Name)
		}
	}
	sorting.Func(out, func(a, b string) int {
		return cmp.Or(cmp.Compare(strings.ToLower(a), strings.ToLower(b)), cmp.Compare(a, b))
	})
	return slices.Compact(out)
}

// compareLists lists, by board, the tools that were picked or used and with which a tool can be
// compared.
func (r *Renderer) compareLists(with string) (out []compareList) {
	add := func(l compareList) {
		sorting.Func(l.Tools, func(a, b compareSide) int {
			return cmp.Or(cmp.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)), cmp.Compare(a.Slug, b.Slug))
		})
		if len(l.Tools) > 0 {
			out = append(out, l)
		}
	}
	for i := range r.in.Boards {
		b := &r.in.Boards[i]
		l, has := compareList{Board: b.Name}, false
		for _, s := range b.Tools {
			has = has || s.Slug == with
			if s.Slug != with && s.Picks > 0 {
				l.Tools = append(l.Tools, compareSide{s.Tool, s.Slug, ""})
			}
		}
		if has {
			add(l)
		}
	}
	for i := range r.in.Observed {
		b := &r.in.Observed[i]
		l := compareList{Board: b.Name + ", observed"}
		for _, s := range b.Tools {
			if s.Slug == with || s.Uses == 0 {
				continue
			}
			if _, _, ok := bothIn(b, with, s.Slug); ok {
				l.Tools = append(l.Tools, compareSide{s.Tool, s.Slug, ""})
			}
		}
		add(l)
	}
	return out
}
