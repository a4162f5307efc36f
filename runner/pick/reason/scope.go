package reason

import (
	"slices"
	"strings"

	"github.com/firstpick/firstpick/runner/pick/prose"
)

// maxBefore is how many words before a phrase a negation may stand.
const maxBefore = 5

const (
	// denials turn a phrase round wherever its subject stands.
	denials = " not no never isn't aren't wasn't weren't doesn't don't didn't won't wouldn't can't cannot hasn't haven't neither nor nothing hardly barely scarcely "
	// escapes turn it round for what the clause is about, and not for whose it is: "without
	// the complexity of X".
	escapes = " without avoid avoids avoiding avoided escape escapes eliminates eliminate removes remove reduces reduce reducing minimizes minimises spares saves hides abstracts less fewer low lower little minimal limited "
	// quiet words behind a phrase say that there is little of it.
	quiet    = " none minimal negligible manageable low acceptable nonexistent tolerable absent gone modest "
	pronouns = " it it's its they their this that "
	links    = " of with for in from on to at like using behind that which "
	// breaks begin a clause.
	breaks = " but while whereas although though however yet because since so and "
)

func in(list string, t prose.Token) bool {
	return t.Slot == 0 && strings.Contains(list, " "+t.Key+" ")
}

// joins reports whether a token does not end a clause.
func joins(t prose.Token) bool {
	return t.Slot > 0 || t.Word || strings.Contains("-/'\"`*&+", t.Key[:1])
}

// negated reports whether a word before the phrase, in its clause, turns it round, or one
// behind it. Owned means that the phrase is said of a name behind it.
func (s *sentence) negated(p point, owned bool) bool {
	for i, n := p.From-1, 0; i >= 0 && n < maxBefore; i-- {
		t := s.Tokens[i]
		switch {
		case t.Slot > 0:
			return i > 0 && in(" neither nor ", s.Tokens[i-1]) || s.dismissed(p)
		case !joins(t):
			return s.dismissed(p)
		case in(denials, t):
			next := s.Tokens[i+1]
			return !in(" only just merely simply ", next) && !in(" sure ", next)
		case in(escapes, t) && (p.Class != prose.Plus || !in(" low lower little minimal limited without avoid avoids ", t)):
			return !owned
		case in(" free ", t) && in(" of from ", s.Tokens[i+1]):
			return !owned
		case in(breaks, t):
			return s.dismissed(p)
		}
		if t.Word {
			n++
		}
	}
	return s.dismissed(p)
}

// dismissed reports whether words behind a phrase say that there is little of it, or that it
// does not matter: "lock-in: none", "price isn't an issue".
func (s *sentence) dismissed(p point) bool {
	end := min(len(s.Tokens), p.To+5)
	for i := p.To; i < end; i++ {
		t := s.Tokens[i]
		switch {
		case p.Class != prose.Plus && in(quiet, t) && s.predicate(p.To, i):
			return true
		case in(denials, t):
			return slices.ContainsFunc(s.Tokens[i:min(len(s.Tokens), i+5)], func(t prose.Token) bool {
				return in(" concern concerns issue issues problem problems matter factor dealbreaker worry ", t)
			})
		case t.Slot > 0 || t.Key != ":" && !joins(t):
			return false
		}
	}
	return false
}

// predicate reports whether a verb or colon stands between a phrase and a word behind it.
func (s *sentence) predicate(from, to int) bool {
	return slices.ContainsFunc(s.Tokens[from:to], func(t prose.Token) bool { return in(" is are was stays remains : 's seems ", t) })
}

// less reports whether a phrase is compared downwards: "less expensive".
func (s *sentence) less(p point) bool {
	return p.From > 0 && in(" less fewer lower ", s.Tokens[p.From-1])
}

// possessor returns the slot that owns a phrase, as in "the lock-in of X"; 0 without one.
func (s *sentence) possessor(p point) int {
	linked := false
	for i := p.To; i < min(len(s.Tokens), p.To+5); i++ {
		t := s.Tokens[i]
		switch {
		case t.Slot > 0 && linked && !s.reference(t.Slot):
			return t.Slot
		case t.Slot > 0 || !joins(t) || in(breaks, t) || in(" than over instead rather ", t):
			return 0
		}
		linked = linked || in(links, t)
	}
	return 0
}

// subject returns the slot that a phrase is about: the nearest within or before it, except what others
// are compared with; otherwise the first behind it. It is 0 for the topic of the text, and -1
// where a sentence is about nothing known.
func (s *sentence) subject(p point) int {
	for i := p.To - 1; i >= 0; i-- {
		t := s.Tokens[i]
		if t.Slot > 0 && !s.reference(t.Slot) {
			return t.Slot
		}
	}
	if s.Topic != "" && len(s.Tokens) > 0 && slices.ContainsFunc(s.Tokens[:p.From], func(t prose.Token) bool { return in(pronouns, t) }) {
		return 0
	}
	for _, t := range s.Tokens[min(p.To, len(s.Tokens)):] {
		if t.Slot > 0 && !s.reference(t.Slot) {
			return t.Slot
		}
	}
	if s.Topic != "" {
		return 0
	}
	return -1
}

// escaped reports whether a phrase is what one is to be spared: "to avoid lock-in".
func (s *sentence) escaped(p point) bool {
	return slices.ContainsFunc(s.Tokens[max(0, p.From-maxBefore):p.From], func(t prose.Token) bool {
		return in(" avoid avoids avoiding escape prevent minimize minimise reduce limit ", t)
	})
}

// reference reports whether a slot is only there for a comparison.
func (s *sentence) reference(slot int) bool {
	return slices.Contains(s.compared, slot) || slices.Contains(s.unlike, slot)
}
