package pick

import (
	"slices"
	"strings"
	"unicode"

	"github.com/firstpick/firstpick/fixtures/inert"
)

const (
	// mostName is the most bytes of a valid name, mostKept those that Clean keeps: a publisher
	// finds a whole secret in a name before it cuts further.
	mostName = 200
	mostKept = 1000
)

// ValidName reports whether s can name a tool, package or product in a result: 1 to 200
// bytes with a letter or digit, without commas, which separate names in stored lists, and
// without invisible characters.
func ValidName(s string) bool {
	return len(s) <= mostName && clean(s) == s && strings.ContainsFunc(s, func(c rune) bool { return unicode.IsLetter(c) || unicode.IsDigit(c) })
}

// Clean returns a result whose names have no commas and invisible characters, and at most
// 1000 bytes. Results in journals of earlier imports have names of any kind. Every reader
// of trials cleans them, so that all see the same names.
func (r Result) Clean() Result {
	r.Picked, r.Say, r.FirstNamed = clean(r.Picked), clean(r.Say), clean(r.FirstNamed)
	r.Shortlist, r.Rejected = cleanAll(r.Shortlist), cleanAll(r.Rejected)
	return r
}

func clean(s string) string {
	plain := func(c rune) bool { return c > ' ' && c < 0x7f && c != ',' }
	if len(s) <= mostKept && strings.IndexFunc(s, func(c rune) bool { return !plain(c) }) < 0 {
		return s
	}
	s = strings.TrimSpace(inert.Line(strings.ReplaceAll(s, ",", " ")))
	if len(s) > mostKept {
		s = strings.TrimSpace(strings.ToValidUTF8(s[:mostKept], ""))
	}
	return s
}

// cleanAll cleans a sorted list without duplicates.
func cleanAll(list []string) []string {
	if !slices.ContainsFunc(list, func(s string) bool { return s == "" || clean(s) != s }) {
		return list
	}
	out := make([]string, 0, len(list))
	for _, s := range list {
		if s = clean(s); s != "" {
			out = append(out, s)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
