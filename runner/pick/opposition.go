package pick

import (
	"slices"

	"github.com/firstpick/firstpick/runner/pick/prose"
)

// An opposition is a clause that opposes what is said before it under a condition: "if you had a
// team, X would be great, but you don't".
type opposition struct {
	at     int // its first token
	chosen int // the beginning of the last explicit choice before it; -1 without one
	said   int // the beginning of the last phrase about a name before it
	comma  int // the last comma before the end of that phrase; -1 without one
}

// oppositions returns the clauses of a sentence that oppose. Behind a condition that may hold, "but"
// begins another case.
func (r *reading) oppositions(s *sentence) []opposition {
	if s.opposing != nil {
		return s.opposing
	}
	s.opposing = []opposition{}
	for i := 1; i < len(s.tokens); i++ {
		if !s.tokens[i-1].IsMark(",、") || !r.has(prose.Opposing, s.tokens[i].Key) {
			continue
		}
		o, end, unreal := opposition{i, -1, -1, -1}, -1, false
		for _, h := range s.hits {
			unreal = unreal || h.From < i && (h.Class == prose.Unreal || h.Class == prose.Later)
			if h.Slot == 0 || h.Class >= prose.Past || h.To >= i {
				continue
			}
			if h.Class == prose.Commits {
				o.chosen = max(o.chosen, h.From)
			}
			if h.To > end {
				o.said, end = h.From, h.To
			}
		}
		for k := range max(end, 0) {
			if s.tokens[k].IsMark(",、") {
				o.comma = k
			}
		}
		if unreal && end >= 0 {
			s.opposing = append(s.opposing, o)
		}
	}
	return s.opposing
}

// opposed reports whether what stands under the condition at a token ends before another token: a
// clause behind the condition says something of a name, and then another one opposes it. A name in
// the condition itself is no such clause.
func (r *reading) opposed(s *sentence, from, at int) bool {
	return slices.ContainsFunc(r.oppositions(s), func(o opposition) bool {
		return from < o.at && o.at < at && (o.chosen >= from || o.said >= from && o.comma >= from)
	})
}
