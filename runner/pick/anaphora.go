package pick

import (
	"slices"

	"github.com/firstpick/firstpick/runner/pick/prose"
)

// without applies the phrases that have no slot.
func (r *reading) without(s *sentence, named []*target) {
	about := r.about(s, named)
	lastSlot := -1
	for i, t := range s.tokens {
		if t.Slot > 0 && !t.Soft {
			lastSlot = i
		}
	}
	for _, h := range s.hits {
		switch {
		case h.Class == prose.Defers && !r.negated(s, h):
			r.defers = true
		case h.Class == prose.Refuses && r.refusal == "" && len(r.order) == 0:
			r.refusal = s.Text
		case h.Class == prose.Builds && !s.Question && !s.says(prose.Unchanged) && !r.presents(s, h) && !r.described(s) && !r.negated(s, h) && r.qualified(s, chosen, h.From) == chosen:
			r.remark(r.own, chosen, s)
		case h.Class == prose.Ties && !r.conditional(s, h.From):
			if tied := r.together(about); len(tied) > 1 {
				r.ties = append(r.ties, tie{tied, r.n})
			}
		case h.From > lastSlot: // otherwise it is about a name that follows
			r.pointsBack(s, h, about)
		}
	}
	for _, p := range r.phrases {
		if at := p.FindStringIndex(s.Text); at != nil && !s.Question && !r.described(s) {
			st := suits
			if slices.ContainsFunc(s.tokens, func(t prose.Token) bool {
				return t.Soft && t.From < at[1] && at[0] < t.To && r.last(s.slots[t.Slot-1][0].target) >= praised
			}) {
				st = praised // "run Postfix": the name is part of the work, and no product
			}
			r.remark(r.own, st, s)
		}
	}
	if s.says(prose.Made) {
		r.made++
	}
	r.asks, r.ending = s.Question && !s.says(prose.Offers), s.Text
	r.weigh(s, about)
}

// about returns what a phrase without a name may stand for: what the sentence names, otherwise
// whose section it is in, otherwise what was named last.
func (r *reading) about(s *sentence, named []*target) []*target {
	switch subject := s.subject(); {
	case len(named) > 0:
		return compact(named)
	case subject != nil && subject.brand:
		return []*target{subject}
	case r.lead != nil:
		return []*target{r.lead}
	default:
		return r.topic
	}
}

// pointsBack applies a phrase about what was named before it.
func (r *reading) pointsBack(s *sentence, h prose.Hit, about []*target) {
	switch h.Class {
	case prose.TakesIt:
		if h.To == h.From+1 && h.From > 0 && s.tokens[h.From-1].Key == "," && r.leads(s.tokens[h.From].Key) {
			return // "X is popular, yes"
		}
		if t := r.taken(s, about); t != nil && !s.Question && !r.negated(s, h) && !r.conditional(s, h.From) {
			r.remark(t, chosen, s)
		}
	case prose.DropsIt:
		for _, t := range s.before(h.From, about) {
			if !s.Question {
				r.remark(t, rejects, s)
			}
		}
	case prose.Retracts:
		for i := range r.remarks {
			if m := &r.remarks[i]; slices.Contains(about, m.target) && m.stance > considered {
				m.stance = considered
			}
		}
	case prose.PassesIt:
		for _, t := range about {
			r.remark(t, considered, s)
		}
	default:
	}
}

// together returns the targets that "both" and "either" stand for: those of the sentence,
// those of this unit that are not turned down, otherwise those named together last.
func (r *reading) together(about []*target) []*target {
	if len(about) > 1 {
		return about
	}
	var out []*target
	for _, t := range compact(r.inUnit) {
		if r.last(t) > faults {
			out = append(out, t)
		}
	}
	if len(out) < 2 {
		return r.many
	}
	return out
}

// before returns the targets named last before a token of the sentence: "A is fine, B is slow:
// no". Without any it returns those that the sentence is about.
func (s *sentence) before(at int, about []*target) []*target {
	for i := at - 1; i >= 0; i-- {
		if slot := s.tokens[i].Slot; slot > 0 && !s.tokens[i].Soft {
			return targetsOf(s.slots[slot-1])
		}
	}
	return about
}

// taken returns what "that's the one" stands for: the target named last that is not turned
// down.
func (r *reading) taken(s *sentence, about []*target) *target {
	if last := s.before(len(s.tokens), nil); len(last) == 1 && !last[0].outside && r.last(last[0]) >= neutral {
		return last[0] // "A would be fine too, but B reads better, and that's what I'd use"
	}
	var best *target
	for _, t := range about {
		switch st := r.last(t); {
		case st < neutral:
		case best == nil || st > r.last(best):
			best = t
		case st == r.last(best) && st >= praised:
			return nil // which of them?
		default:
			if st == r.last(best) {
				best = t
			}
		}
	}
	return best
}

// last returns the last stance on a target.
func (r *reading) last(t *target) stance {
	for _, m := range slices.Backward(r.remarks) {
		if m.target == t {
			return m.stance
		}
	}
	return neutral
}

// says reports whether the sentence has a phrase of a class.
func (s *sentence) says(c prose.Class) bool {
	return slices.ContainsFunc(s.hits, func(h prose.Hit) bool { return h.Class == c })
}

// subject returns what the first name of the sentence stands for.
func (s *sentence) subject() *target {
	for _, t := range s.tokens {
		if t.Slot > 0 {
			return s.slots[t.Slot-1][0].target
		}
	}
	return nil
}

// weigh notes the words for and against the only target that a sentence is about.
func (r *reading) weigh(s *sentence, about []*target) {
	if len(about) != 1 || s.Question {
		return
	}
	w := r.weights[about[0]]
	for _, h := range s.hits {
		switch h.Class {
		case prose.Minus:
			w.minus++
		case prose.Plus:
			w.plus++
		default:
		}
	}
	r.weights[about[0]] = w
}

// presents reports whether the part of a sentence around a phrase, up to a semicolon, names a
// rival that it does not turn down: work of one's own is then about it.
func (r *reading) presents(s *sentence, h prose.Hit) bool {
	for i, t := range s.tokens {
		if t.Slot == 0 || slices.ContainsFunc(s.tokens[min(i, h.From):max(i, h.From)], func(t prose.Token) bool { return t.Key == ";" }) {
			continue
		}
		if slices.ContainsFunc(s.slots[t.Slot-1], func(m mention) bool { return !m.target.outside && m.target != r.own && r.last(m.target) >= neutral }) {
			return true
		}
	}
	return false
}

// described reports whether the sentence belongs to the section about a rival that is not
// turned down.
func (r *reading) described(s *sentence) bool {
	return r.lead != nil && (s.unit == r.leadUnit || s.unit.Kind == prose.Item) && r.last(r.lead) >= neutral
}

// unchanged reports whether the clause of a token says that something was left as it was.
func (s *sentence) unchanged(at int) bool {
	segments := s.segments()
	return slices.ContainsFunc(s.hits, func(h prose.Hit) bool {
		return h.Class == prose.Unchanged && segments[h.From] == segments[at]
	})
}
