package propose

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/fixtures/sorting"
)

// Constants of the score. A category is found with one strong term in a description, or with
// two words.
const (
	minScore     = 6.2
	studyFactor  = 0.85 // a category made for a study yields to a general one
	decay        = 0.6  // of each further term of a category
	repeatBonus  = 0.15 // for each doubling of a term's count
	behind       = 0.8  // a term behind a preposition: "an API for payments"
	modifier     = 0.3  // a term before "powered"
	integration  = 0.15 // a term behind "integrates with"
	rivalCompare = 4.0  // a tool that the text compares the product with
	rivalMention = 0.6
	maxShown     = 6 // candidates that are kept
)

// score returns the categories with a score, the best first.
func (r *Reader) score(f *facts, id identity, mentions []mention) []Candidate {
	hits := map[string]map[string]*hit{} // category → term
	for _, p := range f.passages() {
		r.terms.find(withoutNames(p.text, id), p.weight, hits)
	}
	for _, part := range strings.FieldsFunc(id.name, func(c rune) bool { return c == '-' || c == ' ' || c == '_' || c == '.' }) {
		r.terms.find(part, weightHeading, hits)
	}
	out := []Candidate{}
	for _, c := range r.catalog.Categories {
		score := sum(hits[c.Slug]) + rivalScore(c, mentions)
		if c.Study != "" {
			score *= studyFactor
			if !fits(c, id) {
				continue
			}
		}
		if score >= 0.5 {
			out = append(out, Candidate{c.Slug, math.Round(10*score) / 10})
		}
	}
	sorting.StableFunc(out, func(a, b Candidate) int { return cmp.Compare(b.Score, a.Score) })
	return out[:min(len(out), maxShown)]
}

// A hit is the strongest place of a term, and the number of its places.
type hit struct {
	weight float64
	count  int
}

// find adds the terms of a text. A longer term covers the shorter ones inside it.
func (v *vocabulary) find(text string, weight float64, hits map[string]map[string]*hit) {
	add := func(t term, name string, factor float64) {
		if hits[t.category] == nil {
			hits[t.category] = map[string]*hit{}
		}
		h := hits[t.category][name]
		if h == nil {
			h = &hit{}
			hits[t.category][name] = h
		}
		h.weight = max(h.weight, weight*t.weight*factor)
		h.count++
	}
	for _, s := range sentences(text) {
		all := words(s)
		if stuffed(all) {
			continue
		}
		covered := map[string]int{} // category → end of the last term
		for i := range all {
			factor := v.context(all, i)
			if factor == 0 {
				continue
			}
			for _, t := range v.at(all, i) {
				if i < covered[t.category] {
					continue
				}
				covered[t.category] = i + len(t.words)
				// Phrases are clearer than words.
				add(t, strings.Join(t.words, " "), factor*(1+0.15*float64(len(t.words)-1)))
			}
		}
		if len(v.wide) > 0 && hasWide(s) {
			lower := strings.ToLower(s)
			for _, t := range v.wide {
				if strings.Contains(lower, t.wide) {
					add(t, t.wide, 1)
				}
			}
		}
	}
}

// stuffed reports whether a word stands three times in a row: a list for machines, which
// describes nothing.
func stuffed(all []string) bool {
	for i := 2; i < len(all); i++ {
		if all[i] == all[i-1] && all[i] == all[i-2] {
			return true
		}
	}
	return false
}

// at returns the longest term of each category that begins at a position.
func (v *vocabulary) at(all []string, i int) []term {
	var out []term
	longest := map[string]int{}
	consider := func(terms []term) {
		for _, t := range terms {
			if !t.match(all[i:]) {
				continue
			}
			at, ok := longest[t.category]
			switch {
			case !ok:
				longest[t.category] = len(out)
				out = append(out, t)
			case len(t.words) > len(out[at].words) || len(t.words) == len(out[at].words) && t.weight > out[at].weight:
				out[at] = t
			}
		}
	}
	consider(v.exact[all[i]])
	if w := all[i]; len(w) >= 3 {
		consider(v.prefixes[w[:3]])
	}
	return out
}

// context returns the factor of a word for what stands around it: 0 behind a negation, less
// behind a preposition or "integrates with", and before "powered".
func (v *vocabulary) context(all []string, i int) float64 {
	factor := 1.0
	if i+1 < len(all) && slices.Contains([]string{"powered", "based", "native", "driven", "enabled", "assisted", "backed", "basiert", "gestützt"}, all[i+1]) {
		factor = modifier
	}
	for j := i - 1; j >= 0 && j >= i-12; j-- {
		w := all[j]
		near := j >= i-4
		switch {
		case near && slices.Contains([]string{"not", "no", "without", "isn", "never", "replaces", "nor", "kein", "keine", "nicht", "ohne", "sans", "sin"}, w):
			return 0
		case slices.Contains([]string{"integrate", "integrates", "integration", "plugin", "adapter", "connector", "works", "compatible", "alongside", "supports", "powered"}, stemless(w)) && j < i-1 &&
			slices.Contains([]string{"with", "for", "by", "your", "alongside"}, all[j+1]):
			return integration
		case slices.Contains([]string{"for", "with", "on", "using", "via", "across", "atop", "inside", "from", "against", "like", "für", "pour", "para", "per", "mit", "avec", "con", "для"}, w):
			factor = min(factor, behind)
		}
	}
	return factor
}

// stemless restores the forms that stem changes.
func stemless(w string) string {
	switch w {
	case "work", "support":
		return w + "s"
	}
	return w
}

// sum adds the terms of a category, each further one with less weight.
func sum(terms map[string]*hit) float64 {
	var weights []float64
	for _, h := range terms {
		weights = append(weights, h.weight*(1+repeatBonus*min(3, math.Log2(float64(h.count)))))
	}
	sorting.Func(weights, func(a, b float64) int { return cmp.Compare(b, a) })
	total, factor := 0.0, 1.0
	for _, w := range weights {
		total, factor = total+w*factor, factor*decay
	}
	return total
}

// fits reports whether a product publishes in an ecosystem of the tools of a category, or
// nowhere.
func fits(c *catalog.Category, id identity) bool {
	if len(id.packages) == 0 {
		return true
	}
	for eco := range id.packages {
		for _, e := range c.Entries {
			if len(e.Packages[eco]) > 0 {
				return true
			}
		}
	}
	return false
}

// decide returns the category and a confidence from 0 to 1: of a product of the catalogue
// the best of its categories, else the best one if it is clear enough.
func (r *Reader) decide(tool *catalog.Tool, all []Candidate) (string, float64) {
	if tool != nil {
		for _, c := range all {
			if category, ok := r.catalog.Category(c.Category); ok && category.Study == "" {
				if _, in := category.Entry(tool.Slug); in {
					return c.Category, 1
				}
			}
		}
		return tool.Home.Slug, 1
	}
	if len(all) == 0 || all[0].Score < minScore {
		return "", 0
	}
	first, second := all[0].Score, 0.0
	if len(all) > 1 {
		second = all[1].Score
	}
	lead := (first - second) / first
	confidence := (0.35 + 0.65*min(1, 2*lead)) * min(1, first/(2*minScore))
	return all[0].Category, math.Round(100*confidence) / 100
}

// withoutNames removes the product's names from a text: they describe nothing.
func withoutNames(text string, id identity) string {
	for _, n := range append([]string{id.name}, id.aliases...) {
		if len(key(n)) >= 3 {
			text = strings.ReplaceAll(text, n, " ")
		}
	}
	return text
}
