package pick

import (
	"slices"
	"strings"

	"github.com/firstpick/firstpick/fixtures/lazyregexp"
	"github.com/firstpick/firstpick/runner/pick/prose"
)

// labelOf returns the class of a text that is a label alone: one with a name says something about it.
func (r *reading) labelOf(text string) (prose.Class, bool) {
	text = strings.TrimSpace(strings.TrimRight(strings.TrimLeft(strings.TrimSpace(text), "*#→-🏆✅❌ "), ":*.? "))
	if len(text) > 60 {
		return 0, false
	}
	tokens := prose.Tokens(text)
	if len(r.find(text, tokens)) > 0 {
		return 0, false
	}
	for _, x := range r.lexicons {
		hits := x.Match(tokens)
		if slices.ContainsFunc(hits, func(h prose.Hit) bool { return h.Class == prose.Refuses }) {
			return 0, false
		}
		for _, h := range hits {
			if h.Class >= prose.LabelPick && h.Class <= prose.LabelPast && h.From == 0 && h.To == len(tokens) {
				return h.Class, true
			}
		}
	}
	return 0, false
}

// byLabel applies a label to the unit whose remarks begin at first.
func (r *reading) byLabel(label prose.Class, first int) {
	done, rival := false, slices.ContainsFunc(r.remarks[first:], func(m remark) bool { return !m.target.outside && m.target != r.own })
	dropped := map[*target]bool{}
	for _, m := range r.remarks[first:] {
		dropped[m.target] = dropped[m.target] || m.stance == rejects
	}
	for i := first; i < len(r.remarks); i++ {
		m := &r.remarks[i]
		if m.stance < passing || m.stance > suits && !m.fragment {
			continue
		}
		switch label {
		case prose.LabelPick:
			if !done && (!rival || !m.target.outside) && m.stance != considered && !m.grouped && m.sentence == r.remarks[first].sentence && !dropped[m.target] {
				m.stance, done = chosen, true
			}
		case prose.LabelOptions:
			m.stance = considered
		case prose.LabelRejects:
			m.stance = rejects
		case prose.LabelWhyNot:
			if m.stance != considered {
				m.stance = rejects
			}
		case prose.LabelPast:
			m.stance, m.code = passing, false
		default:
		}
	}
}

// unitLabel applies a label at the beginning of the unit itself: "Removed: X".
func (r *reading) unitLabel(u *prose.Unit, first int) {
	head, _, ok := strings.Cut(u.Text, ":")
	if !ok || len(head) > maxHead {
		return
	}
	c, ok := r.labelOf(head)
	if !ok || c == prose.LabelPick || c == prose.LabelVerdict {
		return
	}
	r.byLabel(c, first)
}

// openSection notes whose section begins with the unit: a heading or bold opener that names
// one rival. A heading or opener that names none ends the last one.
func (r *reading) openSection(u *prose.Unit) {
	text := u.Text
	switch {
	case u.Kind == prose.Heading:
		r.number(text)
	case len(u.Bold) > 0 && u.Bold[0].From == 0:
		text = u.Text[:u.Bold[0].To]
		if u.Kind == prose.Paragraph && len(text) == len(strings.TrimSpace(u.Text)) {
			r.number(text)
		}
	case u.Kind == prose.Item && u.Level > 1 || u.Kind == prose.Item && r.lead != nil && r.leadKind == prose.Heading:
		return
	case u.Kind == prose.Item:
		text, _, _ = strings.Cut(u.Text, ":")
		if len(text) > 40 {
			return
		}
	case u.Kind == prose.Paragraph && numberedOption.MatchString(text): // "Option A: X"
		text, _, _ = strings.Cut(text, "\n")
		if len(text) > maxHead {
			return
		}
	default:
		return
	}
	found := targetsOf(r.find(text, prose.Tokens(text)))
	if rivals := slices.DeleteFunc(slices.Clone(found), func(t *target) bool { return t.outside }); len(rivals) == 1 && numberedOption.MatchString(text) {
		found = rivals // "Option 1: Postgres and Prisma"
	}
	r.lead, r.leadKind, r.leadUnit = nil, u.Kind, u
	if len(found) == 1 && (!found[0].outside || found[0].contestant) && (!strings.Contains(strings.TrimRight(text, ": "), ": ") || optionHead.MatchString(text)) { // not "TL;DR: X"
		r.lead = found[0]
	}
}

// number notes a heading: those of cases have a number, "Scenario 2: many rooms". Others end
// the cases.
func (r *reading) number(heading string) {
	r.numbered = 0
	if caseHead.MatchString(heading) {
		r.sections++
		r.numbered = r.sections
	}
}

var caseHead = lazyregexp.MustCompile(`^\W*(?:\pL+\s+)?(?:\d|[A-D1-9一二三①②③])\s*(?:[.:)–—-]|$)|^\W*(?:if|when|si|se|wenn|falls)\b`)

// settleSections reads two or more numbered sections that choose something else each as cases:
// what is chosen in them is one of several choices, unless the message chooses outside of them.
func (r *reading) settleSections() {
	in := map[*target]int{}
	for _, m := range r.remarks {
		if m.stance < praised || m.target.unknown {
			continue
		}
		if m.numbered == 0 {
			return
		}
		if _, ok := in[m.target]; !ok {
			in[m.target] = m.numbered
		}
	}
	places := map[int]bool{}
	for _, n := range in {
		places[n] = true
	}
	if len(places) < 2 {
		return
	}
	for i := range r.remarks {
		if m := &r.remarks[i]; m.stance >= praised && !m.target.unknown {
			m.stance, m.limited, m.inside = chosen, true, true
		}
	}
}
