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

// maxCorrections bounds the corrections of a message; the last ones count.
const maxCorrections = 16

// correct notes that a sentence corrects the message: "wait, ...". So does "use Y instead" behind
// a sentence that speaks against X.
func (r *reading) correct(s *sentence, named []*target) {
	doubted := r.doubted
	r.doubted = nil
	if about := r.about(s, named); len(about) == 1 && !s.Question && r.denies(s) {
		r.doubted = about[0]
	}
	switch {
	case s.Question:
	case s.says(prose.Corrects):
		r.corrections = append(r.corrections, correction{sentence: r.n})
	case s.says(prose.Replaces) && doubted != nil && !r.has(prose.Limit, s.tokens[0].Key): // "for Japan, use Y instead"
		r.corrections = append(r.corrections, correction{r.n, doubted, true})
	}
	if len(r.corrections) > maxCorrections {
		r.corrections = r.corrections[1:]
	}
}

// denies reports whether a sentence has a negation or a weak point.
func (r *reading) denies(s *sentence) bool {
	return r.negates(s, 0, len(s.tokens)) || s.says(prose.Negation) || s.says(prose.Faults) || s.says(prose.Rejects) || s.says(prose.Minus)
}

// settleCorrections takes back what was chosen before a correction, where a rival is chosen behind
// it.
func (r *reading) settleCorrections() {
	for _, c := range r.corrections {
		var now []*target
		for _, m := range r.remarks {
			if m.sentence == c.sentence || m.sentence > c.sentence && !c.here {
				if m.stance >= done && !m.target.outside && m.target != r.own {
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
