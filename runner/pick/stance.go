package pick

import (
	"slices"
	"strings"

	"github.com/firstpick/firstpick/runner/pick/prose"
)

// A stance is what one place of the message says about a target.
type stance int

// The stances, from turned down to chosen.
const (
	rejects    stance = iota - 3 // turned down
	faults                       // a weak point
	passing                      // named in passing, in a question or a quotation: not on the shortlist
	neutral                      // presented
	considered                   // an option, or a choice for another case
	suits                        // a strong point
	praised                      // the best of the field
	done                         // reported as done
	advised                      // "use X"
	chosen                       // "I'd go with X"
)

// stances of the classes of phrases.
func stanceOf(c prose.Class) stance {
	switch c {
	case prose.Commits:
		return chosen
	case prose.Advises:
		return advised
	case prose.Reports:
		return done
	case prose.Praises:
		return praised
	case prose.Suits:
		return suits
	case prose.Options, prose.Behind, prose.Rest:
		return considered
	case prose.Faults:
		return faults
	case prose.Rejects:
		return rejects
	case prose.Past:
		return passing
	default:
		return neutral
	}
}

// inverted returns what the stance becomes under a negation.
func (s stance) inverted() stance {
	switch s {
	case chosen, advised:
		return rejects
	case praised, suits:
		return faults
	case rejects:
		return considered
	case done, considered:
		return neutral
	default:
		return s
	}
}

// strong reports whether the stance is more than a point for or against.
func (s stance) strong() bool { return s == rejects || s >= praised }

// A judged is a phrase about a slot with its stance.
type judged struct {
	prose.Hit
	stance stance
}

// stancesOf returns the stance of each slot of a sentence, by its number.
func (r *reading) stancesOf(s *sentence) map[int]judged {
	byslot := map[int][]judged{}
	for _, h := range s.hits {
		if h.Slot > 0 && h.Class <= prose.Past {
			st := stanceOf(h.Class)
			if r.negated(s, h) {
				st = st.inverted()
			}
			byslot[h.Slot] = append(byslot[h.Slot], judged{h, st})
		}
		if h.Against > 0 {
			byslot[h.Against] = append(byslot[h.Against], judged{h, rejects})
		}
	}
	out := map[int]judged{}
	for slot, hits := range byslot {
		out[slot] = strongest(hits)
	}
	return out
}

// strongest chooses among the phrases about one slot: one within a longer one does not
// count, a strong one outweighs a point, and then the last counts.
func strongest(hits []judged) judged {
	kept := slices.DeleteFunc(slices.Clone(hits), func(a judged) bool {
		return slices.ContainsFunc(hits, func(b judged) bool {
			within := (b.To-b.From > a.To-a.From || b.stance == considered && a.stance == rejects) && b.From <= a.From && a.To <= b.To
			return within && (b.stance.strong() || b.stance == considered || !a.stance.strong())
		})
	})
	best := kept[0]
	for _, h := range kept[1:] {
		switch {
		case isSecond(h.Class) && best.stance >= praised && h.From <= best.From, isSecond(best.Class) && h.stance >= praised && best.From <= h.From:
			if isSecond(h.Class) { // "my second choice"
				best = h
			}
		case h.stance.strong() != best.stance.strong():
			if h.stance.strong() {
				best = h
			}
		case (h.stance > neutral) == (best.stance > neutral):
			if h.stance > best.stance == (h.stance > neutral) {
				best = h
			}
		case h.To > best.To || h.To == best.To && h.stance < best.stance:
			best = h
		}
	}
	return best
}

// isSecond reports whether a class is of what stands behind another choice.
func isSecond(c prose.Class) bool { return c == prose.Behind || c == prose.Rest }

// negated reports whether a negation stands before the phrase in its clause, or between
// its beginning and the name. A phrase of negation, such as "I doubt", reaches farther than a
// word.
func (r *reading) negated(s *sentence, h prose.Hit) bool {
	if h.Class >= prose.Faults && h.Class <= prose.Past {
		return false // these phrases have their own
	}
	to := h.To
	if h.Class > prose.Past || h.Class == prose.Options || isSecond(h.Class) || h.Against > 0 {
		to = h.From // "no library needed", "X, not Y": these say what they mean
	}
	from, near := h.From, h.From
	for ; from > 0; from-- {
		t := s.tokens[from-1]
		if t.Slot > 0 || !t.Word && t.Key != "'" && t.Key != "-" {
			break
		}
		if h.From-from < 4 {
			near = from - 1
		}
	}
	if r.has(prose.Speaker, s.tokens[h.From].Key) && !r.negates(s, from, min(from+1, h.From), h.From) { // "for teams that don't have a DBA I'd go with X", not "never would I"
		near = max(near, h.From-1)
	}
	for _, o := range s.hits {
		if o.Class == prose.Negation && from <= o.From && o.From < to && !s.harmless(o) {
			return true
		}
	}
	if h.Class == prose.Suits && h.To < len(s.tokens) && s.tokens[h.To].Slot == 0 && strings.HasPrefix(s.tokens[h.To-1].Key, "ha") {
		to++ // "X has neither"
	}
	return r.negates(s, near, to, h.From)
}

// negates reports whether a word of negation stands between two tokens, outside the phrases
// that only look so, such as "not only". Another language than the main one does not count
// for words that are frequent in the main one: Portuguese "no" is no negation. A word such as
// "without" negates a phrase only right before it.
func (r *reading) negates(s *sentence, from, to, phrase int) bool {
	for i := from; i < to; i++ {
		key := s.tokens[i].Key
		if s.tokens[i].Slot > 0 || s.harmless(prose.Hit{From: i, To: i + 1}) || i+1 < phrase && r.has(prose.Without, key) {
			continue // "for teams without a DBA use X"
		}
		for n, x := range r.lexicons {
			if x.Has(prose.Negation, key) && (n == 0 || !r.lexicons[0].Has(prose.Common, key)) {
				return true
			}
		}
	}
	return false
}

// harmless reports whether a phrase only looks like a negation.
func (s *sentence) harmless(o prose.Hit) bool {
	return slices.ContainsFunc(s.hits, func(h prose.Hit) bool { return h.Class == prose.NoNegation && h.From <= o.From && o.To <= h.To })
}
