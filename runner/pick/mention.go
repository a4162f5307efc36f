package pick

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/firstpick/firstpick/fixtures/catalog"
)

// A mention is one place in a sentence that names a target.
type mention struct {
	target     *target
	start, end int // bytes of the sentence
}

// mentions finds every target that a sentence names. Of overlapping names the longer one
// wins, and of equal names the rival.
func (x *Extractor) mentions(s sentence) []mention {
	lower := strings.ToLower(s.text)
	if len(lower) != len(s.text) { // folding moved bytes: compare case-sensitively
		lower = s.text
	}
	var found []mention
	for _, t := range x.targets {
		for _, a := range t.Aliases {
			found = append(found, occurrences(t, a, s, lower)...)
		}
	}
	slices.SortStableFunc(found, func(a, b mention) int {
		return cmp.Or(cmp.Compare(b.end-b.start, a.end-a.start), cmp.Compare(a.start, b.start))
	})
	var out []mention
	for _, m := range found {
		overlaps := slices.ContainsFunc(out, func(o mention) bool { return m.start < o.end && o.start < m.end })
		if !overlaps {
			out = append(out, m)
		}
	}
	slices.SortFunc(out, func(a, b mention) int { return cmp.Compare(a.start, b.start) })
	return out
}

func occurrences(t *target, a catalog.Alias, s sentence, lower string) []mention {
	text, want := lower, strings.ToLower(a.Text)
	if a.Exact {
		text, want = s.text, a.Text
	}
	var out []mention
	for from := 0; want != ""; {
		i := strings.Index(text[from:], want)
		if i < 0 {
			break
		}
		start, end := from+i, from+i+len(want)
		from = start + 1
		if !wholeWord(s.text, start, end) {
			continue
		}
		if len(out) == 0 && (a.Require != nil && !s.paragraph.has(a.Require) || a.Forbid != nil && a.Forbid.MatchString(s.text)) {
			break
		}
		out = append(out, mention{t, start, end})
	}
	return out
}

// wholeWord reports whether no letter or digit touches the range. A dash or a
// slash on the left makes it another word: "pre-square", "@acme/stripe".
func wholeWord(s string, start, end int) bool {
	before, _ := utf8.DecodeLastRuneInString(s[:start])
	after, _ := utf8.DecodeRuneInString(s[end:])
	word := func(r rune) bool {
		return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_')
	}
	return !word(before) && !word(after) && before != '-' && before != '/'
}
