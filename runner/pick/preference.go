package pick

import "slices"

// tied returns the targets of a tie that nothing in the message breaks.
func (v *verdicts) tied() []*target {
	for _, t := range slices.Backward(v.ties) {
		var rivals []*target
		for _, o := range t.targets {
			if o != v.own && !o.outside && v.of[o] > passing {
				rivals = append(rivals, o)
			}
		}
		if len(rivals) < 2 {
			continue
		}
		broken := v.of[v.own] == chosen
		if of := v.single(rivals); len(of) == 1 && v.best[of[0]].sentence > t.sentence-1 && v.praisedAfter(of[0], t.sentence) {
			broken = true
		}
		for o := range v.alone {
			broken = broken || !o.outside && (v.of[o] == chosen || v.best[o].sentence > t.sentence || !slices.Contains(rivals, o))
		}
		if !broken {
			return rivals
		}
	}
	return nil
}

// praisedAfter reports whether a remark of its own prefers the target after a sentence.
func (v *verdicts) praisedAfter(t *target, sentence int) bool {
	return slices.ContainsFunc(v.remarks, func(m remark) bool {
		return m.target == t && m.sentence > sentence && m.stance >= praised && !m.grouped
	})
}

// unlimited returns those that are chosen without a limit such as "for a Node server", and of
// several those that are chosen outside the section about them.
func (v *verdicts) unlimited(targets []*target) []*target {
	keep := func(ok func(remark) bool) []*target {
		return slices.DeleteFunc(slices.Clone(targets), func(t *target) bool {
			return !slices.ContainsFunc(v.remarks, func(m remark) bool { return m.target == t && m.stance == chosen && ok(m) })
		})
	}
	at := map[int]*target{}
	for _, m := range v.remarks {
		if m.stance == chosen && slices.Contains(targets, m.target) {
			if o := at[m.sentence]; o != nil && o != m.target {
				return nil // one sentence chooses both
			}
			at[m.sentence] = m.target
		}
	}
	out := keep(func(m remark) bool { return !m.limited })
	if len(out) > 1 {
		out = keep(func(m remark) bool { return !m.limited && !m.inside })
	}
	return out
}

// cases returns the rivals that the message chooses under a condition each, and for all other cases.
func (v *verdicts) cases() []*target {
	var out []*target
	for _, m := range v.remarks {
		if (m.cased || m.rest && len(out) > 0) && !m.target.outside && m.target != v.own && v.of[m.target] == considered {
			out = append(out, m.target)
		}
	}
	return compact(out)
}

// opensWith reports whether one of the first two sentences chooses the target.
func (v *verdicts) opensWith(t *target) bool {
	return slices.ContainsFunc(v.remarks, func(m remark) bool { return m.target == t && m.cased && m.sentence <= 2 })
}

// begun returns those that the first sentence names.
func (v *verdicts) begun(targets []*target) []*target {
	return slices.DeleteFunc(slices.Clone(targets), func(t *target) bool {
		return !slices.ContainsFunc(v.remarks, func(m remark) bool { return m.target == t && m.sentence == 1 && m.stance == done })
	})
}

// say returns the only rival that the message commits to.
func (v *verdicts) say() *target {
	if top := v.top(done); len(top) == 1 {
		return top[0]
	}
	return nil
}

// leads reports whether nothing is named before the target, except in passing.
func (v *verdicts) leads(t *target) bool {
	for _, m := range v.remarks {
		if m.target == t {
			return true
		}
		if m.stance != passing && !m.target.outside {
			return false
		}
	}
	return false
}
