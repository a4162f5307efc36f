package pick

import (
	"slices"

	"github.com/firstpick/firstpick/runner/pick/prose"
)

// asides moves a parenthesis between a name and its verb behind the clause, since no phrase
// reaches over it: "X (the free tier) is what I'd use". One that adds a name by "and" or "or"
// stays: the verb is about both. Later ones come first, so that each stays with its own name.
func (r *reading) asides(s *sentence) {
	for i := len(s.tokens) - 3; i >= 0; i-- {
		if s.tokens[i].Slot == 0 || s.tokens[i+1].Key != "(" {
			continue
		}
		end := i + 2 + slices.IndexFunc(s.tokens[i+2:], func(t prose.Token) bool { return t.Key == ")" || t.Key == "(" })
		if end < i+2 || s.tokens[end].Key == "(" || end+1 >= len(s.tokens) || !r.has(prose.Verb, s.tokens[end+1].Key) {
			continue
		}
		if first := s.tokens[i+2].Key; r.has(prose.And, first) || r.has(prose.Or, first) {
			continue
		}
		last := end + 1
		for last < len(s.tokens) && !s.tokens[last].IsMark(".,;:!?–—|→()") && !r.joinsNext(s, last) {
			last++
		}
		s.tokens = slices.Concat(s.tokens[:i+1], s.tokens[end+1:last], s.tokens[i+1:end+1], s.tokens[last:])
	}
}

// joinsNext reports whether a word that joins begins at a token, and a name follows.
func (r *reading) joinsNext(s *sentence, at int) bool {
	next := at + r.joiner(s.tokens[at:])
	return next > at && next < len(s.tokens) && s.tokens[next].Slot > 0
}
