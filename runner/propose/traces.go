package propose

import (
	"net/url"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/fixtures/lazyregexp"
)

// maxPackages is the most packages of an ecosystem, and maxDomains the most domains, that a
// proposal has.
const (
	maxPackages = 12
	maxDomains  = 4
)

// packagesOf adds the packages that the product publishes: those of its manifests, and those
// that its texts install and that bear its name.
func (f *facts) packagesOf(id *identity) {
	for i, m := range f.manifests {
		name := validPackage(m.name)
		own := i == 0 || id.owns(m.name) || sameScope(f.manifests, m)
		if name == "" || m.private || !own || generic.MatchString(name) {
			continue
		}
		id.addPackage(m.eco, name)
	}
	for _, p := range f.pages {
		for _, b := range p.blocks {
			for _, found := range installed(b.text) {
				if id.bears(found) {
					id.addPackage(found.eco, found.name)
				}
			}
		}
	}
}

func (id *identity) addPackage(eco catalog.Ecosystem, name string) {
	have := id.packages[eco]
	same := func(p string) bool { return catalog.PackageKey(eco, p) == catalog.PackageKey(eco, name) }
	if len(have) < maxPackages && !slices.ContainsFunc(have, same) {
		id.packages[eco] = append(have, name)
	}
}

// bears reports whether a package has the product's name, but for the kind of package, or
// the product's scope: acme-sdk, @acme/react.
func (id *identity) bears(p installs) bool {
	return slices.ContainsFunc(packageStems(&manifest{eco: p.eco, name: p.name}), func(stem string) bool {
		return slices.Contains(id.keys, key(stem))
	})
}

// sameScope reports whether an npm or Composer package has the scope of the first manifest
// that has one.
func sameScope(all []*manifest, m *manifest) bool {
	scope, _, ok := strings.Cut(m.name, "/")
	if !ok || m.eco != catalog.NPM && m.eco != catalog.Composer {
		return false
	}
	for _, other := range all {
		if s, _, ok := strings.Cut(other.name, "/"); ok && other.eco == m.eco {
			return s == scope
		}
	}
	return false
}

// An installs is a package that a command installs.
type installs struct {
	eco  catalog.Ecosystem
	name string
}

var installCommand = lazyregexp.MustCompile(`(?:^|[\s$>` + "`" + `])(npm (?:i|install|add)|yarn add|pnpm (?:add|i|install)|bun (?:add|install)|(?:uv )?pip3? install|uv add|poetry add|pdm add|cargo (?:add|install)|go (?:get|install)|gem install|bundle add|composer require|dotnet add package)((?: +[^\s;&|` + "`" + `]+){1,6})`)

func installed(text string) []installs {
	var out []installs
	for _, m := range installCommand.FindAllStringSubmatch(text, 50) {
		eco := ecosystemOf(m[1])
		for _, word := range strings.Fields(m[2]) {
			name := packageVersion.ReplaceAllString(strings.Trim(word, `"',.:)`), "")
			if name = validPackage(name); name != "" && !strings.HasPrefix(word, "-") && (eco != catalog.Go || strings.Contains(name, ".")) {
				if eco == catalog.Go {
					name = strings.TrimSuffix(name, "/...")
				}
				out = append(out, installs{eco, name})
			}
		}
	}
	return out
}

// packageVersion matches versions and extras behind the name: acme@2, acme[all]>=1.
var packageVersion = lazyregexp.MustCompile(`(?:\[[^\]]*\])?(?:[=<>~!^].*)?$|(.)@[^/]*$`)

func ecosystemOf(command string) catalog.Ecosystem {
	switch first, _, _ := strings.Cut(command, " "); first {
	case "npm", "yarn", "pnpm", "bun":
		return catalog.NPM
	case "cargo":
		return catalog.Cargo
	case "go":
		return catalog.Go
	case "gem", "bundle":
		return catalog.RubyGems
	case "composer":
		return catalog.Composer
	case "dotnet":
		return catalog.NuGet
	}
	return catalog.PyPI
}

// domainsOf adds the product's domains: of the site that was read, of the homepages of its
// manifests, and of links that bear its name.
func (f *facts) domainsOf(id *identity) {
	add := func(d string) {
		if d != "" && !slices.Contains(id.domains, d) && len(id.domains) < maxDomains {
			id.domains = append(id.domains, d)
		}
	}
	if f.host != "" {
		add(siteOf("https://" + f.host))
		id.addKey(label(registrable(f.host)))
	}
	for _, m := range f.manifests {
		if strings.Contains(m.file, "/") && !id.owns(m.name) {
			continue
		}
		for _, h := range m.homepages {
			add(siteOf(h))
		}
		if host, _, ok := strings.Cut(m.name, "/"); ok && m.eco == catalog.Go {
			add(siteOf("https://" + host))
		}
	}
	for _, p := range f.pages {
		for _, l := range p.links {
			if d := siteOf(l.href); d != "" && id.named(label(d)) {
				add(d)
			}
		}
	}
}

// named reports whether the first part of a domain is the product's name, but for words
// that vendors put around a name that is taken.
func (id *identity) named(label string) bool {
	k := key(label)
	for _, have := range id.keys {
		rest, ok := strings.CutPrefix(k, have)
		if !ok {
			rest, ok = strings.CutSuffix(k, have)
		}
		if ok && slices.Contains([]string{"", "get", "use", "try", "go", "join", "with", "my", "app", "hq", "io", "js", "dev", "labs", "inc", "api", "cloud", "team", "the", "db", "ai", "docs", "sdk"}, rest) {
			return true
		}
	}
	return false
}

// siteOf returns the domain of an address that can be a product's; empty for hosts of code,
// packages, documents and people.
func siteOf(address string) string {
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil || u.Scheme != "https" && u.Scheme != "http" {
		return ""
	}
	d := registrable(u.Hostname())
	if d == "" || len(d) > MaxName || shared(d) || strings.IndexFunc(d, func(c rune) bool { return c > '~' }) >= 0 {
		return ""
	}
	return d
}

// label returns the part of a domain before its public suffix.
func label(domain string) string {
	first, _, _ := strings.Cut(domain, ".")
	return first
}

// shared reports whether a domain serves the pages of many products.
func shared(domain string) bool {
	return slices.Contains(strings.Fields("github.com gitlab.com bitbucket.org codeberg.org sourceforge.net sr.ht npmjs.com npmjs.org npm.im jsr.io pypi.org pythonhosted.org "+
		"crates.io docs.rs lib.rs go.dev golang.org godoc.org rubygems.org rubydoc.info packagist.org nuget.org maven.org mvnrepository.com docker.com sonatype.com sonatype.org "+
		"readthedocs.io readthedocs.org rtfd.io gitbook.io notion.site shields.io badge.fury.io fury.io badgen.net codecov.io coveralls.io travis-ci.org travis-ci.com circleci.com snyk.io "+
		"discord.gg discord.com slack.com t.me twitter.com x.com linkedin.com facebook.com youtube.com youtu.be reddit.com medium.com dev.to stackoverflow.com wikipedia.org "+
		"opensource.org apache.org gnu.org creativecommons.org spdx.org choosealicense.com unpkg.com jsdelivr.net google.com apple.com microsoft.com amazon.com githubusercontent.com "+
		"example.com example.org example.net opencollective.com patreon.com vercel.com netlify.com heroku.com gopkg.in bit.ly producthunt.com"), domain)
}
