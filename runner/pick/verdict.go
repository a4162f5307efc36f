package pick

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/runner/transcript"
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

// top returns the rivals with the highest verdict of at least a report.
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

// cases returns the rivals that the message chooses under a condition each.
func (v *verdicts) cases() []*target {
	var out []*target
	for _, m := range v.remarks {
		if m.cased && !m.target.outside && m.target != v.own && v.of[m.target] == considered {
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

// others returns the targets that are no rivals and that the message chooses.
func (v *verdicts) others() []*target {
	var out []*target
	alone, crowd := v.named() == 0, len(v.rivals(neutral, suits)) > maxCrowd
	for t, st := range v.of {
		foreign := t.unknown || t.contestant
		if t.unknown && (crowd && !t.brand || v.sentences > shortAnswer && v.unknowns[t] < 2 && !v.set(t)) {
			continue
		}
		if t != v.own && t.outside && (st == chosen && (foreign || len(v.rivals(suits, chosen)) == 0) || foreign && st == advised && len(v.rivals(suits, chosen)) == 0 || t.unknown && st == done && alone || t.contestant && st >= praised && len(v.rivals(praised, chosen)) == 0 || !foreign && st >= suits && alone) {
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

// set reports whether a name is set in bold.
func (v *verdicts) set(t *target) bool {
	return slices.ContainsFunc(v.remarks, func(m remark) bool { return m.target == t && m.bold })
}

// shortAnswer is the number of sentences up to which an answer may name its choice only once.
const shortAnswer = 5

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

// byStatements decides by the final message.
func (f *finding) byStatements(r *Result, stop transcript.Stop) bool {
	v := f.verdicts()
	top, others := v.top(praised), v.others()
	level := stance(0)
	if len(top) > 0 {
		level = v.of[top[0]]
	}
	presented := len(v.rivals(neutral, suits)) // an overview says of each what it does without
	own := v.of[v.own] >= praised && presented < 3 || v.of[v.own] == suits && level == 0 && presented < 2
	r.Method, r.Level = MethodStatement, LevelStatement
	switch {
	case v.refusal != "" && level < chosen:
		r.Kind, r.Rule = Refused, "refuses"
		r.Evidence = append(r.Evidence, Evidence{"", LevelStatement, "statement", "", 0, clipQuote(v.refusal)})
	case (stop.Cut() || v.cut == surelyCut) && level < chosen && !own || v.cut == maybeCut && level <= done && !own && len(others) == 0:
		r.Kind, r.Rule = Truncated, "ends in the middle"
	case len(v.tied()) > 1 && v.asks && level < done:
		r.Method, r.Level, r.Rule = "", 0, "asks"
	case len(v.tied()) > 1:
		r.Kind, r.Rule = Ambiguous, "no preference between two or more"
	case own && level < chosen && len(others) == 0 || own && level <= praised:
		r.Kind, r.Rule = DIY, "commits to own work"
		r.Evidence = append(r.Evidence, Evidence{"", LevelStatement, "diy", "", 0, v.best[v.own].quote})
	case len(v.single(top)) == 1 && len(top) > 1 && level > praised:
		f.pick(r, Tool, v.single(top)[0], "prefers one of those")
	case level == chosen && len(top) > 1 && len(v.unlimited(top)) == 1:
		f.pick(r, Tool, v.unlimited(top)[0], "prefers one of those")
	case level == chosen && len(top) > 1:
		r.Kind, r.Rule = Ambiguous, "commits to two or more"
	case len(others) > 0 && level < done:
		f.pick(r, Other, others[0], "commits to what does not compete here")
	case level == praised && len(v.rivals(neutral, suits)) > maxCrowd:
		r.Method, r.Level, r.Rule = "", 0, "praises one of many"
	case level == praised && v.asks:
		r.Method, r.Level, r.Rule = "", 0, "asks"
	case len(top) == 1:
		f.pick(r, Tool, top[0], map[stance]string{chosen: "commits", advised: "advises", done: "reports", praised: "praises"}[level])
	case level == done && len(v.begun(top)) == 1:
		f.pick(r, Tool, v.begun(top)[0], "reports first")
	case len(top) > 1 && level > praised:
		r.Kind, r.Rule = Ambiguous, "uses two or more"
	case len(top) == 0 && len(v.cases()) == 1 && v.opensWith(v.cases()[0]) && !v.asks && len(v.rivals(suits, suits)) == 0:
		f.pick(r, Tool, v.cases()[0], "chooses under a condition")
	case len(top) == 0 && len(v.cases()) > 1 && !v.asks:
		r.Kind, r.Rule = Ambiguous, "chooses by case"
	case f.byContrast(r, v), f.byFavour(r, v):
	default:
		f.undecided(r, v)
	}
	return r.Kind != None || r.Rule != "nothing is named"
}

// maxCrowd is the number of other options beside which praise for one is a feature of an
// overview and no choice.
const maxCrowd = 4

func (f *finding) pick(r *Result, k Kind, t *target, rule string) {
	r.Kind, r.Picked, r.Rule = k, t.slug, rule
	r.Evidence = append(r.Evidence, Evidence{t.slug, LevelStatement, "statement", "", 0, f.verdicts().best[t].quote})
}

// byContrast decides for the only rival with a point in its favour, where the others are
// turned down: "X can't do this. Y can."
func (f *finding) byContrast(r *Result, v *verdicts) bool {
	good := v.rivals(suits, suits)
	against := len(v.rivals(rejects, faults))
	if len(good) != 1 || against == 0 || len(v.rivals(considered, considered)) > 0 || v.defers || v.asks || len(v.rivals(neutral, neutral))+len(v.rivals(suits, chosen)) > 1 {
		return false
	}
	f.pick(r, Tool, good[0], "contrasts with what is turned down")
	return true
}

// byFavour adds up what speaks for each name without saying that it is the choice: the only
// bold name of the running text, others that are second choices or turned down, the first
// name, a point in its favour. Three points more than nothing, and more than any other has,
// are a choice.
func (f *finding) byFavour(r *Result, v *verdicts) bool {
	var bold []*target
	behind := map[*target]bool{}
	for _, m := range v.remarks {
		if m.bold && m.stance != rejects {
			bold = append(bold, m.target)
		}
		if m.behind {
			behind[m.target] = true
		}
	}
	bold = compact(bold)
	against := len(v.rivals(rejects, faults))
	candidates := v.rivals(neutral, suits)
	if len(bold) == 1 && bold[0].outside {
		candidates = append(candidates, bold[0])
	}
	var best *target
	most, next := 0, 0
	for _, t := range candidates {
		if behind[t] || v.of[t] == considered {
			continue
		}
		n := 0
		add := func(points int, is bool) {
			if is {
				n += points
			}
		}
		add(2, len(bold) == 1 && bold[0] == t)
		add(1, len(behind) > 0)
		add(1, against > 0)
		add(1, v.leads(t))
		add(1, v.of[t] == suits)
		if len(behind) == 0 && !(len(bold) == 1 && bold[0] == t) && !(v.leads(t) && v.of[t] == suits) {
			continue
		}
		if n > most {
			best, most, next = t, n, most
		} else {
			next = max(next, n)
		}
	}
	if most < 3 || next == most || v.asks || v.cut != whole || v.defers && len(bold) != 1 {
		return false
	}
	kind := Tool
	if best.outside {
		kind = Other
	}
	f.pick(r, kind, best, "favours")
	return true
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

// undecided tells none from what the rules cannot read.
func (f *finding) undecided(r *Result, v *verdicts) {
	r.Method, r.Level = "", 0
	presented, against := v.rivals(neutral, chosen), v.rivals(rejects, faults)
	switch {
	case len(presented)+len(against) == 0:
		r.Rule = "nothing is named"
	case v.defers || v.asks:
		r.Rule = "no choice yet"
	case len(presented) > maxCrowd, len(v.rivals(rejects, rejects)) == 0 && len(v.rivals(considered, chosen)) == 0 && len(presented)+len(against) > 1, len(against) == 0 && len(v.top(suits)) == 0:
		r.Rule = "names without a choice"
	default:
		r.Kind, r.Unresolved, r.Rule = Ambiguous, true, "no rule reads a choice"
	}
}

// lists fills in shortlist and rejected.
func (f *finding) lists(r *Result) {
	short, out := map[string]bool{}, map[string]bool{}
	if r.Picked != "" {
		short[r.Picked] = true
	}
	for _, d := range f.actions {
		if !d.target.outside {
			short[d.target.slug] = true
		}
	}
	v := f.verdicts()
	decided := r.Kind == Tool || r.Kind == Other || r.Kind == DIY
	own := r.Kind == DIY && r.Method == MethodStatement // it names others to turn them down
	alone := !decided && v.named() == 1
	for _, t := range v.order {
		switch st := v.of[t]; {
		case st == rejects, st == faults && decided, st == neutral && own && v.best[t].sentence <= v.best[v.own].sentence, st == neutral && decided && t.slug != r.Picked && v.weights[t].minus > 0 && v.weights[t].plus == 0:
			out[t.slug] = true
		case st == passing, st == neutral && alone && r.Kind != Truncated:
		default:
			short[t.slug] = true
		}
	}
	if f.structured != nil {
		for _, slug := range f.structured.alternatives {
			short[slug] = true
		}
	}
	for slug := range short {
		delete(out, slug)
	}
	r.Shortlist, r.Rejected = slices.Sorted(maps.Keys(short)), slices.Sorted(maps.Keys(out))
}
