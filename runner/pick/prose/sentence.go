package prose

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Sentence is a part of a unit's text.
type Sentence struct {
	// From is the byte of the unit's text where it begins.
	From int
	Text string
	// Question means that it ends with a question mark.
	Question bool
}

// Sentences splits a text after full stops, question and exclamation marks. One that is
// followed by no space ends nothing but in Chinese and Japanese: "Fly.io" stays whole.
// Normalize has turned their wide marks into narrow ones, so the characters next to them decide.
func Sentences(text string) []Sentence {
	var out []Sentence
	from := 0
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		end := i + size
		if !ends(r) {
			i = end
			continue
		}
		for end < len(text) && strings.ContainsRune(`.!?)"'”`+"]", rune(text[end])) {
			end++
		}
		next, _ := utf8.DecodeRuneInString(text[end:])
		before, _ := utf8.DecodeLastRuneInString(text[:i])
		beside := r != '.' && (dense(before) || dense(next))
		if end < len(text) && !unicode.IsSpace(next) && r < 0x3000 && !beside || r == '.' && abbreviated(text[from:i], text[end:]) {
			i = end
			continue
		}
		out = add(out, text, from, end)
		from, i = end, end
	}
	return add(out, text, from, len(text))
}

// asks reports whether a text ends as a Japanese question with a full stop. A suggestion in
// the form of a question ("would X not do?") asks nothing.
func asks(text string) bool {
	text = strings.TrimSuffix(text, "。")
	ends := func(ends ...string) bool {
		return slices.ContainsFunc(ends, func(end string) bool { return strings.HasSuffix(text, end) })
	}
	return ends("ですか", "ますか", "でしたか", "ましたか", "でしょうか") && !ends("ないでしょうか", "いかがでしょうか")
}

func ends(r rune) bool {
	return r == '.' || r == '!' || r == '?' || r == '。' || r == '．' || r == '｡'
}

func add(out []Sentence, text string, from, to int) []Sentence {
	part := text[from:to]
	trimmed := strings.TrimSpace(part)
	if trimmed == "" {
		return out
	}
	from += strings.Index(part, trimmed[:1])
	return append(out, Sentence{From: from, Text: trimmed, Question: strings.Contains(trimmed[max(0, len(trimmed)-3):], "?") || asks(trimmed)})
}

// abbreviations are words whose full stop does not end a sentence.
const abbreviations = " e.g i.e eg ie vs etc approx cf no nr z.b u.a d.h bzw ca usw p.ex ex p.ej ej sr sra st mr mrs dr inc ltd "

// spaced are abbreviations with a space within.
var spaced = []string{"z. B", "u. a", "d. h", "p. ej", "p. ex", "e. g", "i. e"}

// abbreviated reports whether the full stop after text belongs to an abbreviation, an
// initial or the number of an item.
func abbreviated(text, rest string) bool {
	word := text[strings.LastIndexFunc(text, func(r rune) bool { return unicode.IsSpace(r) || r == '(' })+1:]
	if word == "" {
		return false
	}
	for _, a := range spaced {
		if strings.HasSuffix(text, a) || word == a[:1] && strings.HasPrefix(rest, a[2:]+".") {
			return true
		}
	}
	if strings.Contains(abbreviations, " "+strings.ToLower(word)+" ") {
		next, _ := utf8.DecodeRuneInString(strings.TrimLeft(rest, " "))
		return !unicode.IsUpper(next) || strings.Contains(" vs e.g i.e z.b ", " "+strings.ToLower(word)+" ")
	}
	return len(text) == len(word) && strings.Trim(word, "0123456789") == "" // "1. First"
}
