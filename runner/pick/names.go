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
