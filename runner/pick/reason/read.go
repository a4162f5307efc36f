package reason

import (
	"slices"

	"github.com/firstpick/firstpick/runner/pick/prose"
)

// A Sentence is one sentence of an answer.
type Sentence struct {
	Text string
	// Tokens are its words, with a slot in place of each name or group of joined names.
	Tokens []prose.Token
	// Slots are the slugs of the tools in slot 1, 2, ...; empty for a name outside the category.
	Slots [][]string
	// Topic is the tool that the text before is about, and empty without one.
	Topic string
	// Against are the tools that the sentence turns down or faults, as pick reads it.
	Against []string
}

// Read returns the statements of a sentence, each tool and reason once. A tool that the
// sentence turns down for no known reason has the reason Other; that others are compared with
// it turns nothing down.
func (r *Reader) Read(in Sentence) []Statement {
	s := r.newSentence(in)
	var out []Statement
	add := func(tools []string, why Reason) {
		for _, t := range tools {
			if t != "" && !slices.ContainsFunc(out, func(o Statement) bool { return o.Tool == t && o.Reason == why }) {
				out = append(out, Statement{t, why, in.Text})
			}
		}
	}
	for _, p := range s.points {
		add(s.against(p), p.reason)
	}
	for _, t := range in.Against {
		compared := slices.ContainsFunc(slices.Concat(s.compared, s.unlike), func(slot int) bool { return slices.Contains(s.tools(slot), t) })
		if !compared && !s.denied(t) && !slices.ContainsFunc(out, func(o Statement) bool { return o.Tool == t }) {
			add([]string{t}, Other)
		}
	}
	return out
}

// A point is a phrase for or against something.
type point struct {
	prose.Hit
	reason Reason
}

// A sentence is a Sentence with what its phrases say.
type sentence struct {
	Sentence
	points []point
	// compared are the slots that others are measured by, unlike those that others differ from, losers those that others are preferred to, dropped those that are turned down.
	compared, unlike, losers, dropped []int
	// relations are the spans of the phrases that prefer one to another.
	relations []prose.Span
}

func (r *Reader) newSentence(in Sentence) *sentence {
	s := &sentence{Sentence: in}
	for _, h := range r.compare.Match(in.Tokens) {
		switch h.Class { //nolint:exhaustive // the lexicon has no other section
		case prose.Commits:
			s.losers = append(s.losers, h.Against)
			s.relations = append(s.relations, prose.Span{From: h.From, To: h.To})
		case prose.Rejects:
			s.dropped = append(s.dropped, h.Slot)
		case prose.Behind:
			s.unlike = append(s.unlike, h.Slot)
		case prose.Past:
			s.compared = append(s.compared, h.Slot)
		}
	}
	soft := slices.Clone(in.Tokens) // "the fees of X are high": gaps reach over a name
	for i := range soft {
		soft[i].Soft = soft[i].Slot > 0
	}
	for _, p := range r.points {
		tokens := soft
		if p.reason == Unknown {
			tokens = in.Tokens
		}
		for _, h := range p.lexicon.Match(tokens) {
			s.points = append(s.points, point{h, p.reason})
		}
	}
	all := s.points
	s.points = slices.DeleteFunc(slices.Clone(all), func(a point) bool {
		return slices.ContainsFunc(all, func(b point) bool { return covers(b, a) })
	})
	all = s.points
	s.points = slices.DeleteFunc(slices.Clone(all), func(a point) bool {
		return a.reason == Feature && a.Class == prose.Minus && slices.ContainsFunc(all, func(b point) bool { return s.object(a, b) })
	})
	return s
}

// covers reports whether a is a part of the longer phrase b: "free tier" of "no free tier".
func covers(b, a point) bool {
	return b.From <= a.From && a.To <= b.To && b.To-b.From > a.To-a.From
}

// object reports whether what is missing in a is the point b, as in "has no lock-in".
func (s *sentence) object(a, b point) bool {
	if b.reason == Feature || b.Class == prose.Topic || b.From < a.From+1 || b.From > a.To+maxBefore {
		return false
	}
	for _, t := range s.Tokens[min(a.To, b.From):b.From] {
		if t.Slot > 0 || !joins(t) {
			return false
		}
	}
	return true
}

// against returns the tools that a point speaks against.
func (s *sentence) against(p point) []string {
	if p.Slot > 0 {
		return s.tools(p.Slot)
	}
	if p.Class == prose.Topic {
		return s.turnedDown(p)
	}
	minus := p.Class == prose.Minus
	of := s.possessor(p)
	if s.negated(p, of > 0) {
		minus = !minus
	}
	subject := s.subject(p)
	rivals := slices.Concat(s.unlike, s.measured(p))
	if !minus && p.Class == prose.Minus && !s.less(p) { // "not more expensive than X"
		rivals = s.unlike
		if s.escaped(p) { // "to avoid the lock-in, I skipped X"
			rivals = slices.Concat(rivals, s.dropped)
		}
	}
	switch {
	case minus && of > 0:
		return s.tools(of)
	case minus && subject > 0:
		return s.tools(subject)
	case minus && subject == 0:
		return []string{s.Topic}
	case minus:
		return nil
	}
	var out []string
	for _, slot := range rivals {
		if slot != subject && !s.shares(slot, subject) || s.escaped(p) && slices.Contains(s.dropped, slot) {
			out = append(out, s.tools(slot)...)
		}
	}
	for _, slot := range s.losers {
		if subject <= 0 || subject == slot && s.related(p) || !s.shares(slot, subject) {
			out = append(out, s.tools(slot)...)
		}
	}
	return out
}

// denied reports whether a sentence says of a tool that a point against it does not hold.
func (s *sentence) denied(tool string) bool {
	return slices.ContainsFunc(s.points, func(p point) bool {
		of := s.possessor(p)
		if p.Slot > 0 || p.Class == prose.Plus || !s.negated(p, of > 0) || s.escaped(p) {
			return false
		}
		if of == 0 {
			of = s.subject(p)
		}
		return slices.Contains(s.tools(of), tool)
	})
}

// measured returns the slots that a point is measured by: the next behind it, or those before.
func (s *sentence) measured(p point) []int {
	for _, t := range s.Tokens[p.To:] {
		if slices.Contains(s.compared, t.Slot) {
			return []int{t.Slot}
		}
	}
	return s.compared
}

// turnedDown returns the tools that a sentence turns down where it names a subject such as
// "pricing" as the cause.
func (s *sentence) turnedDown(p point) []string {
	if s.negated(p, false) {
		return nil
	}
	var out []string
	for _, slot := range slices.Concat(s.dropped, s.losers) {
		out = append(out, s.tools(slot)...)
	}
	if len(out) == 0 && len(s.Against) == 1 {
		return s.Against
	}
	return out
}

// related reports whether a phrase that prefers one to another stands before the point.
func (s *sentence) related(p point) bool {
	return slices.ContainsFunc(s.relations, func(r prose.Span) bool { return r.From <= p.From })
}

// shares reports whether two slots name a tool in common.
func (s *sentence) shares(a, b int) bool {
	return b > 0 && slices.ContainsFunc(s.tools(a), func(t string) bool { return slices.Contains(s.tools(b), t) })
}

func (s *sentence) tools(slot int) []string {
	if slot < 1 || slot > len(s.Slots) {
		return nil
	}
	return s.Slots[slot-1]
}
