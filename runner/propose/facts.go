package propose

import (
	"cmp"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/fixtures/lazyregexp"
	"github.com/firstpick/firstpick/fixtures/sorting"
)

// Facts are what the documents say, before anything is decided.
type facts struct {
	manifests []*manifest
	pages     []named // in the order of their weight
	host      string  // of the site that was read; empty for a folder
	folder    bool
}

// A named is a page with its document's name.
type named struct {
	page
	name string
	main bool // the readme, llms.txt or page of the product itself, not of a part
}

// gather reads the documents.
func gather(docs []Document) *facts {
	f := &facts{}
	for _, d := range docs {
		base := strings.ToLower(d.base())
		if !d.Web && isManifest(base) {
			f.folder = true
			if m := readManifest(d.Name, []byte(clean(d.Text))); m != nil {
				f.manifests = append(f.manifests, m)
			}
			continue
		}
		n := named{page: d.page(), name: d.Name}
		if d.Web {
			u, err := url.Parse(d.Name)
			if err != nil {
				continue
			}
			if f.host == "" {
				f.host = strings.ToLower(u.Hostname())
			}
			n.main = len(f.pages) == 0 || strings.HasSuffix(u.Path, "/llms.txt")
		} else {
			n.main = path.Dir(d.Name) == "." && !strings.HasPrefix(base, "comparison") && !strings.HasPrefix(base, "alternative")
		}
		f.pages = append(f.pages, n)
	}
	depth := func(p string) int { return strings.Count(p, "/") }
	sorting.StableFunc(f.manifests, func(a, b *manifest) int { return cmp.Compare(depth(a.file), depth(b.file)) })
	sorting.StableFunc(f.pages, func(a, b named) int { return cmp.Compare(rankOf(a), rankOf(b)) })
	// Without a page at the root, the next one is the main page.
	if len(f.pages) > 0 && !slices.ContainsFunc(f.pages, func(p named) bool { return p.main }) {
		f.pages[0].main = true
	}
	return f
}

func rankOf(n named) int {
	base := strings.ToLower(path.Base(n.name))
	switch {
	case n.main && (base == "readme.md" || base == "readme"):
		return 0
	case n.main && base != "llms.txt":
		return 1
	case n.main:
		return 2
	}
	stem := strings.TrimSuffix(base, path.Ext(base))
	if slices.Contains([]string{"index", "readme", "introduction", "intro", "overview", "home", "about"}, stem) || strings.HasPrefix(stem, "what-is") {
		return 3
	}
	return 4
}

// heading returns the first heading of a page, or the text of its logo.
func (n named) heading() string {
	for _, b := range n.blocks {
		if b.kind == "h1" {
			return b.text
		}
	}
	return n.logoAlt
}

// statements returns the sentences in which a page says what the product is, the strongest
// first: its description, headings and first paragraphs. Weights are relative.
func (n named) statements() []passage {
	var out []passage
	for _, text := range []string{n.meta["description"], n.meta["og:description"], n.meta["twitter:description"], n.title, n.heading()} {
		out = append(out, passage{text, 1})
	}
	paragraphs := 0
	for i, b := range n.blocks {
		if i > 40 || paragraphs == 2 {
			break
		}
		words := len(strings.Fields(b.text))
		switch {
		case b.kind == "h2" && paragraphs == 0 && i < 4:
			out = append(out, passage{b.text, 1}) // a slogan
		case b.kind == "p" && (words >= 4 || hasWide(b.text)) && !isNoise(b.text):
			paragraphs++
			out = append(out, passage{firstSentences(b.text, 3), 1 / (0.5 + 0.5*float64(paragraphs))})
		}
	}
	return out
}

// instructs reports whether a page addresses a model.
func (n named) instructs() bool {
	return slices.ContainsFunc(n.blocks, func(b block) bool { return b.kind != "code" && instruction.MatchString(b.text) })
}

// noise matches paragraphs of a readme that describe no product.
var noise = lazyregexp.MustCompile(`(?i)^(\[?!\[|table of contents|english\b.*\||note:|warning:|copyright|all rights|we use cookies|accept (all )?cookies|skip to|sign (in|up)$|log ?in$|(this|our) (web)?site uses cookies)`)

func isNoise(text string) bool { return noise.MatchString(text) }

var sentenceEnd = lazyregexp.MustCompile(`[.!?]\s+|[。！？]`)

// sentences splits a paragraph.
func sentences(text string) []string {
	return sentenceEnd.Split(text, -1)
}

func firstSentences(text string, n int) string {
	all := sentenceEnd.FindAllStringIndex(text, n)
	if len(all) < n {
		return text
	}
	return text[:all[n-1][1]]
}

// fields of text, with what they weigh.
const (
	weightHead    = 5.0 // says what the product is
	weightPart    = 2.5 // description of a package of many
	weightHeading = 2.0
	weightBody    = 1.0
)

// A passage is a text with its weight.
type passage struct {
	text   string
	weight float64
}

// passages returns all text that describes the product.
func (f *facts) passages() []passage {
	var out []passage
	add := func(weight float64, texts ...string) {
		for _, t := range texts {
			if t = line(t); t != "" && !instruction.MatchString(t) {
				out = append(out, passage{t, weight})
			}
		}
	}
	for _, m := range f.manifests {
		weight := weightHead
		if strings.Contains(m.file, "/") && len(f.manifests) > 1 {
			weight = weightPart
		}
		add(weight, m.about, strings.Join(m.keywords[:min(len(m.keywords), 20)], " | "))
	}
	for i, p := range f.pages {
		weight := weightPart
		if i == 0 {
			weight = weightHead
			add(weight, p.meta["keywords"])
		} else if p.instructs() {
			continue // a text that gives orders is not evidence
		}
		for _, s := range p.statements() {
			add(weight*s.weight, s.text)
		}
		size := 0
		for _, b := range p.blocks {
			if size += len(b.text); size > maxFileBytes {
				break
			}
			switch b.kind {
			case "code":
			case "p":
				add(weightBody, b.text)
			default:
				add(weightHeading, b.text)
			}
		}
	}
	return out
}
