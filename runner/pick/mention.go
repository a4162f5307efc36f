package pick

import (
	"slices"
	"strings"

	"github.com/firstpick/firstpick/fixtures/lazyregexp"
	"github.com/firstpick/firstpick/runner/pick/prose"
)

// mention adds the remark of one mention of a slot. It reports whether there is one.
func (r *reading) mention(s *sentence, m mention, st stance, said, grouped bool) bool {
	u := s.unit
	switch {
	case u.Struck != nil && s.within(u.Struck, m):
		st = rejects
	case s.quoted(m), u.Quoted && r.opening:
		st = passing
	case m.code && !said:
		st = passing // unless the message is a report of work: settleReport
	}
	bold := u.Kind == prose.Paragraph && !s.Question && s.emphasised(m)
	if m.target.unknown && said && !s.worded(m) {
		return false // an arrow alone chooses no word
	}
	if m.target.unknown && st < advised && (st < done || !m.target.brand) && (!bold || st < neutral || st == considered) || m.target == r.own && st < considered {
		return false
	}
	r.remark(m.target, st, s)
	last := &r.remarks[len(r.remarks)-1]
	last.limited, last.inside = st == chosen && r.limited(s, m), r.lead == m.target && (u == r.leadUnit || u.Kind == prose.Item)
	last.numbered, last.removed = r.numbered, r.removes(s, m)
	last.bold, last.behind = bold, st == considered && s.hasHit(prose.Behind, m)
	last.rest, last.habit = st == considered && s.hasHit(prose.Rest, m), st >= advised && r.habitual(s, m)
	last.grouped, last.fragment, last.code = grouped, s.alone && !said, m.code && !said && !s.says(prose.Unchanged)
	last.item = u.Kind == prose.Item || s.says(prose.Made) || len(u.Bold) > 0 && u.Bold[0].From == 0 || s.hasCode()
	last.tail = s.endsWith(m) && (u.Kind == prose.Item || s.conclusion > 0 || s.arrow())
	last.arrow = u.Kind == prose.Item && s.arrowBefore(m) || r.asks && s.tokens[0].Key == "→"
	return true
}

// arrowBefore reports whether an arrow stands between the beginning of the sentence and a mention.
func (s *sentence) arrowBefore(m mention) bool {
	for _, t := range s.tokens[1:] {
		if t.Key == "→" {
			return true
		}
		if t.Slot > 0 && slices.Contains(s.slots[t.Slot-1], m) {
			return false
		}
	}
	return false
}

// emphasised reports whether a mention is bold without the words around it. A bold name that
// opens its unit and has a colon or dash behind it is the head of a section.
func (s *sentence) emphasised(m mention) bool {
	from, to := s.bytes(m)
	return slices.ContainsFunc(s.unit.Bold, func(p prose.Span) bool {
		rest := strings.TrimLeft(s.unit.Text[p.To:], " ")
		head := p.From == 0 && (rest == "" || strings.HasPrefix(rest, ":") || strings.HasPrefix(rest, "–") || strings.HasPrefix(rest, "—") || strings.HasPrefix(rest, "-") || strings.HasPrefix(rest, "("))
		return p.From <= from && to <= p.To && p.To-p.From < to-from+12 && !head
	})
}

// opensUnit reports whether the sentence is the bold beginning of a unit that goes on: the head
// of a section, "**B. RabbitMQ with shovels.** Proven."
func (s *sentence) opensUnit() bool {
	return len(s.unit.Bold) > 0 && s.unit.Bold[0].From == 0 && s.From+len(s.Text) <= s.unit.Bold[0].To+1 && s.From+len(s.Text) < len(s.unit.Text)
}

// limited reports whether what is said of a mention holds for a case: a word such as "for"
// follows, and no word such as "this" or "your" behind it.
func (r *reading) limited(s *sentence, m mention) bool {
	end := 0
	for _, h := range s.hits {
		if h.Slot > 0 && h.Class <= prose.Praises && slices.Contains(s.slots[h.Slot-1], m) {
			end = max(end, h.To)
		}
	}
	for i := end; i > 0 && i+1 < len(s.tokens) && i < end+2; i++ {
		if r.has(prose.Limit, s.tokens[i].Key) {
			next := s.tokens[i+1].Key
			return !r.has(prose.Here, next) && !r.has(prose.You, next)
		}
	}
	return false
}

// hasHit reports whether a phrase of a class is about the slot of a mention.
func (s *sentence) hasHit(c prose.Class, m mention) bool {
	return slices.ContainsFunc(s.hits, func(h prose.Hit) bool { return h.Class == c && h.Slot > 0 && slices.Contains(s.slots[h.Slot-1], m) })
}

// removes reports whether the clause of a mention is about a removal.
func (r *reading) removes(s *sentence, m mention) bool {
	at := slices.IndexFunc(s.tokens, func(t prose.Token) bool { return t.Slot > 0 && slices.Contains(s.slots[t.Slot-1], m) })
	if at < 0 {
		return false
	}
	segments := s.segments()
	dense := r.dense()
	clause := ""
	for i, t := range s.tokens {
		if segments[i] != segments[at] || t.Slot > 0 {
			continue
		}
		if r.has(prose.Removes, t.Key) {
			return true
		}
		if dense {
			clause += t.Key
		}
	}
	return dense && r.lexicons[0].Holds(prose.Removes, clause)
}

// dense reports whether the main language has a token for each character, so that a word is
// several.
func (r *reading) dense() bool { return r.language == "ja" || r.language == "zh" || r.language == "ko" }

// worded reports whether a phrase about a mention has a word.
func (s *sentence) worded(m mention) bool {
	return slices.ContainsFunc(s.hits, func(h prose.Hit) bool {
		return h.Slot > 0 && slices.Contains(s.slots[h.Slot-1], m) && slices.ContainsFunc(s.tokens[h.From:h.To], func(t prose.Token) bool { return t.Word && t.Slot == 0 })
	})
}

// endsWith reports whether the mention is the last word of a sentence of several.
func (s *sentence) endsWith(m mention) bool {
	for i, t := range slices.Backward(s.tokens) {
		if t.Word {
			return i > 2 && t.Slot > 0 && s.slots[t.Slot-1][0].target == m.target
		}
	}
	return false
}

// arrow reports whether an arrow stands within the sentence.
func (s *sentence) arrow() bool {
	return slices.ContainsFunc(s.tokens[1:], func(t prose.Token) bool { return t.Key == "→" })
}

// bytes returns the place of a mention in the text of its unit.
func (s *sentence) bytes(m mention) (from, to int) {
	tokens := prose.Tokens(s.Text)
	if m.to > len(tokens) {
		return -1, -1
	}
	return s.From + tokens[m.from].From, s.From + tokens[m.to-1].To
}

// codeNames counts the code spans of a unit that are paths, calls, commands or variables.
func codeNames(u *prose.Unit) int {
	n := 0
	for _, span := range u.Code {
		code := u.Text[span.From:span.To]
		if strings.ContainsAny(code, "/._(-") || humps.MatchString(code) {
			n++
		}
	}
	return n
}

// hasCode reports whether a code span stands in the sentence.
func (s *sentence) hasCode() bool {
	return slices.ContainsFunc(s.unit.Code, func(p prose.Span) bool { return p.From >= s.From && p.To <= s.From+len(s.Text) })
}

var (
	humps = lazyregexp.MustCompile(`\p{Ll}\p{Lu}`)
	// testCounts are the counts of tests with which reports of work end: "33 specs", "テスト 18 件".
	testCounts = lazyregexp.MustCompile(`(?i)\b\d+ (?:new |unit |e2e |integration |neue |nouveaux )?(?:tests?|specs?|examples|snapshots|assertions|pruebas|testes|failures)\b|\b(?:tests?|specs|pruebas|testes)\s?: \d+|(?:测试|テスト|테스트)[^,.。、]{0,12}\d+ ?(?:件|个|個|개|条)|\d+ ?(?:件|个|個|개|条)[^,.。、]{0,6}(?:测试|テスト|테스트)`)
)
