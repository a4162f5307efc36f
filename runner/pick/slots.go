package pick

import (
	"slices"
	"strings"

	"github.com/firstpick/firstpick/runner/pick/prose"
)

// match finds the phrases of all languages of the text. Words such as "the second" become
// slots of what they stand for.
func (r *reading) match(s *sentence) {
	for again := true; ; again = false {
		s.hits = s.hits[:0]
		for _, x := range r.lexicons {
			hits := x.Match(s.tokens)
			if x != r.lexicons[0] { // Portuguese "no Fly.io" is not English "no X"
				hits = slices.DeleteFunc(hits, func(h prose.Hit) bool {
					return h.Slot > 0 && s.tokens[h.From].Slot == 0 && r.lexicons[0].Has(prose.Common, s.tokens[h.From].Key)
				})
			}
			s.hits = append(s.hits, hits...)
		}
		if !again || !r.ordinals(s) {
			return
		}
	}
}

// ordinals replaces words that stand for one of those named before by slots.
func (r *reading) ordinals(s *sentence) bool {
	from := r.items
	if len(from) < 2 {
		from = r.many
	}
	if len(from) < 2 {
		from = compact(r.inUnit)
	}
	if len(from) < 2 {
		return false
	}
	hits := slices.Clone(s.hits)
	slices.SortFunc(hits, func(a, b prose.Hit) int { return b.From - a.From })
	changed, last := false, len(s.tokens)+1
	for _, h := range hits {
		n := -1
		switch h.Class {
		case prose.Ordinal1:
			n = 0
		case prose.Ordinal2:
			n = 1
		case prose.Ordinal3:
			n = 2
		case prose.OrdinalLast:
			n = len(from) - 1
		default:
		}
		if n < 0 || n >= len(from) || h.To > last {
			continue
		}
		s.slots = append(s.slots, []mention{{from[n], h.From, h.To, false}})
		slot := prose.Token{Key: "X", From: s.tokens[h.From].From, To: s.tokens[h.To-1].To, Word: true, Slot: len(s.slots)}
		s.tokens = slices.Replace(s.tokens, h.From, h.To, slot)
		changed, last = true, h.From
	}
	return changed
}

// slots finds names and replaces each, or each group of joined names, by a slot.
func (r *reading) slots(s *sentence) {
	found := r.find(s.Text, s.tokens)
	taken := make([]bool, len(s.tokens))
	for _, m := range found {
		for i := m.from; i < m.to; i++ {
			taken[i] = true
		}
	}
	r.noteShort(s, found)
	found = append(found, r.coded(s, taken)...)
	found = append(found, r.strangers(s, taken)...)
	if len(found) == 0 {
		return
	}
	slices.SortFunc(found, func(a, b mention) int { return a.from - b.from })
	var out []prose.Token
	at := 0
	for i := 0; i < len(found); {
		n := r.group(s, found[i:])
		out = append(out, s.tokens[at:found[i].from]...)
		last := found[i+n-1]
		s.slots = append(s.slots, found[i:i+n])
		out = append(out, prose.Token{Key: "X", From: s.tokens[found[i].from].From, To: s.tokens[last.to-1].To, Word: true, Slot: len(s.slots), Soft: last.target.unknown})
		at = last.to
		i += n
	}
	s.tokens = append(out, s.tokens[at:]...)
}

// group returns how many of the names are joined: "A, B and C". Two names with only a comma
// between them are joined where the clause ends behind them.
func (r *reading) group(s *sentence, found []mention) int {
	n, joined := 1, false
	for n < len(found) {
		join := r.joint(s, found[0], s.tokens[found[n-1].to:found[n].from])
		if join == 0 || joined && join == ',' || found[n].target.unknown != found[0].target.unknown {
			break
		}
		joined = joined || join == 'a'
		n++
	}
	if n > 1 && !joined {
		end := found[n-1].to
		if end < len(s.tokens) && (s.tokens[end].Word || s.tokens[end].Key == "'") {
			return 1
		}
	}
	return n
}

// joint returns how tokens join two names: 'a' by a word, ',' by a comma, 0 not at all.
func (r *reading) joint(s *sentence, first mention, between []prose.Token) byte {
	if len(between) == 0 || len(between) > 3*maxJoiner {
		return 0
	}
	out := byte(0)
	for n := 0; len(between) > 0; n++ {
		size := r.joiner(between)
		switch t := between[0]; {
		case n == 3:
			return 0
		case size > 0:
			out = 'a'
		case t.Key == "," || t.Key == "、":
			out, size = max(out, ','), 1
		case n > 0 && first.from > 0 && t.Key == s.tokens[first.from-1].Key: // "take A or take B"
			size = 1
		case n > 0 && (r.has(prose.Article, t.Key) || r.has(prose.Serves, t.Key) || strings.HasSuffix(t.Key, "'")):
			size = 1
		default:
			return 0
		}
		between = between[size:]
	}
	return out
}

const maxJoiner = 4 // tokens of the longest joining word: "あるいは"

// joiner returns how many of the first tokens are a word that joins names.
func (r *reading) joiner(tokens []prose.Token) int {
	for size := min(maxJoiner, len(tokens)); size > 0; size-- {
		key := tokens[0].Key
		for _, t := range tokens[1:size] {
			key += t.Key
		}
		if r.has(prose.And, key) || r.has(prose.Or, key) || key == "&" || key == "+" || key == "/" {
			return size
		}
	}
	return 0
}

// has reports whether a word is in a section of single words of one of the languages.
func (r *reading) has(section prose.Class, key string) bool {
	return slices.ContainsFunc(r.lexicons, func(x *prose.Lexicon) bool { return x.Has(section, key) })
}

// leads reports whether a word may stand before the beginning of a phrase.
func (r *reading) leads(key string) bool { return r.has(prose.Lead, key) }
