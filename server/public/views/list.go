package views

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/server/kit/chart"
	"github.com/firstpick/firstpick/server/kit/render"
)

// list renders a page without a name of its own in the path.
func (r *Renderer) list(name string) (Page, error) {
	switch name {
	case "leaderboards":
		return r.boardIndex()
	case "tools":
		return r.toolIndex()
	case "ai-agents":
		return r.agentIndex()
	case "changes":
		return r.changes()
	case "compare":
		return r.compareIndex()
	}
	return r.vendors()
}

type boardIndex struct {
	Sections []boardSection
	Observed []seenLanguage
	Rest     []render.Link // observed boards without a line: their tools have too little use
	Seen     bool          // there are observed boards
	seenNote
}

type boardSection struct {
	Name, ID string
	Cards    []card
}

func (r *Renderer) boardIndex() (Page, error) {
	d := boardIndex{}
	for _, domain := range []string{"dev-tools", "saas"} {
		s := boardSection{Name: render.DomainName(domain), ID: domain}
		for i := range r.in.Boards {
			if b := &r.in.Boards[i]; b.Domain == domain {
				s.Cards = append(s.Cards, r.boardCard(b))
			}
		}
		if len(s.Cards) > 0 {
			d.Sections = append(d.Sections, s)
		}
	}
	d.Observed = r.seenLanguages(nil)
	var lines [][]line
	shown := map[string]bool{}
	for _, g := range d.Observed {
		lines = append(lines, g.Lines)
		for _, l := range g.Lines {
			shown[l.Page] = true
		}
	}
	for i := range r.in.Observed {
		b := &r.in.Observed[i]
		if !shown[observedPath(b.Category)] {
			d.Rest = append(d.Rest, render.Link{Path: observedPath(b.Category), Text: b.Name})
		}
	}
	d.Seen, d.seenNote = len(r.in.Observed) > 0, r.seenNote(lines...)
	return r.page("boards", render.Head{Path: "/leaderboards", Title: "Leaderboards", Description: "All boards: what AI agents pick when asked, and what they used in real work. " + r.sum(), Section: "boards", Image: "/og/home.png", Site: r.allSources()}, d)
}

// A letter is a part of the A-Z of tools.
type letter struct {
	Letter string
	Tools  []toolLine
}

// A toolLine is a tool in a list: its best place. Used is its rate in real work; empty where it
// was not used. Observed marks an observed board.
type toolLine struct {
	Name, Link, Rate, Place, Board, BoardLink string

	Used     portion
	Observed bool
}

func (r *Renderer) toolIndex() (Page, error) {
	var letters []letter
	for _, slug := range slices.SortedFunc(maps.Keys(r.tools), func(a, b string) int {
		x, y := r.tools[a].Name, r.tools[b].Name
		return cmp.Or(cmp.Compare(strings.ToLower(x), strings.ToLower(y)), cmp.Compare(a, b))
	}) {
		t := r.tools[slug]
		first := strings.ToUpper(string([]rune(t.Name + "?")[:1]))
		if !unicode.IsLetter([]rune(first)[0]) {
			first = "0–9"
		}
		if len(letters) == 0 || letters[len(letters)-1].Letter != first {
			letters = append(letters, letter{Letter: first})
		}
		l := &letters[len(letters)-1]
		l.Tools = append(l.Tools, lineOf(slug, t))
	}
	return r.page("tools", render.Head{Path: "/tools", Title: "All tools", Description: fmt.Sprintf("All %d measured tools, from A to Z, with their pick rates and what was observed in real work.", len(r.tools)), Section: "tools", Site: r.allSources()}, letters)
}

func rateText(s analytics.Standing) string {
	if s.Picks == 0 {
		return "not picked"
	}
	return chart.Fixed(s.PickRate)
}

func (r *Renderer) changes() (Page, error) {
	d := struct {
		Moves  []move
		Before string
	}{r.moves(len(r.in.Moves)), r.in.Before}
	return r.page("changes", render.Head{Path: "/changes", Title: "What moved", Description: "Pick rates that changed since the snapshot before.", Section: "boards"}, d)
}

func (r *Renderer) vendors() (Page, error) {
	d := struct{ Sum string }{r.sum()}
	return r.page("vendors", render.Head{Path: "/for-vendors", Title: "For vendors", Description: "See how often AI agents pick your tool, why they do not, and which agents visit your site.", Section: "vendors", Site: r.allSources()}, d)
}

// has reports whether there is a board of trials of a category.
func (r *Renderer) has(category string) bool {
	return slices.ContainsFunc(r.in.Boards, func(b analytics.Board) bool { return b.Category == category })
}
