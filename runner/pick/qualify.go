package pick

import (
	"regexp"
	"slices"

	"github.com/firstpick/firstpick/runner/pick/prose"
)

// segments numbers the clauses of the tokens.
func (s *sentence) segments() []int {
	if s.clauses != nil {
		return s.clauses
	}
	out := make([]int, len(s.tokens))
	n := 0
	for i, t := range s.tokens {
		if t.IsMark(";:–—()|→") {
			n++
		}
		out[i] = n
	}
	s.clauses = out
	return out
}

// quoted reports whether a mention stands between quotation marks, or in the text of a link,
// with other words.
func (s *sentence) quoted(m mention) bool {
	tokens := prose.Tokens(s.Text)
	if m.to > len(tokens) {
		return false
	}
	open := -1
	for i, t := range tokens {
		switch {
		case t.Key != `"`:
		case open < 0:
			open = i
		case open < m.from && m.to <= i:
			return i-open-1 > m.to-m.from
		default:
			open = -1
		}
	}
	if open >= 0 && open < m.from && open < 2 {
		return true // a quotation of several sentences
	}
	from, to := s.From+tokens[m.from].From, s.From+tokens[m.to-1].To
	return slices.ContainsFunc(s.unit.Links, func(p prose.Span) bool { return p.From <= from && to <= p.To && p.To-p.From > 2*(to-from) })
}

// qualified returns the stance that results in a question, under a condition, for later,
// or for a case that is not.
func (r *reading) qualified(s *sentence, st stance, at int) stance {
	segments := s.segments()
	if s.Question {
		if st == rejects {
			return st
		}
		return min(max(st, neutral), neutral)
	}
	if st != rejects && r.others(s, at) {
		return min(st, passing)
	}
	if st <= neutral {
		if st == neutral && r.conditional(s, at) {
			return considered
		}
		return st
	}
	for _, h := range s.hits {
		if (h.Class == prose.Later || h.Class == prose.Unreal) && !s.chooses(h.From) && segments[h.From] == segments[at] && r.reaches(s, h, at) && !r.opposed(s, h.From, at) {
			return considered
		}
	}
	if r.conditional(s, at) {
		return considered
	}
	return st
}

// others reports whether the token belongs to what others say.
func (r *reading) others(s *sentence, at int) bool {
	return slices.ContainsFunc(s.hits, func(h prose.Hit) bool {
		return h.Class == prose.Quoted && h.From < at && !s.firstPerson(h) && !s.speaks(h.To, at) && !s.ends(r, h.From, at)
	})
}

// ends reports whether what others say ends before a token: at a semicolon, an arrow, a parenthesis or a
// clause that begins with a word such as "so".
func (s *sentence) ends(r *reading, from, at int) bool {
	if s.closed(from, at) {
		return true
	}
	for i := from; i < at; i++ {
		t := s.tokens[i]
		if t.Slot == 0 && i > 0 && (t.Key == "→" || !s.tokens[i-1].Word && r.leads(t.Key)) {
			return true
		}
	}
	return false
}

// speaks reports whether behind a comma the answer itself speaks about the token: "you
// mentioned latency, X gets my vote".
func (s *sentence) speaks(from, at int) bool {
	slot := s.tokens[at].Slot
	return slices.ContainsFunc(s.hits, func(h prose.Hit) bool {
		return h.Slot == slot && slot > 0 && h.Class <= prose.Praises && h.From > from &&
			slices.ContainsFunc(s.tokens[from:h.From], func(t prose.Token) bool { return t.Key == "," }) &&
			slices.ContainsFunc(s.tokens[h.From:h.To], func(t prose.Token) bool { return t.Key == "i" || t.Key == "my" || t.Key == "we" || t.Key == "our" })
	})
}

// firstPerson reports whether a phrase about others runs into what the answer says itself:
// "the team moving off X, I'd recommend".
func (s *sentence) firstPerson(h prose.Hit) bool {
	return slices.ContainsFunc(s.tokens[h.From+1:h.To], func(t prose.Token) bool { return t.Key == "i" || t.Key == "we" })
}

// reaches reports whether a condition behind the token at may be about it. Chinese, Japanese
// and Korean put conditions first: behind a comma they are about what follows.
func (r *reading) reaches(s *sentence, h prose.Hit, at int) bool {
	if h.From < at {
		return true
	}
	if !r.dense() { // "start with X and revisit when you grow"
		return !slices.ContainsFunc(s.tokens[at:h.From], func(t prose.Token) bool { return t.Slot == 0 && (r.has(prose.And, t.Key) || r.leads(t.Key)) })
	}
	return !slices.ContainsFunc(s.tokens[at:h.From], func(t prose.Token) bool { return t.Key == "," || t.Key == "、" })
}

// chooses reports whether a token is part of an explicit choice: "if I had to pick one, X".
func (s *sentence) chooses(at int) bool {
	covers := func(c prose.Class) bool {
		return slices.ContainsFunc(s.hits, func(h prose.Hit) bool { return h.Class == c && h.From <= at && at < h.To })
	}
	return covers(prose.Commits) && covers(prose.Condition)
}

// conditional reports whether the token stands under a condition of its sentence.
func (r *reading) conditional(s *sentence, at int) bool {
	segments := s.segments()
	if s.parallel(at) {
		return true
	}
	for _, h := range s.hits {
		if h.Class != prose.Condition || s.chooses(h.From) {
			continue
		}
		switch {
		case h.From < at: // "If you need SAML, go with X"
			if !s.closed(h.From, at) && !r.opposed(s, h.From, at) {
				return true
			}
		case !r.reaches(s, h, at):
		case segments[h.From] == segments[at] || segments[h.From] == segments[at]+1 && s.tokens[h.From-1].Key == "(":
			return true // "X if you need SAML"
		}
	}
	return false
}

// parallel reports whether the part of a sentence behind a semicolon begins as a condition before
// it does: "if A, X; if B, Y".
func (s *sentence) parallel(at int) bool {
	from := at
	for from > 0 && s.tokens[from-1].Key != ";" {
		from--
	}
	return from > 0 && from < at && slices.ContainsFunc(s.hits, func(h prose.Hit) bool {
		return h.Class == prose.Condition && h.From < from && s.tokens[h.From].Key == s.tokens[from].Key
	})
}

// closed reports whether a semicolon, or a parenthesis that opens before them, ends between two
// tokens.
func (s *sentence) closed(from, to int) bool {
	open := 0
	for _, t := range s.tokens[from:to] {
		switch t.Key {
		case "(":
			open++
		case ")":
			open--
		}
		if t.Key == ";" || open < 0 {
			return true
		}
	}
	return false
}

// A phrasePattern is a catalogue's pattern of own work.
type phrasePattern = *regexp.Regexp

func newSurroundings(text string) surroundings {
	return surroundings{text: text, seen: map[*regexp.Regexp]bool{}}
}

func compact(targets []*target) []*target {
	var out []*target
	for _, t := range targets {
		if !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	return out
}

func distinct(targets []*target) int { return len(compact(targets)) }

func targetsOf(list []mention) []*target {
	var out []*target
	for _, m := range list {
		out = append(out, m.target)
	}
	return compact(out)
}

func distinctMentions(list []mention) int { return len(targetsOf(list)) }
