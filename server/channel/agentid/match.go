package agentid

import (
	"slices"
	"strings"
)

// shortest is the least length of a token in bytes: tokens are found by their
// first three.
const shortest = 3

// A matcher finds the longest of many tokens in a string, in one pass over it.
type matcher struct {
	tokens []token
	pairs  [1 << 16]bool     // first two bytes of a token
	by     map[[3]byte][]int // first three, and the tokens that start so, longest first
	exact  map[string]int    // tokens that are the whole string
}

type token struct {
	text  string
	start bool // only at the start of the string
	word  bool // no letter or digit before it
	row   int
}

// newMatcher builds a matcher. A word matcher accepts a token only if no letter or digit
// precedes it.
func newMatcher(patterns []string, word bool) *matcher {
	m := &matcher{by: map[[3]byte][]int{}, exact: map[string]int{}}
	for row, p := range patterns {
		if whole, ok := strings.CutPrefix(p, "="); ok {
			m.exact[whole] = row
			continue
		}
		text, start := strings.CutPrefix(p, "^")
		if len(text) < shortest {
			continue
		}
		key := [3]byte([]byte(text[:3]))
		m.pairs[int(key[0])<<8|int(key[1])] = true
		m.by[key] = append(m.by[key], len(m.tokens))
		m.tokens = append(m.tokens, token{text: text, start: start, word: word, row: row})
	}
	for _, list := range m.by {
		slices.SortStableFunc(list, func(a, b int) int { return len(m.tokens[b].text) - len(m.tokens[a].text) })
	}
	return m
}

// longest returns the row of the longest token in s, the first of equals, or -1.
func (m *matcher) longest(s string) int {
	if row, ok := m.exact[s]; ok {
		return row
	}
	row, best := -1, 0
	for i := 0; i+shortest <= len(s); i++ {
		if !m.pairs[int(s[i])<<8|int(s[i+1])] {
			continue
		}
		for _, n := range m.by[[3]byte{s[i], s[i+1], s[i+2]}] {
			t := &m.tokens[n]
			if len(t.text) <= best {
				break
			}
			if t.fits(s, i) {
				row, best = t.row, len(t.text)
				break
			}
		}
	}
	return row
}

func (t *token) fits(s string, i int) bool {
	if t.start && i > 0 || t.word && i > 0 && alphanumeric(s[i-1]) {
		return false
	}
	return strings.HasPrefix(s[i:], t.text) && (!t.word || !compared(s[:i]))
}

// compared reports whether the following name is only a comparison, as in "SentiBot
// (compatible with Googlebot)" and "TelegramBot (like TwitterBot)".
func compared(before string) bool {
	return strings.HasSuffix(before, "compatible with ") || strings.HasSuffix(before, "(like ")
}

func alphanumeric(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}
