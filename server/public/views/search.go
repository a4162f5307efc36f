package views

import (
	"maps"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/analytics/observed"
	"github.com/firstpick/firstpick/fixtures/inert"
	"github.com/firstpick/firstpick/server/kit/render"
)

// A Found is what a search found: slugs of tools, categories of boards of trials and of
// observed boards, the best first.
type Found struct {
	Query string
	// Known marks a tool of the catalogue that is not measured yet. Named marks boards of the
	// name that was searched for.
	Known, Named                bool
	Rivals                      []render.Link // of a known tool; see FirstRivals
	Unused                      string        // of a known tool; may be empty
	Languages                   []string      // that were searched for
	Tools, Categories, Observed []string
	Unmeasured                  []string // names of tools of the catalogue without a page
	Unknown                     []string // names of a comparison that no tool has
}

type searchPage struct {
	Query        string
	Known, Named bool
	Agents       []render.Link // with the words of the query in their name
	Tools        []toolLine
	Boards       []card
	Lines        []line        // of observed boards
	Rest         []render.Link // observed boards without a line
	Unmeasured   string        // names of tools of the catalogue without a page
	Unknown      []string      // names of a comparison that no tool has
	Rivals       []render.Link // of a known tool
	Unused       string        // of a known tool; may be empty
	seenNote
}

// Observed reports whether an observed board was found.
func (p searchPage) Observed() bool { return len(p.Lines)+len(p.Rest) > 0 }

// FirstRivals returns the first rivals of a tool, and says last how many others there are.
func FirstRivals(all []render.Link) []render.Link {
	if n := len(all) - maxRivals; n > 0 {
		return append(slices.Clone(all[:maxRivals]), render.Link{Text: quantity(n, "other")})
	}
	return all
}

// Search renders the results of a search, as HTML.
func (r *Renderer) Search(f Found) ([]byte, error) {
	d := searchPage{Query: f.Query, Known: f.Known, Named: f.Named, Unmeasured: and(f.Unmeasured), Unknown: f.Unknown, Rivals: f.Rivals, Unused: f.Unused}
	if !f.Named {
		d.Agents = r.namedAgents(f.Query)
	}
	for _, slug := range f.Tools {
		if t := r.tools[slug]; t != nil {
			d.Tools = append(d.Tools, lineOf(slug, t))
		}
	}
	for i := range r.in.Boards {
		if b := &r.in.Boards[i]; slices.Contains(f.Categories, b.Category) {
			d.Boards = append(d.Boards, r.boardCard(b))
		}
	}
	for _, category := range f.Observed {
		if i := slices.IndexFunc(r.in.Observed, func(b observed.Board) bool { return b.Category == category }); i >= 0 {
			b := &r.in.Observed[i]
			lines := r.linesOf(b, f.Languages)
			if d.Lines = append(d.Lines, lines...); len(lines) == 0 {
				d.Rest = append(d.Rest, render.Link{Path: observedPath(b.Category), Text: b.Name})
			}
		}
	}
	d.seenNote = r.seenNote(d.Lines)
	d.Language = and(f.Languages)
	html, err := r.layout.Page("search", render.Head{Title: "Find a tool", Description: "Find a developer tool by its name, domain or package.", Query: f.Query, NoIndex: true, Site: r.in.Site}, d)
	return inert.Text(html), err
}

// namedAgents leads to the agents that have each word of a query in their name.
func (r *Renderer) namedAgents(query string) (out []render.Link) {
	words := strings.Fields(strings.ToLower(query))
	add := func(names, path, text string) {
		names = strings.ToLower(names)
		if len(words) > 0 && len(out) < maxNamedAgents && !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(names, w) }) {
			out = append(out, render.Link{Path: path, Text: text})
		}
	}
	for _, slug := range slices.Sorted(maps.Keys(r.agents)) {
		a := r.agents[slug]
		if len(a.Boards) == 0 { // below
			continue
		}
		add(a.Name+" "+a.Agent, agentPath(slug), a.Name)
	}
	for _, a := range r.codingAgents() {
		add(a.Name, a.Link, a.Name+" in real work: "+a.Board)
	}
	return out
}

// maxNamedAgents is how many agents a search lists.
const maxNamedAgents = 10

func lineOf(slug string, t *tool) toolLine {
	l := toolLine{Name: t.Name, Link: toolPath(slug), Rate: "not asked", Place: "–"}
	if len(t.Seen) > 0 && t.Seen[0].Use.Uses > 0 {
		s := t.Seen[0]
		l.Used, l.Board, l.BoardLink, l.Observed = s.portion(), s.Board.Name, observedPath(s.Board.Category), true
	}
	if len(t.Places) == 0 {
		return l
	}
	p := t.Places[0]
	l.Rate, l.Board, l.BoardLink, l.Observed = rateText(p.Standing), p.Board.Name, boardPath(p.Board.Category), false
	if p.Standing.Picks > 0 {
		l.Place = rankFact(p.Board, p.Standing).Value
	}
	return l
}
