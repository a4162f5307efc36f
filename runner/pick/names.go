package pick

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/runner/pick/prose"
)

// A nameIndex finds the names of targets among the words of a sentence.
type nameIndex struct {
	byFirst map[string][]name // by the first word, the longest first
	bySlug  map[string]*target
}

type name struct {
	target          *target
	words           []string
	text            string
	exact           bool
	require, forbid *regexp.Regexp
}

// A mention is a place that names a target: the tokens from, up to but without to.
type mention struct {
	target   *target
	from, to int
	code     bool // a package, file or variable in a code span
}

func newNames(targets []*target) *nameIndex {
	n := emptyNames()
	for _, t := range targets {
		for _, a := range t.Aliases {
			n.add(t, a)
		}
	}
	n.longestFirst()
	return n
}

func (n *nameIndex) longestFirst() {
	for _, list := range n.byFirst {
		slices.SortStableFunc(list, func(a, b name) int { return cmp.Compare(len(b.words), len(a.words)) })
	}
}

func emptyNames() *nameIndex {
	return &nameIndex{byFirst: map[string][]name{}, bySlug: map[string]*target{}}
}

func (n *nameIndex) add(t *target, a catalog.Alias) {
	if n.bySlug[t.slug] == nil {
		n.bySlug[t.slug] = t
	}
	var words []string
	for _, token := range prose.Tokens(a.Text) {
		words = append(words, token.Key)
	}
	if len(words) > 0 {
		n.byFirst[words[0]] = append(n.byFirst[words[0]], name{t, words, a.Text, a.Exact, a.Require, a.Forbid})
	}
}

// spelled returns the rival with a name, whatever context that wants.
func (n *nameIndex) spelled(text string) *target {
	tokens := prose.Tokens(text)
	if len(tokens) == 0 {
		return nil
	}
	for _, c := range n.byFirst[tokens[0].Key] {
		if c.text == text && !c.target.outside {
			return c.target
		}
	}
	return nil
}

// find returns the names in a sentence. Of names that begin together the longest wins, and
// of equal ones the rival. around is the text in which the conditions of names must hold.
func (n *nameIndex) find(text string, tokens []prose.Token, around *surroundings) []mention {
	var out []mention
	for i := 0; i < len(tokens); i++ {
		for _, c := range n.beginning(tokens[i].Key) {
			if c.at(text, tokens[i:]) && around.allows(c, text) {
				end := n.product(text, tokens, i+len(c.words))
				out = append(out, mention{c.target, i, end, false})
				i = end - 1
				break
			}
		}
	}
	return out
}

// beginning returns the names that begin with a word, or with it without the ending of a
// genitive: "Stripes Gebühren".
func (n *nameIndex) beginning(word string) []name {
	list := n.byFirst[word]
	if stem, ok := strings.CutSuffix(word, "s"); ok && len(list) == 0 {
		return n.byFirst[stem]
	}
	return list
}

// product returns the end of a name that ends before token i, with the words of a product
// behind it: "Square's Web Payments SDK", "Stripe Checkout".
func (n *nameIndex) product(text string, tokens []prose.Token, i int) int {
	end := i
	if i < len(tokens) && tokens[i].Key == "'s" {
		i++
	}
	for words := 0; words < 4 && i < len(tokens) && tokens[i].Word && tokens[i].From == tokens[i-1].To+1; words++ {
		first, _ := utf8.DecodeRuneInString(text[tokens[i].From:])
		if !unicode.IsUpper(first) && (words > 0 || !unicode.IsDigit(first)) || tokens[i].Key == "i" {
			break
		}
		if slices.ContainsFunc(n.byFirst[tokens[i].Key], func(c name) bool { return c.at(text, tokens[i:]) }) {
			break // the next name: "Stripe Or Paddle"
		}
		i++
		end = i
	}
	return end
}

// at reports whether the name stands at the beginning of tokens. A dash or slash before it
// makes it another word: "pre-square", "@acme/stripe".
func (n name) at(text string, tokens []prose.Token) bool {
	if len(tokens) < len(n.words) {
		return false
	}
	for i, w := range n.words {
		if tokens[i].Key != w && (i < len(n.words)-1 || tokens[i].Key != w+"s" || n.exact || len(w) < 5) { // "Stripes Gebühren"
			return false
		}
	}
	from, to := tokens[0].From, tokens[len(n.words)-1].To
	if n.exact && text[from:to] != n.text && strings.TrimRight(text, ".!") != strings.ToLower(n.text) { // "plunk."
		return false
	}
	before, _ := utf8.DecodeLastRuneInString(text[:from])
	after, size := utf8.DecodeRuneInString(text[to:])
	behind, _ := utf8.DecodeRuneInString(text[to+size:])
	return before != '-' && before != '/' && before != '@' && (after != '-' || !unicode.IsLower(behind) || !unicode.IsLower([]rune(text[from:])[0]))
}

// Surroundings are the text around names, searched once for each condition.
type surroundings struct {
	text  string
	seen  map[*regexp.Regexp]bool
	small map[string]bool // its words as they are written
}

func (c *surroundings) allows(n name, sentence string) bool {
	if n.forbid != nil && n.forbid.MatchString(sentence) {
		return false
	}
	if n.require == nil {
		return true
	}
	found, known := c.seen[n.require]
	if !known {
		found = n.require.MatchString(c.text)
		c.seen[n.require] = found
	}
	return found
}

// says reports whether the text has a word in small letters.
func (c *surroundings) says(word string) bool {
	if c.small == nil {
		c.small = map[string]bool{}
		for w := range strings.FieldsFuncSeq(c.text, func(r rune) bool { return !unicode.IsLetter(r) }) {
			c.small[w] = true
		}
	}
	return c.small[word]
}

// coded finds packages, configuration files and variables of rivals in code spans.
func (r *reading) coded(s *sentence, taken []bool) []mention {
	var out []mention
	for _, span := range s.unit.Code {
		from, to := span.From-s.From, span.To-s.From
		if from < 0 || to > len(s.Text) {
			continue
		}
		t := r.trace(s.Text[from:to])
		first := slices.IndexFunc(s.tokens, func(t prose.Token) bool { return t.From >= from })
		end := first
		for end >= 0 && end < len(s.tokens) && s.tokens[end].To <= to && !taken[end] {
			end++
		}
		if t == nil || first < 0 || end == first || end < len(s.tokens) && s.tokens[end].From < to {
			continue
		}
		for i := first; i < end; i++ {
			taken[i] = true
		}
		out = append(out, mention{t, first, end, true})
	}
	return out
}

// trace returns the only rival that a piece of code names.
func (r *reading) trace(code string) *target {
	code = strings.TrimSpace(code)
	found := slices.Clip(r.traces.byFile(code))
	found = append(found, r.traces.byEnv(code)...)
	for _, eco := range catalog.Ecosystems() {
		if eco != catalog.System && eco != catalog.Docker {
			found = append(found, r.traces.byPackage(eco, depName(code))...)
		}
	}
	found = compact(found)
	if len(found) == 0 {
		if t := r.inIdentifier(code); t != nil {
			return t
		}
	}
	if len(found) != 1 || found[0].outside || plainLetters(code) && !slices.ContainsFunc(found[0].Aliases, func(a catalog.Alias) bool { return strings.EqualFold(a.Text, code) }) {
		return nil // a word such as `flags` may name anything
	}
	return found[0]
}

// inIdentifier returns the only rival whose name is part of a path or of a name such as
// ZammadGateway.
func (r *reading) inIdentifier(code string) *target {
	if strings.ContainsAny(code, " @:=") {
		return nil
	}
	words := humps.ReplaceAllStringFunc(code, func(hump string) string {
		_, size := utf8.DecodeRuneInString(hump)
		return hump[:size] + " " + hump[size:]
	})
	words = strings.Trim(strings.Map(func(c rune) rune {
		if unicode.IsLetter(c) || unicode.IsDigit(c) {
			return c
		}
		return ' '
	}, words), " ")
	if !strings.Contains(words, " ") {
		return nil
	}
	found := targetsOf(r.find(words, prose.Tokens(words)))
	if len(found) != 1 || found[0].outside {
		return nil
	}
	return found[0]
}

func plainLetters(s string) bool { return strings.Trim(s, "abcdefghijklmnopqrstuvwxyz") == "" }

// strangers finds names that the catalogue does not know, by their spelling: capitals
// within a word, or a capital where the language has none. Words that taken marks are
// names already.
func (r *reading) strangers(s *sentence, taken []bool) []mention {
	var out []mention
	titled := s.titled() && r.language != "de"
	for i := 0; i < len(s.tokens); i++ {
		if taken[i] || !s.tokens[i].Word {
			continue
		}
		kind := r.spelling(s, i)
		if kind == plainWord || kind == capitalised && titled {
			continue
		}
		end := i + 1
		for end < len(s.tokens) && end < i+3 && !taken[end] && s.tokens[end].Word && (r.spelling(s, end) != plainWord || s.initials(end)) && s.tokens[end].From == s.tokens[end-1].To+1 {
			end++
		}
		if end+1 < len(s.tokens) && !taken[end] && !taken[end+1] && s.tokens[end].Key == "." && s.tokens[end].To == s.tokens[end+1].From && s.tokens[end].From == s.tokens[end-1].To && s.tokens[end+1].Word { // "Pagar.me"
			end += 2
		}
		text := s.Text[s.tokens[i].From:s.tokens[end-1].To]
		if kind == capitalised && end == i+1 && !s.coded(s.tokens[i].From, s.tokens[i].To) && r.around.says(s.tokens[i].Key) {
			continue // a word of the language
		}
		t := r.stranger(text)
		if t.unknown && kind == brand {
			t.brand = true
		}
		out = append(out, mention{t, i, end, false})
		i = end - 1
	}
	return out
}

// titled reports whether most words have a capital, as in a title: then it marks no name.
func (s *sentence) titled() bool {
	long, upper := 0, 0
	for _, t := range s.tokens {
		if t.Word && t.To-t.From > 3 {
			long++
			if first, _ := utf8.DecodeRuneInString(s.Text[t.From:]); unicode.IsUpper(first) {
				upper++
			}
		}
	}
	return s.unit.Kind == prose.Heading || upper > 1 && 2*upper > long && long-upper < 3
}

type spelling int

const (
	plainWord spelling = iota
	capitalised
	brand
)

// spelling returns how far a word looks like a name.
func (r *reading) spelling(s *sentence, i int) spelling {
	t := s.tokens[i]
	word := s.Text[t.From:t.To]
	first, _ := utf8.DecodeRuneInString(word)
	if !unicode.Is(unicode.Latin, first) || len(word) < 3 || common[t.Key] || strings.HasPrefix(s.Text[t.To:], "-") || strings.HasSuffix(s.Text[:t.From], "-") {
		return plainWord
	}
	upper, lower, inner := 0, 0, false
	for j, c := range word {
		if unicode.IsUpper(c) {
			upper++
			inner = inner || j > 0 && lower > 0
		} else if unicode.IsLower(c) {
			lower++
		}
	}
	switch {
	case s.coded(t.From, t.To) && (inner || strings.HasPrefix(s.Text[t.To:], "(")):
		return plainWord // a function or variable
	case inner, upper > 0 && lower > 0 && strings.HasSuffix(s.Text[:t.From], "node."):
		return brand
	case lower == 0 && (len(word) < 5 || s.shouts()): // an abbreviation
		return plainWord
	case unicode.IsUpper(first) && !s.opens(i) && (r.language != "de" || i > 0 && r.has(prose.NameCue, s.tokens[i-1].Key)):
		return capitalised
	case s.coded(t.From, t.To):
		return capitalised
	default:
		return plainWord
	}
}

// initials reports whether a word is of two to four capitals: "UI".
func (s *sentence) initials(i int) bool {
	word := s.Text[s.tokens[i].From:s.tokens[i].To]
	return len(word) > 1 && len(word) < 5 && strings.Trim(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
}

// shouts reports whether most long words are in capitals, which then mark no name.
func (s *sentence) shouts() bool {
	long, upper := 0, 0
	for _, t := range s.tokens {
		if word := s.Text[t.From:t.To]; t.Word && len(word) > 2 {
			long++
			if word == strings.ToUpper(word) {
				upper++
			}
		}
	}
	return upper > 1 && 3*upper > long
}

// opens reports whether the word at i begins a clause that goes on: its capital says nothing
// then.
func (s *sentence) opens(i int) bool {
	if i > 0 && (s.tokens[i-1].Word || !s.tokens[i-1].IsMark(".!?:–—-(")) {
		return false
	}
	return i == 0 || i+1 < len(s.tokens) && s.tokens[i+1].Word
}

// common are capitalised words that are no choice of a tool: languages, protocols,
// platforms and what answers write with a capital.
var common = func() map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(commonWords) {
		out[w] = true
	}
	return out
}()

const commonWords = `
api apis sdk sdks id ids sql nosql http https rest json yaml xml html css url urls uri dns tls ssl ssh smtp imap cpu gpu ram ssd aws gcp
python javascript typescript java kotlin swift rust ruby php golang node nodejs deno bun react vue angular svelte nextjs nuxt linux ubuntu debian windows
macos ios android docker kubernetes github gitlab google amazon microsoft azure apple oauth saml scim oidc jwt sso mfa gdpr dsgvo rgpd soc hipaa pci
europe european germany german france french spain spanish italy italian japan japanese china chinese korea korean brazil india american english usa
monday tuesday wednesday thursday friday saturday sunday january february march april may june july august september october november december
the this that these those there then when what which who why how where here note summary option options step total cost price pros cons
yes not and but for with you your our its they them their have has had was were are can could would should will let because since while
crud orm saas paas iaas cli gui ide csv pdf sms mau dau mvp sla faq eur usd gbp utc crm cms cdn spa ssr spf dkim dmarc otlp odbc jdbc tcp udp wal
enterprise team business pro plus free premium starter standard basic cloud open source self hosted serverless postgres
internet intranet team-plan backend frontend devops readme markdown makefile dockerfile procfile
`

func nameSlug(name string) string {
	return strings.Trim(strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			return r
		default:
			return '-'
		}
	}, strings.ToLower(name)), "-")
}

// upTo returns the beginning of a text, at most n bytes.
func upTo(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}
