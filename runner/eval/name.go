package eval

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/firstpick/firstpick/fixtures/catalog"
)

// A name is a text by which a prompt names a product.
type name struct {
	// text is in lower case unless exact is set.
	text string
	// exact demands the case as written.
	exact bool
	// beside are the characters, besides letters and digits, that continue a name.
	beside string
	// require must match somewhere in the text, unless it is nil.
	require *regexp.Regexp
	// code demands backticks, or the word "install" in front: the name is an ordinary
	// word too.
	code bool
}

// aliasesOf returns the names of a product in prose. A word of every day in lower case,
// such as "requests", counts only in the context that the catalogue demands. Other
// conditions are ignored: an ambiguous name is better left out of a prompt.
func aliasesOf(t catalog.Traces) (names []name) {
	for _, a := range t.Aliases {
		n := name{text: a.Text, exact: a.Exact}
		if lower := strings.ToLower(a.Text); !a.Exact {
			n.text = lower
		} else if a.Text == lower && ordinary(a.Text) {
			n.require = a.Require
		}
		names = append(names, n)
	}
	return names
}

// namesOf returns the names of a product: aliases, packages, API hosts and domains.
func namesOf(t catalog.Traces, domains []string) []name {
	names := aliasesOf(t)
	for _, packages := range t.Packages {
		for _, p := range packages {
			names = append(names, name{text: p, exact: true, beside: "-_/@", code: ordinary(p)})
		}
	}
	for _, host := range append(domains[:len(domains):len(domains)], t.Hosts...) {
		names = append(names, name{text: strings.ToLower(host), beside: "-"})
	}
	return names
}

// ordinary reports whether a package's name can be a word of a sentence.
func ordinary(name string) bool {
	return strings.IndexFunc(name, func(r rune) bool { return !unicode.IsLetter(r) }) < 0
}

// find returns the first place of the name in a text, as written there; empty if the
// text does not have it. lower is the text in lower case.
func (n name) find(text, lower string) string {
	in := text
	if !n.exact {
		in = lower
	}
	if n.text == "" || !strings.Contains(in, n.text) || n.require != nil && !n.require.MatchString(text) {
		return ""
	}
	for from := 0; ; {
		i := strings.Index(in[from:], n.text)
		if i < 0 {
			return ""
		}
		at, end := from+i, from+i+len(n.text)
		if n.alone(in, at, end) {
			if len(in) == len(text) {
				return text[at:end]
			}
			return n.text
		}
		from = end
	}
}

// alone reports whether the name at text[at:end] is not a part of a longer one.
func (n name) alone(text string, at, end int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:at])
	after, _ := utf8.DecodeRuneInString(text[end:])
	for _, r := range []rune{before, after} {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune(n.beside, r) {
			return false
		}
	}
	return !n.code || before == '`' && after == '`' || strings.HasSuffix(strings.ToLower(text[:at]), "install ")
}
