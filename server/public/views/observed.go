package views

import (
	"fmt"
	"slices"

	"github.com/firstpick/firstpick/analytics/observed"
	"github.com/firstpick/firstpick/server/kit/chart"
	"github.com/firstpick/firstpick/server/kit/render"
)

// An observedPage is an observed board.
type observedPage struct {
	*observed.Board
	Claim, Notice string
	Age           age
	Forest        render.Forest
	Languages     []observedPart
	Main, Small   []observedPart // those with enough data for a plot, and the others
	Agents        []seenAgents
	Also          []render.Link // tools that other boards count, too
	Doubts        []render.Warning
	Several       bool   // languages, which come first: tools are compared within one
	Asked         string // path of the board of trials of the same category; empty without one
	Pairs         []render.Link
	Lines         string // path of the file with each unit; empty without a snapshot
	Cite          string
}

// An observedPart is a part of an observed board in one language.
type observedPart struct {
	Name, N string
	ID      string   // of its section
	Chips   []string // its warnings
	Lead    string   // whether the first tool is ahead of the second, in a sentence; may be empty
	Without string   // its rates without the largest repository; empty where that has few units
	Tools   []observedShare
	Forest  *render.Forest // of a language with enough data, instead of a card
}

type observedShare struct{ Tool, Link, Rate, Interval string }

func (r *Renderer) observed(category string) (Page, error) {
	i := slices.IndexFunc(r.in.Observed, func(b observed.Board) bool { return b.Category == category })
	b := &r.in.Observed[i]
	ranked := *b
	ranked.Tools = amongUsed(b)
	d := observedPage{Board: b, Claim: observedClaim(b), Notice: observed.Notice, Age: seenAgeOf(b, r.in.Now), Forest: render.NewObservedForest(&ranked, 0, r.seenPath), Agents: r.agentsOn(b), Also: r.alsoOn(b), Doubts: boardDoubts(b)}
	part := func(name string, p observed.Part) observedPart {
		out := observedPart{Name: name, ID: partID(name), N: quantity(p.NUnits, b.Unit) + ", " + chart.Count(p.NRepos, "repository", "repositories")}
		if out.Chips = seenChips(b, p); p.Largest != nil {
			out.Without = render.Capital(withoutLargest(b, p)) + "."
		}
		if lead := leadOrder(p); lead != "" && p.Tools[1].Uses >= observed.MinUses {
			out.Lead = fmt.Sprintf("The lead of %s is %s, with all pairs of tools in %s tested at once.", observedName(b, p.Tools[0].Slug), lead, name)
		}
		for _, t := range p.Tools {
			rate, interval := render.UseRate(t.Use, p.NUnits)
			out.Tools = append(out.Tools, observedShare{observedName(b, t.Slug), r.seenPath(t.Slug), rate, interval})
		}
		return out
	}
	large, end := largeLanguages(b), 0.0 // end is that of the axis of them all
	for _, l := range large {
		for _, t := range l.Tools {
			end = max(end, t.CIHigh)
		}
	}
	for i, l := range b.Languages {
		one := part(l.Language, l.Part)
		if i < len(large) {
			p := partOf(b, l.Part, l.Language)
			f := r.partForest(&p, l.Language, end)
			f.Caption += ", " + l.Language
			one.Forest = &f
			d.Main = append(d.Main, one)
		} else {
			d.Small = append(d.Small, one)
		}
		d.Languages = append(d.Languages, one)
	}
	main, several := mainPart(b)
	for _, s := range claimed(b) {
		d.Claim = both(d.Claim, r.alsoFirst(s))
	}
	d.Several, d.Cite = several != "", citeObserved(r.in, b, b.Name+", what agents used"+citedParts(b), b.URL)
	if several == "" {
		d.Pairs = pairsSeen(b, main)
	} else {
		for _, l := range large {
			d.Pairs = append(d.Pairs, pairsSeen(b, l.Part)...)
		}
	}
	d.Lines = linesPath(r.in, b)
	if r.has(category) {
		d.Asked = boardPath(category)
	}
	return r.page("observed", render.Head{
		Path: observedPath(category), Title: b.Heading(), Section: "boards", Image: "/og" + observedPath(category) + ".png",
		Description: fmt.Sprintf("%s: what agents used in %s of %s.", observed.Mark, quantity(b.NUnits, b.Unit), chart.Count(b.NRepos, "repository", "repositories")), Site: render.Site{Notes: []string{b.Cite()}},
	}, d)
}

// alsoFirst says on which other board the first tool of a part is, and its uses there: each counts on both,
// whatever it was for. It is empty where it is on none.
func (r *Renderer) alsoFirst(first sighting) string {
	if first.Use.Uses == 0 {
		return ""
	}
	slug := first.Part.Tools[0].Slug
	for _, s := range r.tools[slug].Seen {
		if s.Board.Category != first.Board.Category && s.Use.Uses > 0 {
			return fmt.Sprintf("%s is on %s, too (%s there): its uses count on both, whatever they were for.",
				observedName(first.Board, slug), s.Board.Name, render.UseCount(s.Use, s.Part.NUnits))
		}
	}
	return ""
}

// largeLanguages returns the languages of an observed board with enough data for rates, and the first in any case.
func largeLanguages(b *observed.Board) []observed.LanguageBoard {
	n := min(1, len(b.Languages))
	for n < len(b.Languages) && b.Languages[n].NUnits >= observed.MinUnits {
		n++
	}
	return b.Languages[:n]
}

// partID is the id of the section of a language on the page of a board.
func partID(language string) string { return "in-" + agentSlug(language) }

// linesPath is the path of the file with each unit of the study of a board; empty if absent.
func linesPath(in Input, b *observed.Board) string {
	if in.SnapshotID == "" || b.FieldStudy == "" || in.Units == 0 {
		return ""
	}
	return SnapshotPath(in.SnapshotID) + "/observed/" + b.FieldStudy + ".jsonl.zst"
}

// pairsSeen links to the comparisons of the first tool of a part with those that follow it.
func pairsSeen(b *observed.Board, p observed.Part) (out []render.Link) {
	for _, t := range p.Tools[min(1, len(p.Tools)):min(2*cardTools, len(p.Tools))] {
		if t.Uses >= observed.MinUses {
			first := p.Tools[0].Slug
			out = append(out, render.Link{Path: ComparePath(first, t.Slug), Text: observedName(b, first) + " or " + observedName(b, t.Slug)})
		}
	}
	return out
}

func observedName(b *observed.Board, slug string) string {
	if i := slices.IndexFunc(b.Tools, func(s observed.Standing) bool { return s.Slug == slug }); i >= 0 {
		return b.Tools[i].Tool
	}
	return slug
}
