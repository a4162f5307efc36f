package pick

import "github.com/firstpick/firstpick/runner/pick/prose"

// A ranking is an order of preference, or a set, that the message announces: "best first:", "my stack:".
type ranking struct {
	sentence int  // that announces it, from 1; 0 without one
	list     bool // its names are the items that follow
	set      bool // of tools that are used together, in no order
	marked   bool // by marks: A > B > C
	begun    bool // its first name is behind
}

// noteRank notes a sentence that announces an order of the names behind it, or of the items of the
// list that follows; so does "A > B > C".
func (r *reading) noteRank(s *sentence) {
	first, last, above := 0, 0, 0
	for i, t := range s.tokens {
		if s.rival(t) {
			if first++; first > 1 && i == last+2 && s.tokens[i-1].Key == ">" {
				above++
			}
			last = i
		}
	}
	for _, h := range s.hits {
		if h.Class != prose.Ranks && (h.Class != prose.Sets || first > 0) || s.Question || r.negated(s, h) {
			continue
		}
		before := 0
		for _, t := range s.tokens[:h.From] {
			if s.rival(t) {
				before++
			}
		}
		if before == 0 {
			r.ranking = ranking{sentence: r.n, list: first == 0, set: h.Class == prose.Sets}
			return
		}
	}
	if above > 1 {
		r.ranking = ranking{sentence: r.n, marked: true}
	}
}

// byRank applies an announced order or set to a unit whose remarks begin at first: of an order the first name is
// chosen, and the others are options; of a set the first name of each item is chosen.
func (r *reading) byRank(u *prose.Unit, first int) {
	k := &r.ranking
	switch {
	case k.sentence == 0:
		return
	case k.list && u.Kind != prose.Item:
		if k.begun || len(r.remarks) > first { // something else stands between it and a list
			*k = ranking{}
		}
		return
	}
	seen := map[*target]bool{}
	for i := first; i < len(r.remarks); i++ {
		m := &r.remarks[i]
		if !k.list && m.sentence != k.sentence || m.target.outside || m.target == r.own || seen[m.target] {
			continue
		}
		if k.list && len(seen) > 0 { // an item is about the name that it begins with
			break
		}
		seen[m.target] = true
		switch {
		case m.stance < neutral || m.stance > suits && k.begun && !k.marked:
		case !k.begun || k.set:
			m.stance, m.grouped = max(m.stance, advised), false
		default:
			m.stance = considered
		}
		k.begun = true
	}
	if !k.list {
		*k = ranking{}
	}
}
