package propose

import (
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/fixtures/lazyregexp"
)

// An identity is what a product is called.
type identity struct {
	name     string
	keys     []string // folded forms of the names, to recognise its packages and domains
	aliases  []string
	domains  []string
	packages map[catalog.Ecosystem][]string
}

func (f *facts) identity() identity {
	id := identity{aliases: []string{}, domains: []string{}, packages: map[catalog.Ecosystem][]string{}}
	id.name = f.name()
	id.addKey(id.name)
	for _, a := range f.otherNames(id.name) {
		id.aliases = append(id.aliases, a)
		id.addKey(a)
	}
	f.packagesOf(&id)
	f.domainsOf(&id)
	if id.name == "" {
		return id
	}
	id.aliases = slices.DeleteFunc(id.aliases, func(a string) bool { return strings.EqualFold(a, id.name) })
	id.aliases = id.aliases[:min(len(id.aliases), 6)]
	return id
}

func (id *identity) addKey(name string) {
	if k := key(name); len(k) >= 3 && !slices.Contains(id.keys, k) {
		id.keys = append(id.keys, k)
		for _, suffix := range []string{"js", "io", "dev", "app", "ai", "db", "hq", "py", "rs"} {
			dotted := strings.HasSuffix(strings.ToLower(name), "."+suffix)
			if short := strings.TrimSuffix(k, suffix); dotted && len(short) >= 3 {
				id.keys = append(id.keys, short)
			}
		}
	}
}

// owns reports whether a name of a package or host is made of the product's name.
func (id *identity) owns(name string) bool {
	k := key(name)
	return slices.ContainsFunc(id.keys, func(have string) bool {
		return k == have || len(have) >= 4 && strings.Contains(k, have)
	})
}

// generic are headings and names that name no product.
var generic = lazyregexp.MustCompile(`(?i)^(readme|docs?|documentation|introduction|intro|overview|getting started|quick ?start|home|homepage|index|welcome|about( us)?|installation|install|usage|guide|untitled|` +
	`main|app|my-?app|my-?project|project|monorepo|root|workspace|packages?|server|client|core|api|sdk|web|website|frontend|backend|llms?|changelog|features|comparisons?|alternatives|license|contributing|blog|pricing|contact|table of contents|what is this|api reference|user guide)$`)

// separators end a name in a heading: "Acme - payments for all", "Acme: the CRM".
var separators = lazyregexp.MustCompile(`\s+[-–—|·•:»]+\s+|:\s+|\s*[|—–·•]\s*|,\s+|\s+\(`)

// greeting begins headings such as "Welcome to Acme".
var greeting = lazyregexp.MustCompile(`(?i)^(welcome to|introducing|introduction to|about|what is|getting started with|meet|the)\s+|\s+(documentation|docs|readme|sdk documentation|api reference|home ?page|official (site|website))$|\?$`)

// nameIn returns the name at the beginning of a heading or title; empty if it begins without one.
func nameIn(text string) string {
	text = strings.TrimSpace(strings.TrimLeftFunc(text, func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) && c != '@' }))
	for range 2 {
		text = strings.TrimSpace(greeting.ReplaceAllString(text, ""))
	}
	text = strings.TrimFunc(text, func(c rune) bool { return unicode.IsSymbol(c) || unicode.IsSpace(c) })
	whole := validName(text)
	if at := separators.FindStringIndex(text); at != nil && at[0] > 0 {
		whole = validName(text[:at[0]])
	}
	if whole == "" || generic.MatchString(whole) || instruction.MatchString(text) {
		return ""
	}
	return whole
}

// name decides the product's name: of the names in headings and titles the one that a
// package, a domain or another text confirms; else the first.
func (f *facts) name() string {
	shown := f.shownNames()
	var ids []string
	for i, m := range f.manifests {
		if m.display != "" {
			shown = append(shown, nameIn(m.display))
		}
		if i == 0 || !m.private {
			ids = append(ids, packageStems(m)...)
		}
	}
	if d := registrable(f.host); d != "" {
		ids = append(ids, label(d))
	}
	for _, m := range f.manifests {
		for _, h := range m.homepages {
			if d := siteOf(h); d != "" {
				ids = append(ids, label(d))
			}
		}
	}
	shown = slices.DeleteFunc(shown, func(s string) bool { return s == "" })
	for _, s := range shown {
		if slices.ContainsFunc(ids, func(id string) bool { return key(id) == key(s) }) {
			return s
		}
	}
	for i, s := range shown {
		for _, other := range shown[i+1:] {
			if key(other) == key(s) {
				return s
			}
		}
	}
	// A heading that holds the name of the package: "Acme Payments SDK" of acme.
	for _, s := range shown {
		for _, id := range ids {
			if i := slices.IndexFunc(strings.Fields(s), func(w string) bool { return len(id) > 2 && key(w) == key(id) }); i >= 0 {
				return strings.Fields(s)[i]
			}
		}
	}
	for _, s := range shown {
		if name := validName(s); name != "" && !generic.MatchString(name) {
			return name
		}
	}
	for _, s := range ids {
		if name := validName(s); name != "" && !generic.MatchString(name) {
			return f.spelled(name)
		}
	}
	return ""
}

// spelled returns the name of a package as the main texts write it: "Acme" of acme.
func (f *facts) spelled(name string) string {
	for _, p := range f.pages {
		if !p.main {
			continue
		}
		for _, b := range p.blocks {
			if b.kind == "code" || instruction.MatchString(b.text) {
				continue
			}
			for _, w := range strings.Fields(b.text) {
				if w = validName(w); key(w) == key(name) && w != "" {
					return w
				}
			}
		}
	}
	return name
}

// shownNames returns names as people read them, the strongest first.
func (f *facts) shownNames() []string {
	var out []string
	for _, p := range f.pages {
		if !p.main {
			continue
		}
		out = append(out, nameIn(p.meta["og:site_name"]), nameIn(p.meta["application-name"]))
		for _, n := range p.names {
			out = append(out, nameIn(n))
		}
		heading, title := nameIn(p.heading()), nameIn(p.title)
		if ext := strings.ToLower(path.Ext(p.name)); f.host != "" || ext == ".html" || ext == ".htm" { // the first heading of a site is a slogan more often
			out = append(out, title, nameIn(lastPart(p.title)), heading, nameIn(p.logoAlt))
			continue
		}
		out = append(out, heading, nameIn(p.logoAlt), title)
	}
	return out
}

// lastPart returns the part of a title behind the last separator: "Home | Acme".
func lastPart(title string) string {
	all := separators.FindAllStringIndex(title, -1)
	if len(all) == 0 {
		return ""
	}
	return title[all[len(all)-1][1]:]
}

// packageStems returns the names that a package's name may stand for, without what only
// says which kind of package it is.
func packageStems(m *manifest) []string {
	name := m.name
	switch m.eco {
	case catalog.Go:
		parts := strings.Split(name, "/")
		for len(parts) > 1 && majorVersion.MatchString(parts[len(parts)-1]) {
			parts = parts[:len(parts)-1]
		}
		name = parts[len(parts)-1]
	case catalog.Maven:
		_, name, _ = strings.Cut(name, ":")
	case catalog.NPM, catalog.PyPI, catalog.Cargo, catalog.RubyGems, catalog.Composer, catalog.NuGet, catalog.Docker, catalog.System:
	}
	scope, rest, scoped := strings.Cut(strings.TrimPrefix(name, "@"), "/")
	out := []string{}
	if scoped {
		name = rest
		if stem := bareName(rest); stem == "" || generic.MatchString(stem) {
			return append(out, scope)
		}
	}
	out = append(out, name)
	if bare := bareName(name); bare != name && bare != "" {
		out = append(out, bare)
	}
	if scoped {
		out = append(out, scope)
	}
	return out
}

var (
	majorVersion = lazyregexp.MustCompile(`^v\d+$`)
	packageKind  = lazyregexp.MustCompile(`(?i)^(go|python|py|node|php|ruby|rust|lib)[-_]|[-_.](monorepo|workspace|root|mono|repo|sdk|client|api|js|ts|node|python|py|go|golang|rs|rust|ruby|php|java|dotnet|core|cli|server|app|web|website|docs)$`)
)

// bareName removes the kind of package from a name: acme-sdk, acme-monorepo, go-acme.
func bareName(name string) string {
	for range 3 {
		name = packageKind.ReplaceAllString(name, "")
	}
	return path.Base(name)
}

var (
	formerly = lazyregexp.MustCompile(`(?i)\b(?:formerly|previously|also|otherwise|once|originally)\s+(?:known\s+as|called|named)\s+|\b(?:formerly|previously|a\.?k\.?a\.?|née|renamed from|rebranded from|früher|ehemals|anciennement|antes|aussi connu sous le nom de|auch bekannt als|旧称|原名|旧名)[:：]?\s*`)
	// properName is one to three words that begin with capitals or digits.
	properName = lazyregexp.MustCompile("^[\"'“”*_`«]*((?:[\\p{Lu}\\p{Lo}\\d][\\p{L}\\p{N}.+-]*)(?:[ ](?:[\\p{Lu}\\d][\\p{L}\\p{N}.+-]*)){0,2})")
	lowerName  = lazyregexp.MustCompile("^[\"'“”*_`«]+([\\p{L}\\p{N}][\\p{L}\\p{N}.+-]*)[\"'“”*_`»]")
)

// otherNames returns names that the main texts give beside the first: former ones and other
// spellings.
func (f *facts) otherNames(name string) []string {
	var out []string
	add := func(other string) {
		if other = validName(other); other != "" && !generic.MatchString(other) && !strings.EqualFold(other, name) && !slices.Contains(out, other) && len(key(other)) >= 3 {
			out = append(out, other)
		}
	}
	for _, s := range f.shownNames() {
		if key(s) == key(name) && s != name {
			add(s) // LemonSqueezy of Lemon Squeezy
		}
	}
	for _, p := range f.pages {
		if !p.main {
			continue
		}
		for i, b := range p.blocks {
			if i > 60 || b.kind == "code" || instruction.MatchString(b.text) {
				continue
			}
			for _, at := range formerly.FindAllStringIndex(b.text, 3) {
				rest := b.text[at[1]:]
				if m := properName.FindStringSubmatch(rest); m != nil {
					add(m[1])
				} else if m := lowerName.FindStringSubmatch(rest); m != nil {
					add(m[1])
				}
			}
		}
	}
	return out
}
