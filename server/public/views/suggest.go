package views

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/fixtures/sorting"
)

// A Suggestion is a page whose name matches the text that is typed into a search.
type Suggestion struct {
	Name  string
	Kind  string // tool, board, agent or comparison
	Note  string // the board of a tool, what kind of board; may be empty
	Path  string
	match int // 0: the name begins with the text; 1: a word of it does; 2: the name contains it
	uses  int // picks and uses, which put the better known tool first
}

// maxOfKind is how many suggestions there are of a kind, so that a common word does not hide the other kinds.
func maxOfKind(kind string) int {
	switch kind {
	case "tool":
		return 5
	case "agent":
		return 4
	}
	return 3
}

// Suggest returns up to n pages whose names have each word of a text, the best match first.
func (r *Renderer) Suggest(text string, n int) []Suggestion {
	words := slices.DeleteFunc(strings.Fields(strings.ToLower(text)), func(w string) bool { return w == "vs" || w == "or" })
	if len(words) == 0 {
		return nil
	}
	var tools, others, pairs []Suggestion
	add := func(to *[]Suggestion, s Suggestion, words []string) {
		var ok bool
		if s.match, ok = match(s.Name, words); ok {
			*to = append(*to, s)
		}
	}
	for _, slug := range slices.Sorted(maps.Keys(r.tools)) {
		if _, ok := match(r.tools[slug].Name, words[:1]); ok {
			add(&tools, r.toolSuggestion(slug), words[:1])
		}
	}
	byMatch := func(a, b Suggestion) int { return cmp.Or(a.match-b.match, b.uses-a.uses) }
	sorting.StableFunc(tools, byMatch)
	for _, t := range tools[:min(len(tools), maxOfKind("comparison"))] {
		for _, l := range r.CompareLinks(strings.TrimPrefix(t.Path, toolPath(""))) {
			add(&pairs, Suggestion{Name: l.Text, Kind: "comparison", Path: l.Path}, words)
		}
	}
	tools = slices.DeleteFunc(tools, func(s Suggestion) bool { _, ok := match(s.Name, words); return !ok })
	for i := range r.in.Boards {
		b := &r.in.Boards[i]
		add(&others, Suggestion{Name: b.Name, Kind: "board", Note: "asked", Path: boardPath(b.Category)}, words)
	}
	for i := range r.in.Observed {
		b := &r.in.Observed[i]
		add(&others, Suggestion{Name: b.Name, Kind: "board", Note: "observed", Path: observedPath(b.Category)}, words)
	}
	for _, slug := range slices.Sorted(maps.Keys(r.agents)) {
		if len(r.agents[slug].Boards) == 0 { // below
			continue
		}
		add(&others, Suggestion{Name: r.agents[slug].Name, Kind: "agent", Path: agentPath(slug)}, words)
	}
	for _, a := range r.codingAgents() {
		add(&others, Suggestion{Name: a.Name, Kind: "agent", Note: "observed", Path: a.Link}, words)
	}
	// A comparison is no better match than its tool, and its tool stands before it.
	sorting.StableFunc(pairs, byMatch)
	all := slices.Concat(tools, others)
	sorting.StableFunc(all, func(a, b Suggestion) int { return a.match - b.match })
	count, out := map[string]int{}, []Suggestion{}
	for _, s := range slices.Concat(all, pairs) {
		if count[s.Kind]++; count[s.Kind] <= maxOfKind(s.Kind) && len(out) < n {
			out = append(out, s)
		}
	}
	return out
}

// SuggestTool returns the suggestion of a tool; ok is false for a tool without a page.
func (r *Renderer) SuggestTool(slug string) (s Suggestion, ok bool) {
	if r.tools[slug] == nil {
		return s, false
	}
	return r.toolSuggestion(slug), true
}

func (r *Renderer) toolSuggestion(slug string) Suggestion {
	t := r.tools[slug]
	s := Suggestion{Name: t.Name, Kind: "tool", Path: toolPath(slug)}
	for _, p := range t.Places {
		s.uses += p.Standing.Picks
	}
	for _, o := range t.Seen {
		s.uses += o.Use.Uses
	}
	s.Note = lineOf(slug, t).Board
	if len(t.Places) > 0 && !t.Places[0].Board.Synthetic {
		p := t.Places[0]
		s.Note += ", asked " + askedPortion(p.Board, slug).Rate
	}
	if len(t.Seen) > 0 && t.Seen[0].Use.Uses > 0 {
		o := t.Seen[0]
		used := usedPortion(o.Board, o.Part, slug)
		if s.Note += ", observed " + used.Rate; used.Interval != "" {
			s.Note += " (" + used.Interval + ")"
		}
	}
	return s
}

// match returns how well a name matches words: by its worst word, the first of which may begin it.
func match(name string, words []string) (worst int, ok bool) {
	name = strings.ToLower(name)
	for i, w := range words {
		at := strings.Index(name, w)
		switch {
		case at < 0:
			return 0, false
		case at == 0 || i > 0 && strings.Contains(name, " "+w):
		case strings.ContainsAny(name[at-1:at], " .-/(") || strings.Contains(name, " "+w):
			worst = max(worst, 1)
		default:
			worst = max(worst, 2)
		}
	}
	return worst, true
}
