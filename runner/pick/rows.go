package pick

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/firstpick/firstpick/runner/pick/prose"
)

// row reads a row of a table: the rival in its first cells, and the cell with the verdict.
func (r *reading) row(u *prose.Unit) {
	r.n++
	r.openTable(u)
	at, t := -1, (*target)(nil)
	for i, c := range u.Cells {
		tokens := prose.Tokens(c)
		if found := r.find(c, tokens); len(found) > 0 {
			at, t = i, found[0].target
			break
		}
	}
	if t == nil {
		r.criteria = r.criteria || r.choices > 0 && r.choices < len(u.Cells) && !r.namesAny(u.Cells[r.choices])
		r.columns(u)
		return
	}
	st, mark := neutral, false
	for i, c := range u.Cells {
		if i == at || len(u.Cells) > 2 && i < len(u.Head) && !r.verdictHead(u.Head[i]) {
			continue
		}
		if verdict, byMark, ok := r.verdict(c); ok {
			st, mark = verdict, byMark
		}
	}
	if st == neutral && !mark {
		st = ticks(u.Cells)
	}
	s := &sentence{Sentence: prose.Sentence{Text: u.Text}, unit: u}
	r.remark(t, st, s)
	r.remarks[len(r.remarks)-1].mark = mark
	r.remarks[len(r.remarks)-1].column = at > 0 && r.choices == at
	r.topic = []*target{t}
	if !r.inTable {
		r.many = nil
	}
	r.inTable = true
	if !slices.Contains(r.many, t) {
		r.many = append(slices.Clip(r.many), t)
	}
}

// ticks reads the symbols in the cells of a row: two or more good ones alone speak for it, a
// poor one against it.
func ticks(cells []string) stance {
	good, others := 0, neutral
	for _, c := range cells {
		switch st, ok := verdictMark(c); {
		case !ok:
		case st == praised:
			good++
		case st == rejects:
			others = faults
		case others == neutral:
			others = considered
		}
	}
	switch {
	case others == faults:
		return faults
	case good > 1 && others == neutral:
		return suits
	default:
		return neutral
	}
}

// columns notes the rivals that head the columns of a table, once for each table, and reads the
// row with the verdicts on them: "Recommendation | ✅ | –".
func (r *reading) columns(u *prose.Unit) {
	if len(u.Head) == 0 {
		return
	}
	if len(r.head) == 0 || &r.head[0] != &u.Head[0] {
		r.head = u.Head
		for _, c := range u.Head {
			for _, m := range r.find(c, prose.Tokens(c)) {
				r.remark(m.target, neutral, &sentence{Sentence: prose.Sentence{Text: c}})
			}
		}
	}
	if len(u.Cells) < 3 || !r.pickHead(u.Cells[0]) {
		return
	}
	for i, c := range u.Cells[1:min(len(u.Cells), len(u.Head))] {
		head := u.Head[i+1]
		found := targetsOf(r.find(head, prose.Tokens(head)))
		if st, mark, ok := r.verdict(c); ok && len(found) == 1 {
			r.remark(found[0], st, &sentence{Sentence: prose.Sentence{Text: u.Text}})
			r.remarks[len(r.remarks)-1].mark = mark
		}
	}
}

// pickHead reports whether the head of a column or row is a label of the choice.
func (r *reading) pickHead(head string) bool {
	c, ok := r.labelOf(head)
	return ok && c == prose.LabelPick
}

// openTable finds the column of choices where a table begins.
func (r *reading) openTable(u *prose.Unit) {
	if len(u.Head) == 0 {
		r.table, r.choices = nil, 0
		return
	}
	if r.table == &u.Head[0] {
		return
	}
	r.table, r.choices = &u.Head[0], 0
	for i, h := range u.Head {
		if i > 0 && r.choices == 0 && r.pickHead(h) {
			r.choices = i
		}
	}
}

// namesAny reports whether a cell names something, known or not, or is empty: "tie" does not.
func (r *reading) namesAny(cell string) bool {
	tokens := prose.Tokens(cell)
	return !slices.ContainsFunc(tokens, func(t prose.Token) bool { return t.Word }) || len(r.find(cell, tokens)) > 0 || slices.ContainsFunc(tokens, func(t prose.Token) bool {
		first, _ := utf8.DecodeRuneInString(cell[t.From:])
		return unicode.IsUpper(first) && t.To-t.From > 2 && !common()[t.Key] && !r.has(prose.Common, t.Key)
	})
}

// settleColumns reads the column of choices of a table whose rows are other things: the layers of a
// stack, the needs of a project. One rival in it is the choice; more are one for each row. A column
// that names nothing in another row lists the winner by criterion.
func (r *reading) settleColumns() {
	if r.criteria {
		return
	}
	var in []*target
	for _, m := range r.remarks {
		if m.column && !m.target.outside && m.stance >= neutral {
			in = append(in, m.target)
		}
	}
	for i := range r.remarks {
		if m := &r.remarks[i]; m.column && !m.target.outside && m.stance == neutral && distinct(in) == 1 {
			m.stance = chosen
		}
	}
}

// verdictHead reports whether a column's head announces verdicts, or is empty.
func (r *reading) verdictHead(head string) bool {
	if strings.TrimSpace(head) == "" {
		return true
	}
	tokens := prose.Tokens(head)
	for _, x := range r.lexicons {
		for _, h := range x.Match(tokens) {
			if h.Class == prose.LabelVerdict {
				return true
			}
		}
	}
	return false
}

// verdict reads a cell: a symbol or a phrase without a name.
func (r *reading) verdict(cell string) (st stance, mark, ok bool) {
	bare := strings.TrimSpace(strings.TrimFunc(cell, func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) }))
	tokens := prose.Tokens(bare)
	for _, x := range r.lexicons {
		for _, h := range x.Match(tokens) {
			if h.From > 0 {
				continue
			}
			switch h.Class {
			case prose.TakesIt:
				return chosen, false, true
			case prose.DropsIt:
				return rejects, false, true
			case prose.PassesIt:
				return considered, false, true
			default:
			}
		}
	}
	if st, ok := verdictMark(cell); ok {
		return st, true, true
	}
	return neutral, false, false
}
