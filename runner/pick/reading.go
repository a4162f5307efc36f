package pick

import (
	"context"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/runner/pick/prose"
)

// A reader reads messages about one category. It may be used by many goroutines.
type reader struct {
	layout   *prose.Reader
	lexicons map[string]*prose.Lexicon
	names    *nameIndex
	traces   *index  // packages, files and variables in code spans
	own      *target // stands for own work
	phrases  []phrasePattern
}

// A remark is what one place of a message says about a target.
type remark struct {
	target   *target
	stance   stance
	sentence int
	quote    string
	mark     bool // by a symbol alone
	fragment bool // a name alone
	unit     bool // and nothing else in its unit
	item     bool // in a sentence that reports work, or in an item
	code     bool // a package, file or variable in a code span, and nothing said of it
	grouped  bool // with others: "X and Y"
}

// A statements is what a message says.
type statements struct {
	remarks  []remark
	ties     []tie
	order    []*target // the rivals in the order in which they are named
	language string
	weights  map[*target]weight
	refusal  string // the sentence that refuses
	defers   bool   // it says that no choice is made yet
	asks     bool   // it ends with a question
	cut      cutness
	mixed    bool // a word mixes scripts
}

// A weight counts the words for and against a target.
type weight struct{ plus, minus int }

// A tie says that there is no preference among targets.
type tie struct {
	targets  []*target
	sentence int
}

// A reading is the state of reading one message.
type reading struct {
	*reader
	statements
	lexicons    []*prose.Lexicon
	around      surroundings
	unknown     map[string]*target
	units       []prose.Unit
	n           int       // sentences so far
	topic       []*target // named by the last sentence that names any
	many        []*target // named by the last unit that names two or more
	inUnit      []*target // named by this unit so far
	lastMade    int       // the last of them
	made        int       // sentences that report work
	identifiers int       // code in the text: paths, names of variables
	lead        *target   // whose section it is: a heading or a bold opener names it
	leadKind    prose.Kind
	head        []string // of the table that is read
	opening     bool     // the message has only quoted so far
	headed      bool     // the unit before is a heading that names one target
	label       prose.Class
	labelled    int // units left to which the label applies; -1 for all up to the next heading
}

// A sentence is a sentence with its names as slots.
type sentence struct {
	prose.Sentence
	unit   *prose.Unit
	tokens []prose.Token
	slots  [][]mention // of slot 1, 2, ...
	hits   []prose.Hit
}

// Limits of a sentence. Each name is read with its neighbours: without limits, a message
// that repeats a name would take quadratic time.
const (
	maxSentence = 4096 // bytes
	maxAround   = 16 << 10
)

// read reads a message without its fenced code.
func (x *reader) read(ctx context.Context, message string) (statements, error) {
	r := &reading{reader: x, unknown: map[string]*target{}}
	r.weights = map[*target]weight{}
	text, mixed := prose.Normalize(message)
	r.mixed = mixed
	r.around = newSurroundings(upTo(text, maxAround))
	languages := prose.Languages(x.lexicons, prose.Tokens(upTo(text, maxAround)))
	r.language = languages[0]
	for _, l := range languages {
		r.lexicons = append(r.lexicons, x.lexicons[l])
	}
	if !slices.Contains(languages, "en") {
		r.lexicons = append(r.lexicons, x.lexicons["en"]) // labels and idioms are often English
	}
	r.units = x.layout.Layout(text)
	r.opening = true
	for i := range r.units {
		r.opening = r.opening && r.units[i].Quoted
		if err := ctx.Err(); err != nil {
			return r.statements, err
		}
		r.unit(&r.units[i])
	}
	r.settleReport()
	r.settleMarks()
	r.settleHeads()
	return r.statements, nil
}

// unit reads one unit of the layout.
func (r *reading) unit(u *prose.Unit) {
	if u.Kind == prose.Row {
		r.row(u)
		return
	}
	if u.Kind == prose.Heading {
		r.labelled = 0
	}
	r.identifiers += len(u.Code)
	first := len(r.remarks)
	if c, ok := r.labelOf(u.Text); ok {
		if c == prose.LabelPick && r.headed {
			r.remark(r.topic[0], chosen, &sentence{Sentence: prose.Sentence{Text: u.Text}})
			return
		}
		r.label, r.labelled = c, -1
		if c == prose.LabelPick {
			r.labelled = 1
		}
		return
	}
	r.inUnit = nil
	r.openSection(u)
	for _, s := range prose.Sentences(u.Text) {
		r.inUnit = append(r.inUnit, r.sentence(u, s)...)
	}
	named := r.inUnit
	r.headed = u.Kind == prose.Heading && distinct(named) == 1
	r.byLabel(first)
	r.byMarks(u, first)
	if distinct(named) > 1 {
		r.many = compact(named)
	}
	if r.labelled > 0 && len(named) > 0 {
		r.labelled--
	}
}

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
			if !done && m.stance != considered && distinct(r.inUnit) == 1 {
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

// sentence reads one sentence, and returns the rivals that it names.
func (r *reading) sentence(u *prose.Unit, in prose.Sentence) []*target {
	s := &sentence{Sentence: in, unit: u}
	s.Text = upTo(s.Text, maxSentence)
	s.tokens = prose.Tokens(s.Text)
	r.slots(s)
	r.match(s)
	r.n++
	var named []*target
	stances := r.stancesOf(s)
	r.gapping(s, stances)
	segments := s.segments()
	fragment, conclusion := r.fragment(s), s.concluding(r.leads, func(key string) bool { return r.has(prose.Serves, key) || r.has(prose.And, key) })
	for i, t := range s.tokens {
		if t.Slot == 0 {
			continue
		}
		j, judgedSlot := stances[t.Slot]
		st := neutral
		if judgedSlot {
			st = j.stance
		}
		switch {
		case st == neutral && fragment && !judgedSlot:
			st = chosen
		case st == neutral && (conclusion == t.Slot || r.verbless(s, i)):
			st = praised
		case st >= neutral && st <= done && s.unchanged():
			st = passing
		}
		st = r.qualified(s, st, i, segments)
		for _, m := range s.slots[t.Slot-1] {
			own := st
			switch {
			case u.Struck != nil && s.within(u.Struck, m):
				own = rejects
			case s.quoted(m), u.Quoted && r.opening:
				own = passing
			}
			if m.target.unknown && own < chosen && (own < done || !m.target.brand) || m.target == r.own && own < considered {
				continue
			}
			r.remark(m.target, own, s)
			last := &r.remarks[len(r.remarks)-1]
			last.grouped, last.fragment = distinctMentions(s.slots[t.Slot-1]) > 1, fragment && !judgedSlot
			last.item, last.code = u.Kind == prose.Item || s.makes() || len(u.Bold) > 0 && u.Bold[0].From == 0, m.code && !judgedSlot
			if last.code {
				last.stance = passing
			}
			last.unit = last.fragment && len(s.Text) == len(strings.TrimSpace(u.Text))
			if !m.target.unknown && m.target != r.own {
				named = append(named, m.target)
			}
		}
		if len(s.slots[t.Slot-1]) > 1 && (st == chosen || st == advised || st == done || st == praised) && distinctMentions(s.slots[t.Slot-1]) > 1 {
			r.ties = append(r.ties, tie{targetsOf(s.slots[t.Slot-1]), r.n})
		}
	}
	r.without(s, named)
	if len(named) > 0 {
		r.topic = compact(named)
	}
	return named
}

// remark adds a remark.
func (r *reading) remark(t *target, st stance, s *sentence) {
	if !t.unknown && t != r.own && !t.outside && !slices.Contains(r.order, t) && st != passing {
		r.order = append(r.order, t)
	}
	r.remarks = append(r.remarks, remark{target: t, stance: st, sentence: r.n, quote: clipQuote(s.Text)})
}

// match finds the phrases of all languages of the text. Words such as "the second" become
// slots of what they stand for.
func (r *reading) match(s *sentence) {
	for again := true; ; again = false {
		s.hits = s.hits[:0]
		for _, x := range r.lexicons {
			hits := x.Match(s.tokens)
			if x != r.lexicons[0] { // Portuguese "no Fly.io" is not English "no X"
				hits = slices.DeleteFunc(hits, func(h prose.Hit) bool {
					return h.Slot > 0 && s.tokens[h.From].Slot == 0 && r.lexicons[0].Has(prose.Common, s.tokens[h.From].Key)
				})
			}
			s.hits = append(s.hits, hits...)
		}
		if !again || !r.ordinals(s) {
			return
		}
	}
}

// ordinals replaces words that stand for one of those named before by slots.
func (r *reading) ordinals(s *sentence) bool {
	from := r.many
	if len(from) < 2 {
		from = compact(r.inUnit)
	}
	if len(from) < 2 {
		return false
	}
	hits := slices.Clone(s.hits)
	slices.SortFunc(hits, func(a, b prose.Hit) int { return b.From - a.From })
	changed, last := false, len(s.tokens)+1
	for _, h := range hits {
		n := -1
		switch h.Class {
		case prose.Ordinal1:
			n = 0
		case prose.Ordinal2:
			n = 1
		case prose.Ordinal3:
			n = 2
		case prose.OrdinalLast:
			n = len(from) - 1
		default:
		}
		if n < 0 || n >= len(from) || h.To > last {
			continue
		}
		s.slots = append(s.slots, []mention{{from[n], h.From, h.To, false}})
		slot := prose.Token{Key: "X", From: s.tokens[h.From].From, To: s.tokens[h.To-1].To, Word: true, Slot: len(s.slots)}
		s.tokens = slices.Replace(s.tokens, h.From, h.To, slot)
		changed, last = true, h.From
	}
	return changed
}

// slots finds names and replaces each, or each group of joined names, by a slot.
func (r *reading) slots(s *sentence) {
	found := r.names.find(s.Text, s.tokens, &r.around)
	taken := make([]bool, len(s.tokens))
	for _, m := range found {
		for i := m.from; i < m.to; i++ {
			taken[i] = true
		}
	}
	found = append(found, r.coded(s, taken)...)
	found = append(found, r.strangers(s, taken)...)
	if len(found) == 0 {
		return
	}
	slices.SortFunc(found, func(a, b mention) int { return a.from - b.from })
	var out []prose.Token
	at := 0
	for i := 0; i < len(found); {
		n := r.group(s, found[i:])
		out = append(out, s.tokens[at:found[i].from]...)
		last := found[i+n-1]
		s.slots = append(s.slots, found[i:i+n])
		out = append(out, prose.Token{Key: "X", From: s.tokens[found[i].from].From, To: s.tokens[last.to-1].To, Word: true, Slot: len(s.slots), Soft: last.target.unknown})
		at = last.to
		i += n
	}
	s.tokens = append(out, s.tokens[at:]...)
}

// group returns how many of the names are joined: "A, B and C". Two names with only a comma
// between them are joined where the clause ends behind them.
func (r *reading) group(s *sentence, found []mention) int {
	n, joined := 1, false
	for n < len(found) {
		join := r.joint(s.tokens[found[n-1].to:found[n].from])
		if join == 0 || joined && join == ',' || found[n].target.unknown != found[0].target.unknown {
			break
		}
		joined = joined || join == 'a'
		n++
	}
	if n > 1 && !joined {
		end := found[n-1].to
		if end < len(s.tokens) && (s.tokens[end].Word || s.tokens[end].Key == "'") {
			return 1
		}
	}
	return n
}

// joint tells how tokens join two names: 'a' by a word, ',' by a comma, 0 not at all.
func (r *reading) joint(between []prose.Token) byte {
	if len(between) == 0 || len(between) > 3*maxJoiner {
		return 0
	}
	out := byte(0)
	for n := 0; len(between) > 0; n++ {
		size := r.joiner(between)
		switch t := between[0]; {
		case n == 3:
			return 0
		case size > 0:
			out = 'a'
		case t.Key == "," || t.Key == "、":
			out, size = max(out, ','), 1
		case n > 0 && (r.has(prose.Article, t.Key) || strings.HasSuffix(t.Key, "'")):
			size = 1
		default:
			return 0
		}
		between = between[size:]
	}
	return out
}

const maxJoiner = 4 // tokens of the longest joining word: "あるいは"

// joiner returns how many of the first tokens are a word that joins names.
func (r *reading) joiner(tokens []prose.Token) int {
	for size := min(maxJoiner, len(tokens)); size > 0; size-- {
		key := tokens[0].Key
		for _, t := range tokens[1:size] {
			key += t.Key
		}
		if r.has(prose.And, key) || r.has(prose.Or, key) || key == "&" || key == "+" || key == "/" {
			return size
		}
	}
	return 0
}

// has reports whether a word is in a section of single words of one of the languages.
func (r *reading) has(section prose.Class, key string) bool {
	return slices.ContainsFunc(r.lexicons, func(x *prose.Lexicon) bool { return x.Has(section, key) })
}

// leads reports whether a word may stand before the beginning of a phrase.
func (r *reading) leads(key string) bool { return r.has(prose.Lead, key) }

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
	r.lead, r.leadKind = nil, u.Kind
	if len(found) == 1 && !found[0].outside {
		r.lead = found[0]
	}
}
