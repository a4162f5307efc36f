package pick

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/firstpick/firstpick/fixtures/lazyregexp"
	"github.com/firstpick/firstpick/runner/pick/prose"
)

// A cutness is how sure it is that a message ends in the middle.
type cutness int

const (
	whole cutness = iota
	maybeCut
	surelyCut
)

var linkDefinitions = lazyregexp.MustCompile(`(?m)^\[[^\]]+\]:\s*\S+.*$`)

// cutOff judges the end of a message: an open fence, bold or row, an empty item, a colon, a
// comma or a word that needs another are sure signs; a long line without a full stop is a
// weak one.
func (s *statements) cutOff(text string, x *prose.Lexicon) cutness {
	if strings.Count("\n"+text, "\n```")%2 == 1 {
		return surelyCut
	}
	within := len(text) > maxSentence && !strings.Contains(text[len(text)-maxSentence:], "\n") // of a long line
	text, _ = prose.Normalize(text[max(0, len(text)-maxSentence):])
	text = strings.TrimRight(linkDefinitions.ReplaceAllString(text, ""), " \t\n")
	line := text[strings.LastIndexByte(text, '\n')+1:]
	trimmed := strings.TrimSpace(line)
	last, _ := utf8.DecodeLastRuneInString(trimmed)
	switch {
	case trimmed == "" || strings.HasSuffix(trimmed, "```"):
		return whole
	case emptyItem.MatchString(trimmed), strings.HasPrefix(trimmed, "|") && last != '|', strings.ContainsRune(",:([{–—、", last), !within && unpaired(line):
		return surelyCut
	case !unicode.IsLetter(last) && !unicode.IsDigit(last) || x == nil:
		return whole
	}
	tokens := prose.Tokens(trimmed)
	end := tokens[len(tokens)-1].Key
	if x.Has(prose.Dangling, end) || x.Has(prose.And, end) || x.Has(prose.Or, end) {
		return surelyCut
	}
	if prose.LostBreaks(text) {
		return whole // what ends such a text is often the page around it
	}
	if unfinished(strings.TrimSuffix(text, line)) || !within && inLowerCase(text) {
		return whole // a text that does without full stops
	}
	elsewhere := strings.ContainsAny(strings.TrimSuffix(text, line), ".!?。") || len(prose.Sentences(trimmed)) > 1
	if !startsItem.MatchString(trimmed) && (elsewhere && len(tokens) >= 3 || len(tokens) >= 20) {
		return maybeCut
	}
	return whole
}

// inLowerCase reports whether all sentences of a text begin with a small letter: who writes so
// leaves out the last full stop too.
func inLowerCase(text string) bool {
	for line := range strings.Lines(text) {
		for _, s := range prose.Sentences(strings.TrimSpace(line)) {
			first, _ := utf8.DecodeRuneInString(s.Text)
			if !unicode.IsLower(first) {
				return false
			}
		}
	}
	return true
}

// unpaired reports whether bold, code or a parenthesis of a line never ends.
func unpaired(line string) bool {
	return strings.Count(codeSpans.ReplaceAllString(line, ""), "**")%2 == 1 || strings.Count(line, "(") > strings.Count(line, ")") || strings.Count(line, "`")%2 == 1
}

// unfinished reports whether a line of prose, as long as a sentence, has nothing that ends one.
func unfinished(text string) bool {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(strings.Trim(strings.TrimSpace(line), "*_"))
		last, _ := utf8.DecodeLastRuneInString(line)
		if !startsItem.MatchString(line) && (unicode.IsLetter(last) || unicode.IsDigit(last)) && len(prose.Tokens(line)) >= 6 {
			return true
		}
	}
	return false
}

var (
	codeSpans  = lazyregexp.MustCompile("`[^`]*`")
	emptyItem  = lazyregexp.MustCompile(`^(?:[-*+•]|\d{1,2}[.)]|#{1,6}|\*\*)$`)
	startsItem = lazyregexp.MustCompile(`^(?:[-*+•#|\[→➡⇒※]|=>|->|\d)`)
)
