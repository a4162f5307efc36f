package prose

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Normalize returns text in NFKC, without characters that cannot be seen and with one
// kind of space, apostrophe and newline. In a word of mixed scripts it replaces Cyrillic and
// Greek letters that look Latin; mixed reports whether there was such a word.
func Normalize(text string) (normal string, mixed bool) {
	if plain(text) {
		return text, false
	}
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, "\uFFFD")
	}
	text = norm.NFKC.String(strings.ReplaceAll(text, "´", "'")) // it would become a space and an accent
	text = strings.Map(visible, strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text))
	return latin(text)
}

// plain reports whether there is nothing to normalise.
func plain(text string) bool {
	for i := range len(text) {
		if c := text[i]; c >= utf8.RuneSelf || c < ' ' && c != '\n' && c != '\t' {
			return false
		}
	}
	return true
}

// visible maps a character to the one that stands for it, or removes it.
func visible(r rune) rune {
	switch {
	case r == '\n' || r == '\t':
		return r
	case r == '’' || r == '‘' || r == 'ʼ':
		return '\''
	case r == '“' || r == '”' || r == '„' || r == '«' || r == '»':
		return '"'
	case r == '\u2010' || r == '\u2011' || r == '\u2212': // hyphens and the minus
		return '-'
	case unicode.IsSpace(r):
		return ' '
	case unicode.Is(unicode.Cf, r) || unicode.IsControl(r) || r == '\uFE0F' || r == '\uFE0E' || r == '\u034F' || r == '\u115F' || r == '\u1160':
		return -1
	default:
		return r
	}
}

// lookalikes are letters of other scripts that print as Latin ones (Unicode Technical
// Standard 39, confusables).
const lookalikes = "аa еe оo рp сc уy хx іi јj ѕs һh ԁd ԛq ԝw ɡg АA ВB ЕE КK МM НH ОO РP СC ТT ХX ІI ЈJ ЅS ΑA ΒB ΕE ΖZ ΗH ΙI ΚK ΜM ΝN ΟO ΡP ΤT ΥY ΧX οo ρp νv ιi κk αa"

// latin replaces lookalikes in words that also have Latin letters.
func latin(text string) (string, bool) {
	if !strings.ContainsFunc(text, foreign) {
		return text, false
	}
	table := map[rune]rune{}
	for _, pair := range strings.Fields(lookalikes) {
		r := []rune(pair)
		table[r[0]] = r[1]
	}
	var b strings.Builder
	mixed := false
	for len(text) > 0 {
		end := strings.IndexFunc(text, func(r rune) bool { return !unicode.IsLetter(r) })
		if end < 0 {
			end = len(text)
		}
		word := text[:end]
		if strings.ContainsFunc(word, foreign) && strings.ContainsFunc(word, func(r rune) bool { return unicode.Is(unicode.Latin, r) }) {
			mixed = true
			word = strings.Map(func(r rune) rune {
				if to, ok := table[r]; ok {
					return to
				}
				return r
			}, word)
		}
		b.WriteString(word)
		text = text[end:]
		if text != "" {
			_, size := utf8.DecodeRuneInString(text)
			b.WriteString(text[:size])
			text = text[size:]
		}
	}
	return b.String(), mixed
}

func foreign(r rune) bool { return unicode.In(r, unicode.Cyrillic, unicode.Greek) }
