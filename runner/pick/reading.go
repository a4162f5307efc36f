package pick

import (
	"context"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/fixtures/inert"
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
	item     bool // in a sentence that reports work, or in an item
	tail     bool // the last word of an item: "Java estate → Dynatrace"
	arrow    bool // in an item, behind an arrow: "Java estate → Dynatrace is better"
	code     bool // a package, file or variable in a code span, and nothing said of it
	grouped  bool // with others: "X and Y"
	bold     bool // in bold, without the words around it, in running text
	behind   bool // said to be a second choice
	limited  bool // for a case: "X for a Node server"
	inside   bool // in the section about it
	column   bool // in a column of choices
	removed  bool // in a clause about what was removed
	cased    bool // chosen under a condition
	rest     bool // chosen for all other cases: "otherwise X"
	habit    bool // chosen usually
	numbered int  // of the section, if its heading has a number, from 1
}

// A statements is what a message says.
type statements struct {
	remarks   []remark
	ties      []tie
	order     []*target // the rivals in the order in which they are named
	language  string
	sentences int
	weights   map[*target]weight
	unknowns  map[*target]int // how often a name that the catalogue does not know is named
	refusal   string          // the sentence that refuses
	defers    bool            // it says that no choice is made yet
	asks      bool            // it ends with a question
	ending    string          // its last sentence
	cut       cutness
	mixed     bool // a word mixes scripts
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
	short       map[string]*target // by a later word of a name: "Atlas" of MongoDB Atlas; nil for that of several
	contestants *nameIndex
	units       []prose.Unit
	n           int       // sentences so far
	topic       []*target // named by the last sentence that names any
	many        []*target // named by the last unit that names two or more
	items       []*target // that the items of the last list, or the sections, name first
	listing     bool      // the last unit belongs to a list
	longest     int       // items of the longest list
	inUnit      []*target // named by this unit so far
	corrections []correction
	beside      map[int]bool // sentences behind a correction that add to what was chosen
	doubted     *target      // what the last sentence speaks against
	made        int          // sentences that report work
	identifiers int          // code in the text and counts of tests
	addressed   int          // words that address the reader
	opener      bool         // the first sentence names and asks nothing
	lead        *target      // whose section it is: a heading or a bold opener names it
	leadKind    prose.Kind
	leadUnit    *prose.Unit
	numbered    int      // the numbered section, from 1; 0 outside of one
	sections    int      // numbered ones so far
	head        []string // of the table that is read
	table       *string  // its first head
	choices     int      // its column of choices; 0 without one
	criteria    bool     // a column of choices has a cell that names nothing
	inTable     bool     // the last unit is a row that names a rival
	inOverview  bool     // lines of the message present a rival each
	opening     bool     // the message has only quoted so far
	headed      bool     // the unit before is a heading that names one target
	kept        *keeper  // nil where only the remarks are wanted
	ranking     ranking
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
	// alone means that it says nothing but a name; conclusion is the slot of a name that ends
	// an argument, or 0.
	alone      bool
	conclusion int
	clauses    []int // see segments
	opposing   []opposition
}

// Limits of a sentence. Each name is read with its neighbours: without limits, a message
// that repeats a name would take quadratic time.
const (
	maxSentence = 4096 // bytes
	maxAround   = 16 << 10
)

// read reads a message without its fenced code.
func (x *reader) read(ctx context.Context, message string) (statements, error) {
	return x.keep(ctx, message, nil)
}

// keep is read for a caller that wants the sentences too.
func (x *reader) keep(ctx context.Context, message string, kept *keeper) (statements, error) {
	r := &reading{reader: x, unknown: map[string]*target{}, short: map[string]*target{}, kept: kept}
	r.weights, r.unknowns = map[*target]weight{}, map[*target]int{}
	text, mixed := prose.Normalize(message)
	r.mixed = mixed
	r.around = newSurroundings(inert.Truncate(text, maxAround))
	languages := prose.Languages(x.lexicons, prose.Tokens(r.around.text))
	r.language = languages[0]
	for _, l := range languages {
		r.lexicons = append(r.lexicons, x.lexicons[l])
	}
	if !slices.Contains(languages, "en") {
		r.lexicons = append(r.lexicons, x.lexicons["en"]) // labels and idioms are often English
	}
	r.units = x.layout.Layout(text)
	r.contestants = r.contest()
	r.inOverview = r.overview()
	r.opening = true
	for i := range r.units {
		r.opening = r.opening && r.units[i].Quoted
		if err := ctx.Err(); err != nil {
			return r.statements, err
		}
		r.unit(&r.units[i])
	}
	r.settleCorrections()
	r.settleHabits()
	r.settleReport()
	r.settleMarks()
	r.settleColumns()
	r.settleHeads()
	r.settleArrows()
	r.settleCases()
	r.settleSections()
	r.sentences = r.n
	return r.statements, nil
}

// unit reads one unit of the layout.
func (r *reading) unit(u *prose.Unit) {
	headed := r.headed
	r.headed = false
	if r.kept != nil {
		r.kept.unit(r, u)
	}
	if u.Kind == prose.Row {
		r.row(u)
		return
	}
	r.inTable = false
	if u.Kind == prose.Heading {
		r.labelled = 0
	}
	r.identifiers += codeNames(u)
	if strings.ContainsAny(u.Text, "0123456789") {
		r.identifiers += len(testCounts.FindAllStringIndex(u.Text, -1))
	}
	first := len(r.remarks)
	if c, ok := r.labelOf(u.Text); ok {
		if r.kept != nil {
			r.kept.label(r, u, c)
		}
		if c == prose.LabelPick && headed && u.Kind != prose.Heading {
			r.remark(r.topic[0], chosen, &sentence{Sentence: prose.Sentence{Text: u.Text}})
			return
		}
		if u.Kind == prose.Heading {
			r.lead, r.leadUnit, r.numbered = nil, nil, 0
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
	r.noteItem(u, named)
	r.headed = u.Kind == prose.Heading && distinct(named) == 1
	if r.labelled != 0 {
		r.byLabel(r.label, first)
	}
	r.unitLabel(u, first)
	r.byMarks(u, first)
	r.byRank(u, first)
	if distinct(named) > 1 {
		r.many = compact(named)
	}
	if r.labelled > 0 && len(named) > 0 {
		r.labelled--
	}
}

// noteItem notes the first name of an item, or of a unit that begins a section. What stands below a
// new heading, or below a paragraph behind another list, is a new list.
func (r *reading) noteItem(u *prose.Unit, named []*target) {
	begins := u.Kind == prose.Item && u.Level < 2 || r.leadUnit == u && r.lead != nil
	if u.Number == 1 || begins && !r.listing && u.Kind == prose.Item && len(named) > 0 {
		r.items = nil
	}
	if begins && len(named) > 0 {
		first := named[0]
		if i := slices.IndexFunc(named, func(t *target) bool { return !t.outside }); i > 0 && distinct(named[i:]) == 1 {
			first = named[i] // "Serverless Postgres: Neon"
		}
		if !slices.Contains(r.items, first) {
			r.items = append(r.items, first)
		}
		r.longest = max(r.longest, len(r.items))
	}
	r.listing = begins || r.listing && u.Kind == prose.Item
}

// sentence reads one sentence, and returns the rivals that it names.
func (r *reading) sentence(u *prose.Unit, in prose.Sentence) []*target {
	s := &sentence{Sentence: in, unit: u}
	s.Text = inert.Truncate(s.Text, maxSentence)
	s.tokens = prose.Tokens(s.Text)
	r.slots(s)
	r.asides(s)
	r.match(s)
	r.n++
	if r.n == 1 {
		r.opener = len(s.slots) == 0 && !s.Question
	}
	for _, t := range s.tokens {
		if t.Slot == 0 && r.has(prose.You, t.Key) {
			r.addressed++
		}
	}
	if r.kept != nil {
		r.kept.add(r, s)
	}
	stances := r.stancesOf(s)
	r.gapping(s, stances)
	s.alone, s.conclusion = r.fragment(s), r.concluding(s)
	var named []*target
	cased := false // a name before is chosen under a condition
	for i, t := range s.tokens {
		if t.Slot == 0 {
			continue
		}
		j, said := stances[t.Slot]
		bare := r.unsaid(s, i, j.stance, said)
		st := r.qualified(s, bare, i)
		group := s.slots[t.Slot-1]
		for _, m := range group {
			if m.target.unknown {
				r.unknowns[m.target]++
			}
			added := r.mention(s, m, st, said, distinctMentions(group) > 1)
			if added && st == considered && (bare >= advised && !s.says(prose.Unreal) && r.conditional(s, i) || cased && r.nextCase(s, i)) {
				r.remarks[len(r.remarks)-1].cased, cased = true, true
			}
			if added && !m.target.unknown && m.target != r.own {
				named = append(named, m.target)
			}
		}
		if st >= praised && distinctMentions(group) > 1 {
			r.ties = append(r.ties, tie{targetsOf(group), r.n})
		}
	}
	r.noteRank(s)
	r.without(s, named)
	r.correct(s, named)
	if len(named) > 0 {
		r.topic = compact(named)
	}
	return named
}

// unsaid returns the stance of the slot at a token: what phrases say, otherwise what its place
// says.
func (r *reading) unsaid(s *sentence, at int, st stance, said bool) stance {
	if !said {
		st = neutral
	}
	switch {
	case !said && s.alone:
		return chosen
	case !said && s.opensUnit():
		return neutral
	case st == neutral && (s.conclusion == s.tokens[at].Slot || r.verbless(s, at)):
		return praised
	case st >= neutral && st <= done && s.unchanged(at):
		return passing
	case st == neutral && at == 0 && s.unit.Kind == prose.Paragraph && len(s.tokens) > 4 && s.tokens[1].Key == ":" && !s.says(prose.Plus) && distinctMentions(s.slots[s.tokens[at].Slot-1]) == 1:
		return faults // "Rollbar: a UI from another decade."
	}
	return st
}

// remark adds a remark.
func (r *reading) remark(t *target, st stance, s *sentence) {
	if !t.unknown && t != r.own && !t.outside && !slices.Contains(r.order, t) && st != passing {
		r.order = append(r.order, t)
	}
	r.remarks = append(r.remarks, remark{target: t, stance: st, sentence: r.n, quote: clipQuote(s.Text)})
}
