package pick

import (
	"slices"

	"github.com/firstpick/firstpick/runner/pick/prose"
)

// A correction is a sentence behind which another choice replaces what was chosen before it.
type correction struct {
	sentence int
	of       *target // what is replaced; nil: whatever was chosen
	here     bool    // the other choice is in the sentence itself
}

// maxCorrections bounds the corrections of a message; the last ones count. maxReplaced is the number
// of sentences behind a correction in which the other choice may stand.
const (
	maxCorrections = 16
	maxReplaced    = 2
)

// correct notes that a sentence corrects the message: "wait, ...". So does "use Y instead" behind
// a sentence that speaks against X.
func (r *reading) correct(s *sentence, named []*target) {
	doubted := r.doubted
	r.doubted = nil
	if about := r.about(s, named); len(about) == 1 && !s.Question && s.denies() {
		r.doubted = about[0]
	}
	switch {
	case s.Question:
	case slices.ContainsFunc(s.hits, s.corrects):
		r.corrections = append(r.corrections, correction{sentence: r.n})
	case doubted != nil && slices.ContainsFunc(s.hits, func(h prose.Hit) bool { return h.Class == prose.Replaces && !r.forPart(s, h) }):
		r.corrections = append(r.corrections, correction{r.n, doubted, true})
	}
	if n := len(r.corrections); n > 0 && r.n <= r.corrections[n-1].sentence+maxReplaced && (s.says(prose.Besides) || r.beginsCase(s)) {
		if r.beside == nil {
			r.beside = map[int]bool{}
		}
		r.beside[r.n] = true
	}
	if len(r.corrections) > maxCorrections {
		r.corrections = r.corrections[1:]
	}
}

// beginsCase reports whether a sentence begins with a case of its own, also behind a correction: "wait,
// for the newsletter".
func (r *reading) beginsCase(s *sentence) bool {
	at := 0
	for _, h := range s.hits {
		if h.Class == prose.Corrects && h.From == 0 {
			at = max(at, h.To)
		}
	}
	return at < len(s.tokens) && r.has(prose.Limit, s.tokens[at].Key)
}

// corrects reports whether a phrase corrects. One such as "wait," does at the beginning of a sentence
// or behind a colon or dash; behind a comma it is a step: "send, wait, then retry".
func (s *sentence) corrects(h prose.Hit) bool {
	return h.Class == prose.Corrects && (h.From == 0 || s.tokens[h.To-1].Key != "," || !s.tokens[h.From-1].IsMark(",;、"))
}

// forPart reports whether a choice holds for a part alone: a word such as "for" stands before the
// phrase, or behind it in its clause. "Use Y for those instead."
func (r *reading) forPart(s *sentence, h prose.Hit) bool {
	limits := func(tokens []prose.Token) bool {
		return slices.ContainsFunc(tokens, func(t prose.Token) bool { return t.Slot == 0 && r.has(prose.Limit, t.Key) })
	}
	end := h.To
	for end < len(s.tokens) && !s.tokens[end].IsMark(",;:.!–—()、") {
		end++
	}
	return limits(s.tokens[:h.From]) || limits(s.tokens[h.To:end])
}

// denies reports whether a sentence says that what it is about cannot do something, or has a weak
// point.
func (s *sentence) denies() bool {
	return s.says(prose.Unable) || s.says(prose.Faults) || s.says(prose.Rejects) || s.says(prose.Minus)
}

// habitual reports whether the clause of a mention says what is chosen usually.
func (r *reading) habitual(s *sentence, m mention) bool {
	segments := s.segments()
	at := slices.IndexFunc(s.tokens, func(t prose.Token) bool { return t.Slot > 0 && slices.Contains(s.slots[t.Slot-1], m) })
	return at >= 0 && slices.ContainsFunc(s.hits, func(h prose.Hit) bool {
		return h.Class == prose.Habit && segments[h.From] == segments[at] && !r.opposed(s, h.From, at)
	})
}

// settleHabits takes back what is usually chosen, where another rival is chosen behind it: "normally
// X, but at your volume Y".
func (r *reading) settleHabits() {
	behind := map[*target]bool{} // chosen behind a remark
	for i := range slices.Backward(r.remarks) {
		m := &r.remarks[i]
		switch {
		case m.habit:
			if others(behind, m.target) {
				m.stance = considered
			}
		case m.stance >= praised && !m.limited && !m.target.outside && m.target != r.own:
			behind[m.target] = true
		}
	}
}

// others reports whether a set has another target than one.
func others(set map[*target]bool, t *target) bool { return len(set) > 1 || len(set) == 1 && !set[t] }

// settleCorrections takes back what was chosen before a correction, where a rival is chosen right
// behind it, without a case of its own.
func (r *reading) settleCorrections() {
	for _, c := range r.corrections {
		var now []*target
		for _, m := range r.remarks {
			if m.sentence == c.sentence || m.sentence > c.sentence && m.sentence <= c.sentence+maxReplaced && !c.here {
				ofCase := m.cased || m.limited || m.behind || m.numbered > 0 || r.beside[m.sentence]
				if m.stance >= done && !ofCase && !m.target.outside && m.target != r.own {
					now = append(now, m.target)
				}
			}
		}
		for i := range r.remarks {
			m := &r.remarks[i]
			if len(now) > 0 && m.sentence < c.sentence && m.stance >= praised && !slices.Contains(now, m.target) && (c.of == nil || c.of == m.target) {
				m.stance = considered
			}
		}
	}
}
