package pick

import (
	"slices"

	"github.com/firstpick/firstpick/runner/pick/prose"
)

// asides moves a parenthesis between a name and its verb behind the clause, since no phrase
// reaches over it: "X (the free tier) is what I'd use". One that adds a name by "and" or "or"
// stays: the verb is about both.
func (r *reading) asides(s *sentence) {
	for i := 0; i+2 < len(s.tokens); i++ {
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
		for last < len(s.tokens) && !s.tokens[last].IsMark(".,;:!?–—|→()") {
			last++
		}
		s.tokens = slices.Concat(s.tokens[:i+1], s.tokens[end+1:last], s.tokens[i+1:end+1], s.tokens[last:])
	}
}
