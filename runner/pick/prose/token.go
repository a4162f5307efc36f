package prose

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// A Token is a word, a mark or a slot of a sentence.
type Token struct {
	// Key is the word in lower case, without accents; Chinese in simplified characters.
	Key string
	// From and To are the bytes of the sentence.
	From, To int
	// Word is false for punctuation and symbols.
	Word bool
	// Slot numbers the group of names that the token stands for, from 1; 0 is a plain token.
	Slot int
	// Soft marks the slot of a word that may be no name: gaps of phrases reach over it.
	Soft bool
}

// IsMark reports whether the token is one of some marks.
func (t Token) IsMark(marks string) bool {
	first, _ := utf8.DecodeRuneInString(t.Key)
	return t.Slot == 0 && !t.Word && strings.ContainsRune(marks, first)
}

// Tokens splits a sentence. Letters and digits of one script make a word; each character
// of Han, Kana and Hangul is a word, so that names are found beside them. An apostrophe
// stays with the shorter part: "I" "'d", "d'" "Algolia".
func Tokens(text string) []Token {
	out := make([]Token, 0, len(text)/4+4)
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case unicode.IsSpace(r):
			i += size
		case dense(r):
			key := text[i : i+size]
			if s, ok := simplified()[key]; ok {
				key = s
			}
			out = append(out, Token{Key: key, From: i, To: i + size, Word: true})
			i += size
		case wordy(r):
			end := wordEnd(text, i)
			if key := fold(text[i:end]); key != "" { // an accent alone, or the selector behind a symbol, is no word
				out = append(out, Token{Key: key, From: i, To: end, Word: true})
			}
			i = end
		case r == '\'':
			i = apostrophe(text, i, &out)
		default:
			end := i + size
			for end < len(text) && text[end] == text[i] && size == 1 && r != '(' && r != ')' { // "...", "--", "=>" stay apart otherwise
				end++
			}
			out = append(out, Token{Key: text[i:end], From: i, To: end})
			i = end
		}
	}
	return out
}

// wordEnd returns the end of the word that begins at i.
func wordEnd(text string, i int) int {
	for i < len(text) {
		r, size := utf8.DecodeRuneInString(text[i:])
		if !wordy(r) || dense(r) {
			break
		}
		i += size
	}
	return i
}

// apostrophe adds the token of the apostrophe at i: an ending such as "'d", an elision such
// as "d'", or a quotation mark. It returns where the next token begins.
func apostrophe(text string, i int, out *[]Token) int {
	end := wordEnd(text, i+1)
	joined := len(*out) > 0 && (*out)[len(*out)-1].Word && (*out)[len(*out)-1].To == i
	ending := fold(text[i+1 : end])
	switch {
	case joined && ending == "t": // "won't" is not "won"
		last := &(*out)[len(*out)-1]
		last.Key, last.To = last.Key+"'t", end
		return end
	case joined && isEnding(ending):
		*out = append(*out, Token{Key: "'" + ending, From: i, To: end, Word: true})
		return end
	case joined && end > i+1:
		last := &(*out)[len(*out)-1]
		last.Key, last.To = last.Key+"'", i+1
		return i + 1
	default:
		*out = append(*out, Token{Key: "'", From: i, To: i + 1})
		return i + 1
	}
}

// isEnding reports whether letters behind an apostrophe end an English word.
func isEnding(letters string) bool {
	switch letters {
	case "s", "d", "ll", "ve", "re", "m":
		return true
	}
	return false
}

func wordy(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.Mn, r) || r == '_'
}

// dense reports whether words of the character's script are not set apart by spaces, or
// carry their grammar as endings.
func dense(r rune) bool {
	return r >= 0x1100 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) || r == 'ー'
}

// fold returns a word in lower case, without accents.
func fold(word string) string {
	ascii := true
	upper := false
	for i := range len(word) {
		c := word[i]
		ascii = ascii && c < utf8.RuneSelf
		upper = upper || c >= 'A' && c <= 'Z'
	}
	switch {
	case ascii && !upper:
		return word
	case ascii:
		return strings.ToLower(word)
	}
	var b strings.Builder
	for _, r := range norm.NFD.String(strings.ToLower(word)) {
		switch {
		case unicode.Is(unicode.Mn, r):
		case r == 'ß':
			b.WriteString("ss")
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
