package pick

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/firstpick/firstpick/runner/pick/prose"
)

// A cutness tells how sure it is that a message ends in the middle.
type cutness int

const (
	whole cutness = iota
	maybeCut
	surelyCut
)

var linkDefinitions = regexp.MustCompile(`(?m)^\[[^\]]+\]:\s*\S+.*$`)

// cutOff judges the end of a message: an open fence, bold or row, an empty item, a comma
// or a word that needs another are sure signs; a long line without a full stop is a weak one.
func (r *reading) cutOff(text string) cutness {
	text = strings.TrimRight(linkDefinitions.ReplaceAllString(text, ""), " \t\n")
	line := text[strings.LastIndexByte(text, '\n')+1:]
	trimmed := strings.TrimSpace(line)
	last, _ := utf8.DecodeLastRuneInString(trimmed)
	bare := strings.Trim(trimmed, "*_#->. 0123456789")
	switch {
	case trimmed == "":
		return whole
	case bare == "" && !strings.ContainsAny(trimmed, "-_") && len(trimmed) < 5, strings.Count(line, "**")%2 == 1, strings.HasPrefix(trimmed, "|") && last != '|':
		return surelyCut
	case strings.ContainsRune(",([{–—、", last), strings.Count(trimmed, "(") > strings.Count(trimmed, ")"), strings.Count(trimmed, "`")%2 == 1:
		return surelyCut
	case !unicode.IsLetter(last) && !unicode.IsDigit(last):
		return whole
	}
	tokens := prose.Tokens(trimmed)
	end := tokens[len(tokens)-1].Key
	for _, x := range r.lexicons {
		if x.Language == r.language && (x.Has(prose.Dangling, end) || x.Has(prose.And, end) || x.Has(prose.Or, end)) {
			return surelyCut
		}
	}
	if prose.LostBreaks(text) {
		return whole // what ends such a text is often the page around it
	}
	elsewhere := strings.ContainsAny(strings.TrimSuffix(text, line), ".!?。") || len(prose.Sentences(trimmed)) > 1
	item := strings.HasPrefix(trimmed, "- ") || strings.HasPrefix(trimmed, "* ") || strings.HasPrefix(trimmed, "#") || trimmed[0] >= '0' && trimmed[0] <= '9'
	if elsewhere && !item && len(tokens) >= 3 {
		return maybeCut
	}
	return whole
}
