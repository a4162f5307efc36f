package pick

import (
	"slices"
	"strings"

	"github.com/firstpick/firstpick/runner/pick/prose"
)

// gapping extends what is said of one name to the next that has the same form: "X for cards
// and Y for debits".
func (r *reading) gapping(s *sentence, stances map[int]judged) {
	r.hosted(s, stances)
	last, lastAt := 0, 0
	for i, t := range s.tokens {
		if t.Slot == 0 {
			continue
		}
		said, known := stances[t.Slot]
		if known && last > 0 && i > 0 && said.stance >= praised && said.stance < stances[last].stance && r.has(prose.And, s.tokens[i-1].Key) && r.goesOn(s, lastAt, i) {
			known = false // "I'd use X for cards, and Y for the debits"
		}
		if !known && last > 0 && i > 0 && (r.goesOn(s, lastAt, i) || r.repeats(s, lastAt, i)) {
			stances[t.Slot] = stances[last]
			known = true
		}
		if known {
			last, lastAt = t.Slot, i
		}
	}
}

// goesOn reports whether the names at two tokens are followed by the same short word.
func (r *reading) goesOn(s *sentence, first, second int) bool {
	if second+1 >= len(s.tokens) {
		return false
	}
	next := s.tokens[second+1]
	return next.Word && len(next.Key) < 6 && next.Key == s.tokens[first+1].Key
}

// repeats reports whether the name at the second token ends a part of the sentence that begins as
// the sentence does, with a word such as "for", and that has no verb: "for cards use X, for debits Y".
func (r *reading) repeats(s *sentence, first, second int) bool {
	if !r.has(prose.Limit, s.tokens[0].Key) || !s.rival(s.tokens[second]) || second+1 < len(s.tokens) && s.tokens[second+1].Word {
		return false
	}
	from := second
	for from > first && !s.tokens[from-1].IsMark(",;、") {
		if r.has(prose.Verb, s.tokens[from-1].Key) {
			return false
		}
		from--
	}
	return from > first+1 && from < second && s.tokens[from].Key == s.tokens[0].Key
}

// nextCase reports whether the name at a token has a part of the sentence and a condition of its
// own, and no verb: "use X for cards if A, Y if B" or "if A, use X, if B, Y".
func (r *reading) nextCase(s *sentence, at int) bool {
	from := at
	for from > 0 && s.tokens[from-1].Word && s.tokens[from-1].Slot == 0 && (r.joiner(s.tokens[from-1:from]) > 0 || r.has(prose.Article, s.tokens[from-1].Key)) {
		from--
	}
	if from == 0 || !s.tokens[from-1].IsMark(",;、") {
		return false
	}
	if s.begins(prose.Condition, at+1) {
		return true
	}
	if at+1 < len(s.tokens) && s.tokens[at+1].Word {
		return false
	}
	for from--; from > 0 && !s.tokens[from-1].IsMark(",;、"); {
		from--
	}
	return s.begins(prose.Condition, from) || from+1 < len(s.tokens) && r.joiner(s.tokens[from:from+1]) > 0 && s.begins(prose.Condition, from+1)
}

// begins reports whether a phrase of a class begins at a token.
func (s *sentence) begins(c prose.Class, at int) bool {
	return slices.ContainsFunc(s.hits, func(h prose.Hit) bool { return h.Class == c && h.From == at })
}

// hosted extends a choice to the rival that serves what is chosen: "PostgreSQL on Neon".
func (r *reading) hosted(s *sentence, stances map[int]judged) {
	for i := 0; i+2 < len(s.tokens); i++ {
		a, b := s.tokens[i], s.tokens[i+2]
		if a.Slot == 0 || b.Slot == 0 || !r.has(prose.Serves, s.tokens[i+1].Key) || stances[a.Slot].stance < praised {
			continue
		}
		if _, known := stances[b.Slot]; !known {
			stances[b.Slot] = stances[a.Slot]
		}
	}
}

// fragment reports whether a sentence says nothing but names: "Postmark." or "Stripe,
// obviously."
func (r *reading) fragment(s *sentence) bool {
	if len(s.slots) == 0 || s.unit.Kind == prose.Heading || s.unit.Kind == prose.Item || severalRivals(slices.Concat(s.slots...)) {
		return false
	}
	words, names := 0, 0
	for i, t := range s.tokens {
		switch {
		case t.Slot > 1 && t.Soft && i > 0 && r.joiner(s.tokens[i-1:i]) > 0: // "Flask + Flatpickr"
		case t.Slot > 0:
			if names++; i > 2 {
				return false
			}
			if i == 0 && i+1 < len(s.tokens) && s.tokens[i+1].Key == "," {
				words -= 3 // "Meilisearch, on your own server."
			}
		case t.Word:
			words++
		case t.Key == ":" || t.Key == "|" || t.Key == "(":
			return false
		}
	}
	return words <= 1 && names == 1
}

// concluding returns the slot of the name behind a colon that ends an argument: "Four nodes
// and little time: Dask." It returns 0 for other sentences.
func (r *reading) concluding(s *sentence) int {
	words := 0
	if numberedOption.MatchString(s.Text) { // "Option A: X"
		return 0
	}
	for i, t := range s.tokens {
		switch {
		case t.Slot > 0 && !t.Soft && !s.slots[t.Slot-1][0].target.outside:
			return 0
		case t.Word:
			words++
		case t.Key == "," && words > 1:
			words += 2 // "Static site, no server: X"
		case t.Key == ":" && i+1 < len(s.tokens) && s.tokens[i+1].Slot > 0 && s.tokens[i+1].From > t.To && (words >= 5 || words > 0 && i+2 >= len(s.tokens)-1 || words == 1 && r.leads(s.tokens[0].Key)) && s.unit.Kind != prose.Item && distinctMentions(s.slots[s.tokens[i+1].Slot-1]) == 1:
			if i+2 < len(s.tokens) && s.tokens[i+2].Word && !r.has(prose.Serves, s.tokens[i+2].Key) && !r.has(prose.And, s.tokens[i+2].Key) {
				return 0 // the name is the subject of what follows
			}
			return s.tokens[i+1].Slot
		}
	}
	return 0
}

// coded reports whether bytes of the sentence are code.
func (s *sentence) coded(from, to int) bool {
	in := func(spans []prose.Span) bool {
		return slices.ContainsFunc(spans, func(p prose.Span) bool { return p.From <= s.From+from && s.From+to <= p.To && p.To-p.From < 40 })
	}
	return in(s.unit.Code)
}

// within reports whether a mention stands in one of the spans of the unit.
func (s *sentence) within(spans []prose.Span, m mention) bool {
	from, to := s.bytes(m)
	return slices.ContainsFunc(spans, func(p prose.Span) bool { return p.From <= from && to <= p.To })
}

// verbless reports whether the token begins a sentence that names it and adds no verb:
// "RSpec with FactoryBot."
func (r *reading) verbless(s *sentence, at int) bool {
	if s.Question || s.unit.Kind != prose.Paragraph || at+1 >= len(s.tokens) || severalRivals(s.slots[s.tokens[at].Slot-1]) || r.shared(s) || r.presented(s, at) {
		return false
	}
	from := at
	for from > 0 && s.tokens[from-1].Word && s.tokens[from-1].Slot == 0 && (r.leads(s.tokens[from-1].Key) || r.has(prose.Article, s.tokens[from-1].Key)) {
		from--
	}
	if from > 0 && (from == at || s.tokens[from-1].Key != ",") { // "It's a Rails app, so Flipper with ..."
		return false
	}
	next := s.tokens[at+1].Key
	if r.opens(s, at) {
		return true
	}
	if next == "," && at+2 < len(s.tokens) && r.has(prose.Complement, s.tokens[at+2].Key) { // "RSpec, since your team knows it."
		return true
	}
	if next != ";" && !r.has(prose.Serves, next) && !r.has(prose.And, next) && !r.has(prose.Complement, next) && next != "+" && next != "&" {
		return false
	}
	for _, t := range s.tokens[at+1:] {
		if !t.Word && strings.Contains(";:–—.", t.Key) {
			break
		}
		if r.has(prose.Verb, t.Key) || s.rival(t) {
			return false
		}
	}
	return true
}

// severalRivals reports whether joined names are those of two or more rivals, or of none: "Flask +
// Gunicorn" names one.
func severalRivals(group []mention) bool {
	rivals := slices.DeleteFunc(slices.Clone(group), func(m mention) bool { return m.target.outside })
	if len(rivals) == 0 {
		rivals = group
	}
	return distinctMentions(rivals) > 1
}

// shared reports whether a sentence begins with a name and gives another one a task too: "X for
// cards, Y for debits".
func (r *reading) shared(s *sentence) bool {
	if !s.rival(s.tokens[0]) {
		return false
	}
	for i := 2; i+1 < len(s.tokens); i++ {
		if s.rival(s.tokens[i]) && s.tokens[i-1].IsMark(",;、") && r.has(prose.Complement, s.tokens[i+1].Key) && r.goesOn(s, 0, i) {
			return true
		}
	}
	return false
}

// rival reports whether a token is the name of a rival.
func (s *sentence) rival(t prose.Token) bool {
	return t.Slot > 0 && slices.ContainsFunc(s.slots[t.Slot-1], func(m mention) bool { return !m.target.outside })
}

// opens reports whether the sentence answers with a name alone what was asked: it begins the
// message or follows a question, and its first clause is short and has no verb: "GoCardless,
// and set the retry rules." Languages without a list of verbs are left out.
func (r *reading) opens(s *sentence, at int) bool {
	if r.n > 1 && !r.asks || at > 3 || !r.lexicons[0].Lists(prose.Verb) {
		return false
	}
	for i, t := range s.tokens {
		switch {
		case i == at:
		case i > at && t.IsMark(",;:–—."):
			return t.Key != ":" || i > at+1
		case s.rival(t), i > at+5, t.Word && (r.has(prose.Verb, t.Key) || r.has(prose.Negation, t.Key)), !t.Word:
			return false
		}
	}
	return false // nothing follows: see fragment
}
