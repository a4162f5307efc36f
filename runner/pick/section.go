package pick

import (
	"strings"

	"github.com/firstpick/firstpick/runner/pick/prose"
)

// labelOf returns the class of a text that is a label alone.
func (r *reading) labelOf(text string) (prose.Class, bool) {
	text = strings.TrimSpace(strings.TrimRight(strings.TrimLeft(strings.TrimSpace(text), "*#→-🏆✅❌ "), ":*. "))
	if len(text) > 60 {
		return 0, false
	}
	tokens := prose.Tokens(text)
	for _, x := range r.lexicons {
		for _, h := range x.Match(tokens) {
			if h.Class >= prose.LabelPick && h.Class <= prose.LabelRejects && h.From == 0 && h.To == len(tokens) {
				return h.Class, true
			}
		}
	}
	return 0, false
}

// byLabel applies the label of the section to the unit whose remarks begin at first.
func (r *reading) byLabel(first int) {
	if r.labelled == 0 {
		return
	}
	done := false
	for i := first; i < len(r.remarks); i++ {
		m := &r.remarks[i]
		if m.stance < passing || m.stance > suits && !m.fragment {
			continue
		}
		m.unit = false
		switch r.label {
		case prose.LabelPick:
			if !done && m.stance != considered && !m.grouped && m.sentence == r.remarks[first].sentence {
				m.stance, done = chosen, true
			}
		case prose.LabelOptions:
			m.stance = considered
		case prose.LabelRejects:
			m.stance = rejects
		default:
		}
	}
}

// openSection notes whose section begins with the unit: a heading or bold opener that names
// one rival. A heading or opener that names none ends the last one.
func (r *reading) openSection(u *prose.Unit) {
	text := u.Text
	switch {
	case u.Kind == prose.Heading:
	case len(u.Bold) > 0 && u.Bold[0].From == 0:
		text = u.Text[:u.Bold[0].To]
	case u.Kind == prose.Item && u.Level > 1 || u.Kind == prose.Item && r.lead != nil && r.leadKind == prose.Heading:
		return
	case u.Kind == prose.Item:
		text, _, _ = strings.Cut(u.Text, ":")
		if len(text) > 40 {
			return
		}
	default:
		return
	}
	found := targetsOf(r.names.find(text, prose.Tokens(text), &r.around))
	r.lead, r.leadKind, r.leadUnit = nil, u.Kind, u
	if len(found) == 1 && !found[0].outside {
		r.lead = found[0]
	}
}
