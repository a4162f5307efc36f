package pick

import (
	"cmp"
	"slices"
	"strings"
)

// verdicts are what the message as a whole says about each target.
type verdicts struct {
	*statements
	own  *target
	of   map[*target]stance
	best map[*target]*remark // the remark behind it
	// alone holds the targets that a remark of their own chooses, not one with others.
	alone map[*target]bool
}

func (f *finding) verdicts() *verdicts {
	if f.verdict == nil {
		f.verdict = newVerdicts(&f.message, f.x.reader.own)
	}
	return f.verdict
}

// newVerdicts weighs the remarks: of strong ones on a target the last counts, but a choice
// is only taken back where something else is chosen.
func newVerdicts(s *statements, own *target) *verdicts {
	v := &verdicts{s, own, map[*target]stance{}, map[*target]*remark{}, map[*target]bool{}}
	chosenTargets := map[*target]bool{}
	for _, m := range s.remarks {
		if m.stance >= advised {
			chosenTargets[m.target] = true
		}
	}
	for i := range s.remarks {
		m := &s.remarks[i]
		old, known := v.of[m.target]
		next := m.stance
		switch {
		case !known:
		case old >= advised && next == rejects && len(chosenTargets) == 1:
			continue
		case old.strong() && !next.strong():
			continue
		case old.strong() && next.strong() && old != rejects && next != rejects && old >= next:
			continue
		case !old.strong() && !next.strong() && !outweighs(next, old):
			continue
		}
		v.of[m.target], v.best[m.target] = next, m
	}
	for _, m := range s.remarks {
		if m.stance >= praised && !m.grouped && v.of[m.target] >= praised {
			v.alone[m.target] = true
		}
	}
	return v
}

// outweighs orders what is less than strong: a point counts more than an option, an option
// more than a name, a name more than one in passing.
func outweighs(next, old stance) bool {
	order := []stance{passing, neutral, faults, considered, suits}
	return slices.Index(order, next) > slices.Index(order, old)
}

// rivals returns the rivals whose verdict is between two stances, in the order of naming.
func (v *verdicts) rivals(low, high stance) []*target {
	var out []*target
	for _, t := range v.order {
		if st, ok := v.of[t]; ok && low <= st && st <= high {
			out = append(out, t)
		}
	}
	return out
}

// named counts the rivals that the message presents or chooses.
func (v *verdicts) named() int { return len(v.rivals(neutral, chosen)) }

// top returns the rivals with the highest verdict of at least low.
func (v *verdicts) top(low stance) []*target {
	for st := chosen; st >= low; st-- {
		if found := v.rivals(st, st); len(found) > 0 {
			return found
		}
	}
	return nil
}

// single returns those that a remark of their own chooses.
func (v *verdicts) single(targets []*target) []*target {
	return slices.DeleteFunc(slices.Clone(targets), func(t *target) bool { return !v.alone[t] })
}

// others returns the targets that are no rivals and that the message chooses.
func (v *verdicts) others() []*target {
	var out []*target
	for t, st := range v.of {
		if t.outside && t != v.own && v.choosesOutside(t, st) {
			out = append(out, t)
		}
	}
	slices.SortFunc(out, func(a, b *target) int {
		if a.unknown != b.unknown { // a name that the catalogue knows first
			if b.unknown {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(v.best[a].sentence, v.best[b].sentence), strings.Compare(a.slug, b.slug))
	})
	return out
}

// choosesOutside reports whether a verdict on a target outside the rivals is a choice. A product
// that the catalogue knows may only complete one; a name that it does not know may be any word,
// so a long answer has to repeat it or set it in bold.
func (v *verdicts) choosesOutside(t *target, st stance) bool {
	favoured := len(v.rivals(suits, chosen)) > 0
	switch {
	case t.unknown && !t.brand && len(v.rivals(neutral, suits)) > maxCrowd,
		t.unknown && v.sentences > shortAnswer && v.unknowns[t] < 2 && !v.set(t):
		return false
	case t.unknown:
		return st == chosen || st == advised && !favoured || st == done && v.named() == 0
	case t.contestant:
		return st == chosen || st == advised && !favoured || st >= praised && len(v.rivals(praised, chosen)) == 0
	default:
		return st == chosen && !favoured || st >= suits && v.named() == 0
	}
}

// overOwn reports whether a choice outside the rivals outweighs own work: it is explicit, and own work is only a
// word for what a product does; or it is a product that the catalogue knows, which may also be praised right behind
// the words about own work.
func (v *verdicts) overOwn(other *target) bool {
	switch after := v.best[other].sentence - v.best[v.own].sentence; {
	case v.of[other] >= advised:
		return v.of[v.own] == suits || !other.unknown
	default: // "You don't need a search engine. X is enough."
		return v.of[other] == praised && !other.unknown && after >= 0 && after <= 1
	}
}

// set reports whether a name is set in bold.
func (v *verdicts) set(t *target) bool {
	return slices.ContainsFunc(v.remarks, func(m remark) bool { return m.target == t && m.bold })
}

// shortAnswer is the number of sentences up to which an answer may name its choice only once.
const shortAnswer = 5
