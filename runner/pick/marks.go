package pick

import (
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/firstpick/firstpick/runner/pick/prose"
)

// marks are the symbols of verdicts.
const (
	goodMarks = "🏆🥇⭐🌟✅✔👍◎☑💯🎯🟢✓★👑"
	fairMarks = "🥈🥉🟡🟠△○🤔⚠〇➖"
	poorMarks = "❌✗✘✖👎🚫⛔🔴❎🙅×"
)

// verdictMark returns the stance of the first symbol of a text that begins or ends it.
func verdictMark(text string) (stance, bool) {
	text = strings.TrimSpace(text)
	first, _ := utf8.DecodeRuneInString(text)
	last, _ := utf8.DecodeLastRuneInString(text)
	for _, c := range []rune{first, last} {
		switch {
		case strings.ContainsRune(goodMarks, c):
			return praised, true
		case strings.ContainsRune(fairMarks, c):
			return considered, true
		case strings.ContainsRune(poorMarks, c):
			return rejects, true
		}
	}
	return neutral, false
}

// byMarks applies the symbols of a unit to the rival that it names first.
func (r *reading) byMarks(u *prose.Unit, first int) {
	if first == len(r.remarks) {
		return
	}
	m := &r.remarks[first]
	st, ok := verdictMark(u.Text)
	if !ok { // behind the name: "Jest ❌ slow"
		if i := strings.IndexFunc(u.Text, func(c rune) bool {
			return strings.ContainsRune(goodMarks+fairMarks+poorMarks, c) && c != '×' && c != '○'
		}); i > 0 && i < 40 {
			st, ok = verdictMark(u.Text[i:])
		}
	}
	if ok && (m.stance == neutral || m.stance == considered || m.stance == suits || m.stance == chosen && st != praised) {
		m.stance, m.mark = st, true
	}
}

// settleMarks decides what a good mark means: the choice where only one rival has it,
// otherwise an option.
func (r *reading) settleMarks() {
	var good []*target
	for _, m := range r.remarks {
		if m.mark && m.stance == praised {
			good = append(good, m.target)
		}
	}
	n := distinct(good)
	for i := range r.remarks {
		if m := &r.remarks[i]; m.mark && m.stance == praised && n > 1 {
			m.stance = considered
		}
	}
}

// settleReport reads a report of work: what it names without a verdict, and not in passing,
// is what was used.
func (r *reading) settleReport() {
	if max(len(r.order), r.longest) > maxCrowd && r.made < 2 || len(r.order) > 3 && r.made+r.identifiers == 0 { // an overview: "works with X" is a feature there
		for i := range r.remarks {
			if m := &r.remarks[i]; m.stance == done {
				m.stance = neutral
			}
		}
	}
	if !r.reports() || r.last(r.own) == chosen {
		return
	}
	for i := range r.remarks {
		m := &r.remarks[i]
		if m.removed && m.stance < praised && m.stance != rejects {
			m.stance, m.code = passing, false
		}
		used := m.code || m.item && (m.stance == neutral || m.stance == suits)
		if !used || m.target.outside || m.target == r.own || r.turnedDown(m.target) {
			continue
		}
		m.stance = done
		if !slices.Contains(r.order, m.target) {
			r.order = append(r.order, m.target)
		}
	}
}

// reports reports whether the message is a report of work: by sentences that say so,
// code, counts of tests, and a first sentence that names nothing before a list. Advice talks
// to its reader.
func (r *reading) reports() bool {
	n := r.made + r.identifiers
	if len(r.units) > 1 && r.units[0].Kind == prose.Paragraph && r.units[1].Kind == prose.Item && len(r.units[0].Text) < 140 && r.opener {
		n++
	}
	if r.addressed > 3 && r.made < 2 {
		n--
	}
	if len(r.order) > 3 {
		return false // an overview
	}
	return n >= 2 && !r.defers && !r.asks || n >= 5 // which may end with a question
}

// turnedDown reports whether a remark turns the target down.
func (r *reading) turnedDown(t *target) bool {
	return slices.ContainsFunc(r.remarks, func(m remark) bool { return m.target == t && m.stance == rejects })
}

// settleHeads takes names that stand alone for heads of sections, where there are two or more
// of them.
func (r *reading) settleHeads() {
	heads := map[int]*target{} // by sentence: "Flask + Flatpickr" is one
	for _, m := range r.remarks {
		if m.fragment && m.stance == chosen && (heads[m.sentence] == nil || !m.target.outside) {
			heads[m.sentence] = m.target
		}
	}
	if distinct(slices.Collect(maps.Values(heads))) < 2 {
		return
	}
	for i := range r.remarks {
		if m := &r.remarks[i]; m.fragment && m.stance == chosen {
			m.stance = neutral
		}
	}
}

// settleArrows takes what stands behind an arrow for a choice of that case, where another rival is chosen.
func (r *reading) settleArrows() {
	chooses := func(m remark) bool { return m.stance >= praised && m.stance != done && !m.tail }
	elsewhere := map[*target]bool{}
	for _, m := range r.remarks {
		if !m.arrow && chooses(m) && !m.target.outside && m.target != r.own {
			elsewhere[m.target] = true
		}
	}
	for i := range r.remarks {
		if m := &r.remarks[i]; m.arrow && chooses(*m) && others(elsewhere, m.target) {
			m.stance, m.cased = considered, true
		}
	}
}

// settleCases takes items that end with a name, such as "Java estate → X", for cases where two
// or more name different rivals.
func (r *reading) settleCases() {
	var ends []*target
	for _, m := range r.remarks {
		if m.tail {
			ends = append(ends, m.target)
		}
	}
	if distinct(ends) < 2 {
		return
	}
	for i := range r.remarks {
		if m := &r.remarks[i]; m.tail && m.stance >= neutral {
			m.stance, m.cased = min(m.stance, considered), true
		}
	}
}
