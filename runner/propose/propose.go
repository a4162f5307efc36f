// Package propose reads a product from its folder or its site and proposes how to measure
// it: its names, its category and rivals, an entry of the catalogue, unbranded prompts and
// agents. What it reads is data of others: it is bounded, cleaned, and changes nothing but
// the facts below.
package propose

import (
	"github.com/firstpick/firstpick/fixtures/catalog"
)

// A Product is what was found. Every text in it is valid: names have letters, digits and
// few marks, at most MaxName characters.
type Product struct {
	Name    string   `json:"name"`
	Slug    string   `json:"slug"`
	Aliases []string `json:"aliases"`
	Domains []string `json:"domains"`
	// Packages are those that the product publishes.
	Packages map[catalog.Ecosystem][]string `json:"packages"`
	// Known is the slug of the product in the catalogue; empty if the catalogue lacks it.
	Known string `json:"known"`
	// Category is the first of Candidates; empty if no category was found.
	Category   string      `json:"category"`
	Confidence float64     `json:"confidence"`
	Candidates []Candidate `json:"candidates"`
	// Rivals are the slugs of the tools of the category, those that the texts name first.
	// The first Named of them are named.
	Rivals []string `json:"rivals"`
	Named  int      `json:"named"`
	// About are the first sentences of the texts, without the names of the product; it is
	// text of others, bounded and cleaned.
	About string `json:"about"`
	// Read are the files or addresses that were read.
	Read []string `json:"read"`
}

// A Candidate is a category with its score. Scores compare categories of one product; they
// are not probabilities.
type Candidate struct {
	Category string  `json:"category"`
	Score    float64 `json:"score"`
}

// MaxName is the longest name of a product, in characters.
const MaxName = 80

// A Reader finds products. It is safe for concurrent use.
type Reader struct {
	catalog *catalog.Catalog
	terms   *vocabulary
}

// NewReader prepares a reader for a catalogue. prompts returns the texts of a category's
// built-in prompts; nil if absent.
func NewReader(c *catalog.Catalog, prompts func(category string) []string) *Reader {
	return &Reader{c, newVocabulary(c, prompts)}
}

// Find returns the product that documents describe. category overrides the found one; empty
// to find it.
func (r *Reader) Find(docs []Document, category string) Product {
	f := gather(docs)
	id := f.identity()
	p := Product{
		Name: id.name, Aliases: id.aliases, Domains: id.domains, Packages: id.packages,
		Candidates: []Candidate{}, Rivals: []string{}, About: f.about(id),
	}
	for _, d := range docs {
		p.Read = append(p.Read, validPath(d.Name))
	}
	mentions := r.mentions(f, id)
	p.Candidates = r.score(f, id, mentions)
	tool := r.known(id, p.Candidates)
	p.Category, p.Confidence = r.decide(tool, p.Candidates)
	if category != "" {
		p.Category, p.Confidence = category, 1
	}
	if tool != nil {
		p.Known, p.Name, p.Slug = tool.Slug, tool.Name, tool.Slug
	} else {
		p.Slug = r.slug(id)
	}
	if c, ok := r.catalog.Category(p.Category); ok {
		p.Rivals, p.Named = rivals(c, p.Known, mentions)
	}
	return p
}
