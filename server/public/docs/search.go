package docs

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"

	"github.com/firstpick/firstpick/fixtures/sorting"
)

// A part is the text below one heading, or a line of a table with an anchor: the
// unit that the search finds.
type part struct {
	id, title   string
	text        string
	lower       string         // text, folded
	heading     map[string]int // words of page and heading titles
	words       map[string]int
	description bool // it is the beginning of its page
}

// split returns the headings of a document and its parts. The text before the
// first heading belongs to the page itself.
func split(doc ast.Node, source []byte) ([]Heading, []part) {
	var headings []Heading
	parts, rows := []part{{description: true}}, []part(nil)
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		if h, ok := n.(*ast.Heading); ok {
			title := nodeText(h, source)
			if h.Level > 1 {
				headings = append(headings, Heading{h.Level, idOf(h), title})
				parts = append(parts, part{id: idOf(h), title: title})
			}
			continue
		}
		p := &parts[len(parts)-1]
		p.text = strings.TrimSpace(p.text + " " + nodeText(n, source))
		rows = append(rows, rowsOf(n, source)...)
	}
	parts = append(parts, rows...)
	for i := range parts {
		p := &parts[i]
		p.lower = strings.ToLower(p.text)
		p.words, p.heading = count(p.text), count(p.title)
	}
	return headings, parts
}

// rowsOf returns the lines of a table that can be linked to; their titles are
// their first cells.
func rowsOf(table ast.Node, source []byte) []part {
	if table.Kind() != east.KindTable {
		return nil
	}
	var out []part
	for row := table.FirstChild(); row != nil; row = row.NextSibling() {
		first := row.FirstChild()
		if first == nil || first.FirstChild() == nil {
			continue
		}
		if raw, ok := first.FirstChild().(*ast.RawHTML); ok {
			if m := anchor.FindSubmatch(raw.Segments.Value(source)); m != nil {
				out = append(out, part{id: string(m[1]), title: nodeText(first, source), text: nodeText(row, source)})
			}
		}
	}
	return out
}

func count(s string) map[string]int {
	out := map[string]int{}
	for _, w := range words(s) {
		out[w]++
	}
	return out
}

// words returns the words of a text, folded. What names are made of holds together and
// counts by its parts too: rate_limited is rate_limited, rate and limited.
func words(s string) []string {
	var out []string
	for _, w := range strings.FieldsFunc(strings.ToLower(s), func(c rune) bool {
		return !unicode.IsLetter(c) && !unicode.IsDigit(c) && c != '_' && c != '-'
	}) {
		w = strings.Trim(w, "-_")
		if w == "" {
			continue
		}
		out = append(out, w)
		if pieces := strings.FieldsFunc(w, func(c rune) bool { return c == '-' || c == '_' }); len(pieces) > 1 {
			out = append(out, pieces...)
		}
	}
	return out
}

// The bounds of a search.
const (
	maxQuery   = 200 // bytes that are looked at
	maxWords   = 8
	maxResults = 20
	maxOfPage  = 3   // results on one page
	excerpt    = 160 // characters of text around a match
)

// A Result is a part of a page in which something was found.
type Result struct {
	Title    string `json:"title"`   // of the page
	Heading  string `json:"heading"` // empty for the beginning of the page
	Path     string `json:"path"`    // with the anchor
	Markdown string `json:"markdown"`
	Excerpt  string `json:"excerpt"`
}

// A hit is a part with some words of a query.
type hit struct {
	page  *Page
	part  *part
	found int
	score float64
}

// Search returns the parts that hold all words of a query, the best first; where none
// does, those that hold some. A word in a title counts more than one in the text, and
// the beginning of a word counts a little. Pages to follow come before pages to look
// things up in.
func (s *Set) Search(query string) []Result {
	wanted := queryWords(query)
	var all, some []hit
	for _, p := range s.Pages {
		weight := p.weight()
		for i := range p.parts {
			h := p.look(&p.parts[i], wanted)
			h.score *= weight
			switch {
			case h.found == 0:
			case h.found == len(wanted):
				all = append(all, h)
			default:
				h.score *= float64(h.found) / float64(len(wanted))
				some = append(some, h)
			}
		}
	}
	if len(all) == 0 {
		all = some
	}
	sorting.StableFunc(all, func(a, b hit) int { return cmp.Compare(b.score, a.score) })
	out, of := []Result{}, map[*Page]int{}
	for _, h := range all {
		if of[h.page]++; of[h.page] > maxOfPage || len(out) == maxResults {
			continue
		}
		r := Result{Title: h.page.Title, Heading: h.part.title, Path: h.page.Path, Markdown: h.page.Path + ".md", Excerpt: h.part.excerpt(wanted)}
		if h.part.id != "" {
			r.Path, r.Markdown = r.Path+"#"+h.part.id, r.Markdown+"#"+h.part.id
		}
		out = append(out, r)
	}
	return out
}

// weight says how likely a page is what somebody looks for who typed words: a task
// rather than a type of the API, and the changelog last.
func (p *Page) weight() float64 {
	switch {
	case p.Path == "/docs/changelog":
		return 0.4
	case strings.HasPrefix(p.Path, "/docs/api/"):
		return 0.5
	case p.Path == "/docs", strings.HasPrefix(p.Path, "/setup/"):
		return 0.8
	case p.group == "tutorial", p.group == "how-to":
		return 1.3
	}
	return 1
}

func queryWords(query string) []string {
	if len(query) > maxQuery {
		query = strings.ToValidUTF8(query[:maxQuery], "")
	}
	var out []string
	for _, w := range words(query) {
		if !slices.Contains(out, w) && len(out) < maxWords {
			out = append(out, w)
		}
	}
	return out
}

// look scores a part, and counts its words of the query.
func (p *Page) look(t *part, wanted []string) hit {
	h := hit{page: p, part: t}
	for _, w := range wanted {
		got := 4 * holds(p.words, w)
		if t.description {
			got = 2*got + 6*holds(p.keywords, w)
		}
		got += 6 * holds(t.heading, w)
		if n := t.words[w]; n > 0 {
			got += 1 + min(float64(n), 5)/5
		} else if got == 0 && utf8.RuneCountInString(w) > 2 && strings.Contains(t.lower, w) {
			got = 0.5
		}
		if got > 0 {
			h.found++
		}
		h.score += got
	}
	if len(wanted) > 0 && slices.Equal(words(t.title), wanted) {
		h.score += 8 // it is what was typed
	}
	return h
}

// holds says how much a title has a word: 1 for the word, less for one that begins so.
func holds(title map[string]int, w string) float64 {
	if title[w] > 0 {
		return 1
	}
	for have := range title {
		if len(w) > 2 && strings.HasPrefix(have, w) {
			return 0.5
		}
	}
	return 0
}
