package prose

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Hit is a phrase found in a sentence.
type Hit struct {
	Class Class
	// From and To are the tokens that it covers.
	From, To int
	// Slot is the number of the slot that it is about, Against that of the one that it
	// turns down; 0 if absent.
	Slot, Against int
}

// Match returns the phrases of a sentence, in the order of their beginnings. Of phrases of
// one class on one slot only the longest stays.
func (x *Lexicon) Match(tokens []Token) []Hit {
	known := x.tree()
	m := &matcher{lexicon: x, tokens: tokens, ids: make([][]int32, len(tokens))}
	buffer := make([]int32, 0, 4*len(tokens)) // one allocation for nearly all sentences
	for i, t := range tokens {
		if t.Slot == 0 {
			n := len(buffer)
			buffer = known.ids(t.Key, buffer)
			m.ids[i] = buffer[n:len(buffer):len(buffer)]
		}
	}
	for i := range tokens {
		m.from, m.steps = i, 0
		m.seen = m.seen[:0]
		m.walk(known.phrases, i, 0, 0)
		if m.begins(i) {
			m.walk(known.starts, i, 0, 0)
		}
	}
	return m.hits
}

type matcher struct {
	lexicon *Lexicon
	tokens  []Token
	ids     [][]int32
	from    int
	hits    []Hit
	steps   int
	seen    []state // few: a search through them is faster than a map
}

// A state is a place in the tree of phrases with the tokens that led there. Gaps lead to one
// in many ways.
type state struct {
	at               *node
	i, slot, against int
}

// maxSteps bounds the work on one beginning, maxSeen the search for states.
const (
	maxSteps = 4000
	maxSeen  = 64
)

// begins reports whether a clause may begin at token i.
func (m *matcher) begins(i int) bool {
	for i > 0 {
		before := m.tokens[i-1]
		if before.Slot > 0 && !before.Soft {
			return false
		}
		if !before.Word {
			symbol, _ := utf8.DecodeRuneInString(before.Key)
			return !m.inWord(i-1) && (strings.ContainsAny(before.Key, ",;:.!?()–—\"|*…、。") || unicode.Is(unicode.So, symbol) || unicode.Is(unicode.Sm, symbol) && symbol > unicode.MaxLatin1)
		}
		if !m.lexicon.lists[Lead][before.Key] {
			return false
		}
		i--
	}
	return true
}

func (m *matcher) walk(n *node, i, slot, against int) {
	if m.steps++; m.steps > maxSteps {
		return
	}
	m.found(n, i, slot, against)
	for _, to := range n.free {
		m.walk(to, i, slot, against)
	}
	if n.atEnd != nil && (i == len(m.tokens) || m.stops(i)) {
		m.walk(n.atEnd, i, slot, against)
	}
	if i < len(m.tokens) {
		t := m.tokens[i]
		for _, id := range m.ids[i] {
			if to := n.next[id]; to != nil {
				m.walk(to, i+1, slot, against)
			}
		}
		if t.Slot > 0 && n.x != nil && slot == 0 {
			m.walk(n.x, i+1, t.Slot, against)
		}
		if t.Slot > 0 && n.y != nil && against == 0 {
			m.walk(n.y, i+1, slot, t.Slot)
		}
	}
	for _, g := range n.gaps {
		for j := i; j <= i+g.most && j <= len(m.tokens); j++ {
			if !m.again(state{g.to, j, slot, against}) {
				m.walk(g.to, j, slot, against)
			}
			if j < len(m.tokens) && (m.tokens[j].Slot > 0 && !m.tokens[j].Soft || m.stops(j) || m.lexicon.lists[Barrier][m.tokens[j].Key]) {
				break
			}
		}
	}
}

// again reports whether a state was reached before, by another division of gaps.
func (m *matcher) again(at state) bool {
	if slices.Contains(m.seen, at) {
		return true
	}
	if len(m.seen) < maxSeen {
		m.seen = append(m.seen, at)
	}
	return false
}

func (m *matcher) found(n *node, to, slot, against int) {
	for _, c := range n.classes {
		h := Hit{c, m.from, to, slot, against}
		same := slices.IndexFunc(m.hits, func(o Hit) bool {
			return o.Class == c && o.Slot == slot && o.Against == against && o.From <= h.From && o.To >= h.From
		})
		switch {
		case same < 0:
			m.hits = append(m.hits, h)
		case m.hits[same].To < to:
			m.hits[same].To = to
		}
	}
}

// stops reports whether token i ends a clause.
func (m *matcher) stops(i int) bool {
	t := m.tokens[i]
	return t.Slot == 0 && !t.Word && !strings.Contains("-/'\"`*&+%", t.Key[:1]) && !m.inWord(i)
}

// inWord reports whether token i is a dot within a word, as in Next.js.
func (m *matcher) inWord(i int) bool {
	if m.tokens[i].Key != "." || i == 0 || i+1 == len(m.tokens) {
		return false
	}
	before, behind := m.tokens[i-1], m.tokens[i+1]
	return before.To == m.tokens[i].From && behind.From == m.tokens[i].To && before.Key[len(before.Key)-1] < utf8.RuneSelf && behind.Key[0] < utf8.RuneSelf && before.Word && behind.Word
}

// Has reports whether a word is in a section of single words, such as Lead.
func (x *Lexicon) Has(section Class, key string) bool { return x.lists[section][key] }
