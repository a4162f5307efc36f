package propose

import (
	_ "embed"
	"slices"
	"strings"
	"unicode"

	"github.com/firstpick/firstpick/fixtures/catalog"
)

//go:embed terms.txt
var termsFile string

// What terms weigh.
const (
	termStrong = 1.6
	termOther  = 1.5 // of another language
	termWord   = 1.0
	termWeak   = 0.3
	termPrompt = 0.15 // a word of the category's prompts
)

// A term is a phrase that speaks for a category. A word that ends in "*" stands for all that
// begin so; wide terms are compared in text without spaces.
type term struct {
	category string
	words    []string
	wide     string
	weight   float64
}

// A vocabulary holds terms by their first word: exact ones, and those that begin with a
// prefix.
type vocabulary struct {
	exact    map[string][]term
	prefixes map[string][]term // by the first three letters
	wide     []term
}

func newVocabulary(c *catalog.Catalog, prompts func(string) []string) *vocabulary {
	v := &vocabulary{map[string][]term{}, map[string][]term{}, nil}
	weights := map[string]float64{"strong": termStrong, "words": termWord, "weak": termWeak, "other": termOther}
	category := ""
	listed := map[string]bool{}
	for _, l := range strings.Split(termsFile, "\n") {
		if name, ok := strings.CutPrefix(l, "["); ok {
			category = strings.TrimSuffix(name, "]")
			listed[category] = true
			continue
		}
		kind, list, ok := strings.Cut(l, ": ")
		if _, exists := c.Category(category); !ok || weights[kind] == 0 || !exists {
			continue
		}
		for _, text := range strings.Split(list, ", ") {
			v.add(category, text, weights[kind])
		}
	}
	v.describe(c, prompts, listed)
	return v
}

func (v *vocabulary) add(category, text string, weight float64) {
	t := term{category: category, weight: weight}
	if hasWide(text) {
		t.wide = strings.ToLower(text)
		v.wide = append(v.wide, t)
		return
	}
	for _, w := range strings.Fields(text) {
		if !strings.HasSuffix(w, "*") {
			w = stem(w)
		}
		t.words = append(t.words, w)
	}
	if len(t.words) == 0 {
		return
	}
	first := t.words[0]
	if prefix, ok := strings.CutSuffix(first, "*"); ok && len(prefix) >= 3 {
		v.prefixes[prefix[:3]] = append(v.prefixes[prefix[:3]], t)
		return
	}
	v.exact[first] = append(v.exact[first], t)
}

// describe adds what the catalogue itself says: names and summaries of categories that are
// not listed, and words that many prompts of one category and few of others have.
func (v *vocabulary) describe(c *catalog.Catalog, prompts func(string) []string, listed map[string]bool) {
	in := map[string]map[string]int{} // word → category → prompts
	for _, cat := range c.Categories {
		if !listed[cat.Slug] {
			v.add(cat.Slug, strings.Join(words(cat.Name), " "), termStrong)
			for _, w := range words(cat.Name) {
				if len(w) > 3 {
					v.add(cat.Slug, w, termWord)
				}
			}
			for _, w := range words(cat.Summary) {
				if len(w) > 4 {
					v.add(cat.Slug, w, termWeak)
				}
			}
		}
		if prompts == nil {
			continue
		}
		for _, text := range prompts(cat.Slug) {
			all := words(text)
			slices.Sort(all)
			for _, w := range slices.Compact(all) {
				if in[w] == nil {
					in[w] = map[string]int{}
				}
				in[w][cat.Slug]++
			}
		}
	}
	for w, categories := range in {
		if len(w) < 4 || len(categories) > 5 {
			continue
		}
		for slug, n := range categories {
			if n >= 3 {
				v.add(slug, w, termPrompt)
			}
		}
	}
}

// words splits a text into words in lower case, without the s of plurals.
func words(text string) []string {
	out := strings.FieldsFunc(strings.ToLower(text), func(c rune) bool {
		return !unicode.IsLetter(c) && !unicode.IsDigit(c) && !unicode.IsMark(c)
	})
	for i, w := range out {
		out[i] = stem(w)
	}
	return out
}

// stem removes the s of an English plural.
func stem(w string) string {
	switch {
	case len(w) < 4 || strings.HasSuffix(w, "ss") || strings.HasSuffix(w, "us") || strings.HasSuffix(w, "is"):
		return w
	case strings.HasSuffix(w, "ies"):
		return w[:len(w)-3] + "y"
	}
	return strings.TrimSuffix(w, "s")
}

// hasWide reports whether a text has letters of scripts that write no spaces.
func hasWide(text string) bool {
	return strings.IndexFunc(text, func(c rune) bool {
		return unicode.In(c, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
	}) >= 0
}

// match reports whether the words at a position are the term's.
func (t term) match(at []string) bool {
	if len(at) < len(t.words) {
		return false
	}
	for i, w := range t.words {
		if prefix, open := strings.CutSuffix(w, "*"); open && strings.HasPrefix(at[i], prefix) {
			continue
		}
		if w != at[i] {
			return false
		}
	}
	return true
}
