package propose

import (
	"cmp"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/fixtures/lazyregexp"
	"github.com/firstpick/firstpick/fixtures/sorting"
)

// A mention is a tool of the catalogue that the texts name.
type mention struct {
	category, slug string
	compared       bool // as an alternative
	order          int  // of the first place
}

// maxScanned is the text that is searched for tools, in bytes.
const maxScanned = 200 << 10

// compared matches sentences that set the product beside others.
var compared = lazyregexp.MustCompile(`(?i)\b(alternatives?|versus|vs\.?|compar(ed|ison|isons|e|ing|able)|competitors?|instead of|unlike|migrat(e|es|ing|ion)|switch(ed|ing)? from|replace(s|ment|ments)?|drop-?in|similar to|inspired by|` +
	`better than|faster than|cheaper than|rather than|differs? from|alternativen?|vergleich\w*|im gegensatz zu|comparaison|contrairement à|remplace|alternativas?|comparación|comparação|en lugar de|reemplazo|альтернатив\w*|сравнени\w*)\b|代替|比較|替代|对比|대안|비교`)

// mentions returns the tools that the texts name, with their conditions, but the product
// itself.
func (r *Reader) mentions(f *facts, id identity) []mention {
	var b strings.Builder
	under := false // a heading of a comparison
	for _, p := range f.pages {
		under = under && !p.main || compared.MatchString(p.name)
		for _, bl := range p.blocks {
			if b.Len() > maxScanned || instruction.MatchString(bl.text) {
				continue
			}
			if strings.HasPrefix(bl.kind, "h") {
				under = compared.MatchString(bl.text) || compared.MatchString(p.name)
			}
			if bl.kind == "code" {
				continue
			}
			mark := "\x02"
			if under {
				mark = "\x03"
			}
			b.WriteString(mark + " " + bl.text + "\n\n")
		}
	}
	for _, m := range f.manifests {
		if m.about != "" && !instruction.MatchString(m.about) {
			b.WriteString("\x02 " + line(m.about) + "\n\n")
		}
	}
	text := b.String()
	lines := strings.Split(text, "\n")
	var out []mention
	for i, found := range r.catalog.Recognize(text) {
		if found.Unmet != "" || found.Owner.Role != catalog.RoleTool || found.Kind != catalog.ByAlias || found.Line > len(lines) {
			continue
		}
		if slices.Contains(id.keys, key(found.Owner.Name)) || slices.Contains(id.keys, key(found.Text)) {
			continue
		}
		at := lines[found.Line-1]
		isCompared := strings.HasPrefix(at, "\x03") || slices.ContainsFunc(sentences(at), func(s string) bool {
			return strings.Contains(s, found.Text) && compared.MatchString(s)
		})
		j := slices.IndexFunc(out, func(m mention) bool { return m.category == found.Owner.Category && m.slug == found.Owner.Slug })
		if j < 0 {
			out = append(out, mention{found.Owner.Category, found.Owner.Slug, isCompared, i})
		} else {
			out[j].compared = out[j].compared || isCompared
		}
	}
	sorting.StableFunc(out, func(a, b mention) int {
		if a.compared != b.compared {
			return map[bool]int{true: -1, false: 1}[a.compared]
		}
		return cmp.Compare(a.order, b.order)
	})
	return out
}

// rivalScore returns what the mentions of a category's tools say for it.
func rivalScore(c *catalog.Category, mentions []mention) float64 {
	total, strong, weak := 0.0, 1.0, 1.0
	for _, m := range mentions {
		if m.category != c.Slug {
			continue
		}
		home := 1.0
		if e, ok := c.Entry(m.slug); ok && e.Tool.Home != c {
			home = 0.7
		}
		if m.compared {
			total, strong = total+rivalCompare*home*strong, strong*decay
		} else {
			total, weak = total+rivalMention*home*weak, weak*decay
		}
	}
	return total
}

// rivals returns the tools of a category but one, those that the texts name first, and the
// number of these.
func rivals(c *catalog.Category, but string, mentions []mention) (slugs []string, named int) {
	add := func(slug string) {
		if slug != but && !slices.Contains(slugs, slug) {
			slugs = append(slugs, slug)
		}
	}
	for _, m := range mentions {
		if m.category == c.Slug {
			add(m.slug)
		}
	}
	named = len(slugs)
	for _, e := range c.Entries {
		add(e.Tool.Slug)
	}
	return slugs, named
}

// known returns the tool of the catalogue that the product is: by a package or a domain, or
// by its name in the category that the texts show, if nothing contradicts.
func (r *Reader) known(id identity, candidates []Candidate) *catalog.Tool {
	index := r.catalog.Index()
	for _, eco := range catalog.Ecosystems() {
		for _, p := range id.packages[eco] {
			if ref, kind, ok := index.LookupKind(string(eco) + ":" + p); ok && kind == catalog.ByPackage && id.owns(ref.Name) {
				return r.tool(ref.Slug)
			}
		}
	}
	for _, d := range id.domains {
		if ref, kind, ok := index.LookupKind(d); ok && kind == catalog.ByDomain && id.owns(ref.Name) {
			return r.tool(ref.Slug)
		}
	}
	ref, ok := index.Lookup(id.name)
	if !ok || len(candidates) == 0 || key(ref.Name) != key(id.name) {
		return nil
	}
	if tool := r.tool(ref.Slug); tool != nil && slices.Contains(ref.Categories, candidates[0].Category) && len(id.packages) == 0 && len(id.domains) == 0 {
		return tool
	}
	return nil
}

func (r *Reader) tool(slug string) *catalog.Tool {
	i := slices.IndexFunc(r.catalog.Tools, func(t *catalog.Tool) bool { return t.Slug == slug })
	if i < 0 {
		return nil
	}
	return r.catalog.Tools[i]
}
