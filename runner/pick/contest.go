package pick

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/runner/pick/prose"
)

// A head is the beginning of a section about one name: a heading, a bold opener, the name of an
// item, the first cell of a row. Heads of one style are siblings.
type head struct{ style, text string }

func headOf(u *prose.Unit) (head, bool) {
	switch {
	case u.Kind == prose.Heading:
		return head{"heading" + strconv.Itoa(u.Level), u.Text}, true
	case u.Kind == prose.Row && len(u.Cells) > 0:
		return head{"row", u.Cells[0]}, true
	case len(u.Bold) > 0 && u.Bold[0].From == 0:
		return head{"bold", u.Text[:u.Bold[0].To]}, true
	case u.Kind == prose.Item:
		for _, end := range []string{":", " – ", " — ", " - ", " → "} {
			if name, _, ok := strings.Cut(u.Text, end); ok && len(name) < maxHead {
				return head{"item", name}, true
			}
		}
	}
	return head{}, false
}

const (
	maxHead        = 30 // bytes of an unknown name
	maxContestants = 32 // of one style
)

// contest finds names that the catalogue does not know among the heads of sections whose
// siblings are rivals.
func (r *reading) contest() *nameIndex {
	rivals := map[string]map[*target]bool{}
	open := map[string][]string{}
	for i := range r.units {
		h, ok := headOf(&r.units[i])
		if !ok {
			continue
		}
		text := strings.TrimFunc(h.text, func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) })
		if _, rest, ok := strings.Cut(text, ". "); ok && len(text)-len(rest) < 5 { // "1. Name"
			text = rest
		}
		tokens := prose.Tokens(text)
		switch found := targetsOf(r.names.find(text, tokens, &r.around)); {
		case len(found) == 1 && !found[0].outside && len(tokens) < 6:
			if rivals[h.style] == nil {
				rivals[h.style] = map[*target]bool{}
			}
			rivals[h.style][found[0]] = true
		case len(found) == 0 && !slices.Contains(open[h.style], text) && (r.names.spelled(text) != nil || r.nameLike(text, tokens)):
			open[h.style] = append(open[h.style], text)
		}
	}
	index := emptyNames()
	for _, style := range slices.Sorted(maps.Keys(open)) {
		names := open[style]
		if len(names) > min(len(rivals[style]), maxContestants) {
			continue
		}
		for _, name := range names {
			t := r.names.spelled(name) // it wants a context: here it is
			if t == nil {
				t = &target{slug: nameSlug(name), outside: true, contestant: true}
			}
			index.add(t, catalog.Alias{Text: name, Exact: true})
		}
	}
	index.longestFirst()
	return index
}

// nameLike reports whether a text may be the name of a product: up to three words, the first
// with a capital, and no words of the language. A German noun has a capital too.
func (r *reading) nameLike(text string, tokens []prose.Token) bool {
	first, size := utf8.DecodeRuneInString(text)
	if len(tokens) == 0 || len(tokens) > 3 || len(text) > maxHead || !unicode.IsUpper(first) || !unicode.Is(unicode.Latin, first) {
		return false
	}
	if _, label := r.labelOf(text); label || r.language == "de" && strings.ToLower(text[size:]) == text[size:] {
		return false
	}
	for _, t := range tokens {
		if !t.Word || common()[t.Key] || r.around.says(t.Key) || r.has(prose.Common, t.Key) || r.has(prose.Verb, t.Key) {
			return false
		}
	}
	return true
}

// find returns the names in a sentence: those of the catalogue, then contestants.
func (r *reading) find(text string, tokens []prose.Token) []mention {
	out := r.names.find(text, tokens, &r.around)
	if r.contestants == nil {
		return out
	}
	taken := make([]bool, len(tokens))
	for _, m := range out {
		for i := m.from; i < m.to; i++ {
			taken[i] = true
		}
	}
	for _, m := range r.contestants.find(text, tokens, &r.around) {
		if free := slices.Index(taken[m.from:m.to], true); free != 0 {
			if free > 0 {
				m.to = m.from + free // "Hyperpay's Stripe connector"
			}
			out = append(out, m)
		}
	}
	return out
}
