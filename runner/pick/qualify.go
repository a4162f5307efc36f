package pick

import (
	"regexp"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/runner/pick/prose"
)

// segments numbers the clauses of the tokens.
func (s *sentence) segments() []int {
	out := make([]int, len(s.tokens))
	n := 0
	for i, t := range s.tokens {
		if t.Slot == 0 && !t.Word && strings.Contains(";:–—()|→", t.Key[:1]) || len(t.Key) > 1 && (t.Key == "–" || t.Key == "—" || t.Key == "→") {
			n++
		}
		out[i] = n
	}
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

// qualified returns what becomes of a stance in a question, under a condition, for later,
// or for a case that is not.
func (r *reading) qualified(s *sentence, st stance, at int, segments []int) stance {
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
		if st == neutral && r.conditional(s, at, segments) {
			return considered
		}
		return st
	}
	for _, h := range s.hits {
		if (h.Class == prose.Later || h.Class == prose.Unreal) && segments[h.From] == segments[at] && r.reaches(s, h, at) {
			return considered
		}
	}
	if r.conditional(s, at, segments) {
		return considered
	}
	return st
}

// others reports whether the token belongs to what others say.
func (r *reading) others(s *sentence, at int) bool {
	return slices.ContainsFunc(s.hits, func(h prose.Hit) bool {
		return h.Class == prose.Quoted && h.From < at && !slices.ContainsFunc(s.tokens[h.From:at], func(t prose.Token) bool {
			return t.Key == ";" || t.Key == ")" || t.Slot == 0 && r.leads(t.Key)
		})
	})
}

// reaches reports whether a condition behind the token at may be about it. Chinese, Japanese
// and Korean put conditions first: behind a comma they are about what follows.
func (r *reading) reaches(s *sentence, h prose.Hit, at int) bool {
	if h.From < at {
		return true
	}
	if r.language != "zh" && r.language != "ja" && r.language != "ko" { // "start with X and revisit when you grow"
		return !slices.ContainsFunc(s.tokens[at:h.From], func(t prose.Token) bool { return t.Slot == 0 && (r.has(prose.And, t.Key) || r.leads(t.Key)) })
	}
	return !slices.ContainsFunc(s.tokens[at:h.From], func(t prose.Token) bool { return t.Key == "," || t.Key == "、" })
}

// chooses reports whether a token is part of an explicit choice: "if I had to pick one, X".
func (s *sentence) chooses(at int) bool {
	return slices.ContainsFunc(s.hits, func(h prose.Hit) bool { return h.Class == prose.Commits && h.From <= at && at < h.To })
}

// conditional reports whether the token stands under a condition of its sentence.
func (r *reading) conditional(s *sentence, at int, segments []int) bool {
	for _, h := range s.hits {
		if h.Class != prose.Condition || s.chooses(h.From) {
			continue
		}
		switch {
		case h.From < at: // "If you need SAML, go with X"
			if !slices.ContainsFunc(s.tokens[h.From:at], func(t prose.Token) bool { return t.Key == ";" || t.Key == ")" }) {
				return true
			}
		case !r.reaches(s, h, at):
		case segments[h.From] == segments[at] || segments[h.From] == segments[at]+1 && s.tokens[h.From-1].Key == "(":
			return true // "X if you need SAML"
		}
	}
	return false
}

// gapping extends what is said of one name to the next that has the same form: "X for cards
// and Y for debits".
func (r *reading) gapping(s *sentence, stances map[int]judged) {
	r.hosted(s, stances)
	last, lastAt := 0, 0
	for i, t := range s.tokens {
		if t.Slot == 0 {
			continue
		}
		_, known := stances[t.Slot]
		if !known && last > 0 && i > 0 && i+1 < len(s.tokens) && lastAt+1 < len(s.tokens) &&
			s.tokens[i+1].Key == s.tokens[lastAt+1].Key && s.tokens[i+1].Word && len(s.tokens[i+1].Key) < 6 {
			stances[t.Slot] = stances[last]
			known = true
		}
		if known {
			last, lastAt = t.Slot, i
		}
	}
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
	if len(s.slots) != 1 || s.unit.Kind == prose.Heading || s.unit.Kind == prose.Item || distinctMentions(s.slots[0]) > 1 {
		return false
	}
	words := 0
	for i, t := range s.tokens {
		switch {
		case t.Slot > 0:
			if i > 2 {
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
	return words <= 1
}

// concluding returns the slot of the name behind a colon that ends an argument: "Four nodes
// and no patience: Dask." 0 for none.
func (s *sentence) concluding(leads, complements func(string) bool) int {
	words := 0
	for i, t := range s.tokens {
		switch {
		case t.Slot > 0 && !t.Soft:
			return 0
		case t.Word:
			words++
		case t.Key == "," && words > 1:
			words += 2 // "Static site, no server: X"
		case t.Key == ":" && i+1 < len(s.tokens) && s.tokens[i+1].Slot > 0 && s.tokens[i+1].From > t.To && (words >= 5 || words > 0 && i+2 >= len(s.tokens)-1 || words == 1 && leads(s.tokens[0].Key)) && s.unit.Kind != prose.Item && distinctMentions(s.slots[s.tokens[i+1].Slot-1]) == 1:
			if i+2 < len(s.tokens) && s.tokens[i+2].Word && !complements(s.tokens[i+2].Key) {
				return 0 // the name is the subject of what follows
			}
			return s.tokens[i+1].Slot
		}
	}
	return 0
}

// coded reports whether bytes of the sentence are code or bold.
func (s *sentence) coded(from, to int) bool {
	in := func(spans []prose.Span) bool {
		return slices.ContainsFunc(spans, func(p prose.Span) bool { return p.From <= s.From+from && s.From+to <= p.To && p.To-p.From < 40 })
	}
	return in(s.unit.Code)
}

// within reports whether a mention stands in one of the spans of the unit.
func (s *sentence) within(spans []prose.Span, m mention) bool {
	tokens := prose.Tokens(s.Text)
	if m.to > len(tokens) {
		return false
	}
	from, to := s.From+tokens[m.from].From, s.From+tokens[m.to-1].To
	return slices.ContainsFunc(spans, func(p prose.Span) bool { return p.From <= from && to <= p.To })
}

// without applies the phrases that have no slot.
func (r *reading) without(s *sentence, named []*target) {
	about := compact(named)
	if subject := s.subject(); len(about) == 0 && subject != nil && subject.brand {
		about = []*target{subject}
	} else if len(about) == 0 && r.lead != nil {
		about = []*target{r.lead}
	} else if len(about) == 0 {
		about = r.topic
	}
	lastSlot := -1
	for i, t := range s.tokens {
		if t.Slot > 0 {
			lastSlot = i
		}
	}
	for _, h := range s.hits {
		if h.Class <= prose.PassesIt && h.From < lastSlot {
			continue // it is about a name that follows
		}
		switch h.Class {
		case prose.TakesIt:
			if t := r.taken(about); t != nil && !s.Question && !r.negated(s, h) && !r.conditional(s, h.From, s.segments()) {
				r.remark(t, chosen, s)
			}
		case prose.DropsIt:
			for _, t := range s.before(h.From, about) {
				if !s.Question {
					r.remark(t, rejects, s)
				}
			}
		case prose.PassesIt:
			for _, t := range about {
				r.remark(t, considered, s)
			}
		case prose.Ties:
			if len(about) < 2 {
				about = r.together()
			}
			if len(about) > 1 {
				r.ties = append(r.ties, tie{about, r.n})
			}
		case prose.Builds:
			if !s.Question && !r.negated(s, h) && r.qualified(s, chosen, h.From, s.segments()) == chosen {
				r.remark(r.own, chosen, s)
			}
		case prose.Made:
			if made := r.n; made != r.lastMade {
				r.made, r.lastMade = r.made+1, made
			}
		case prose.Defers:
			r.defers = true
		case prose.Refuses:
			if r.refusal == "" && len(r.order) == 0 {
				r.refusal = s.Text
			}
		default:
		}
	}
	for _, p := range r.phrases {
		if p.MatchString(s.Text) && !s.Question {
			r.remark(r.own, suits, s)
		}
	}
	r.asks = s.Question && !slices.ContainsFunc(s.hits, func(h prose.Hit) bool { return h.Class == prose.Offers })
	r.weigh(s, about)
}

// together returns the targets that "both" and "either" stand for: those of this unit that
// are not turned down, otherwise those named together last.
func (r *reading) together() []*target {
	var out []*target
	for _, t := range compact(r.inUnit) {
		if r.last(t) > faults {
			out = append(out, t)
		}
	}
	if len(out) < 2 {
		return r.many
	}
	return out
}

// before returns the targets named last before a token of the sentence: "A is fine, B is slow:
// no". Without any it returns those that the sentence is about.
func (s *sentence) before(at int, about []*target) []*target {
	for i := at - 1; i >= 0; i-- {
		if slot := s.tokens[i].Slot; slot > 0 {
			return targetsOf(s.slots[slot-1])
		}
	}
	return about
}

// taken returns what "that's the one" stands for: the target named last that is not turned
// down.
func (r *reading) taken(about []*target) *target {
	var best *target
	for _, t := range about {
		switch st := r.last(t); {
		case st < neutral:
		case best == nil || st > r.last(best):
			best = t
		case st == r.last(best) && st >= praised:
			return nil // which of them?
		default:
			if st == r.last(best) {
				best = t
			}
		}
	}
	return best
}

// last returns the last stance on a target.
func (r *reading) last(t *target) stance {
	for _, m := range slices.Backward(r.remarks) {
		if m.target == t {
			return m.stance
		}
	}
	return neutral
}

func (r *reading) stranger(text string) *target {
	slug := nameSlug(text)
	if r.unknown[slug] == nil {
		r.unknown[slug] = &target{slug: slug, outside: true, unknown: true}
	}
	return r.unknown[slug]
}

// A phrasePattern is a catalogue's pattern of own work.
type phrasePattern = *regexp.Regexp

func newSurroundings(text string) surroundings {
	return surroundings{text, map[*regexp.Regexp]bool{}}
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

// makes reports whether the sentence reports work.
func (s *sentence) makes() bool {
	return slices.ContainsFunc(s.hits, func(h prose.Hit) bool { return h.Class == prose.Made })
}

// unchanged reports whether the sentence says that something stays as it was.
func (s *sentence) unchanged() bool {
	return slices.ContainsFunc(s.hits, func(h prose.Hit) bool { return h.Class == prose.Unchanged })
}

// verbless reports whether the token begins a sentence that names it and adds no verb:
// "RSpec with FactoryBot."
func (r *reading) verbless(s *sentence, at int) bool {
	if s.Question || s.unit.Kind != prose.Paragraph || at+1 >= len(s.tokens) || distinctMentions(s.slots[s.tokens[at].Slot-1]) > 1 {
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
	if next != ";" && next != "–" && next != "—" && !r.has(prose.Serves, next) && !r.has(prose.And, next) && !r.has(prose.Complement, next) {
		return false
	}
	for _, t := range s.tokens[at+1:] {
		if !t.Word && strings.Contains(";:–—.", t.Key) {
			break
		}
		if r.has(prose.Verb, t.Key) || t.Slot > 0 && !t.Soft {
			return false
		}
	}
	return true
}

// subject returns what the first name of the sentence stands for.
func (s *sentence) subject() *target {
	for _, t := range s.tokens {
		if t.Slot > 0 {
			return s.slots[t.Slot-1][0].target
		}
	}
	return nil
}

// weigh notes the words for and against the only target that a sentence is about.
func (r *reading) weigh(s *sentence, about []*target) {
	if len(about) != 1 || s.Question {
		return
	}
	w := r.weights[about[0]]
	for _, h := range s.hits {
		switch h.Class {
		case prose.Minus:
			w.minus++
		case prose.Plus:
			w.plus++
		default:
		}
	}
	r.weights[about[0]] = w
}
