package docs

import (
	"strings"
	"unicode/utf8"
)

// excerpt returns the text around the first word that is found in it.
func (t *part) excerpt(wanted []string) string {
	at := -1
	for _, w := range wanted {
		if i := strings.Index(t.lower, w); i >= 0 && (at < 0 || i < at) {
			at = i
		}
	}
	runes := []rune(t.text)
	first := 0
	if at > 0 && at <= len(t.lower) {
		first = max(0, utf8.RuneCountInString(t.lower[:at])-excerpt/4)
	}
	first = min(first, len(runes))
	last := min(len(runes), first+excerpt)
	out := strings.TrimSpace(string(runes[first:last]))
	if first > 0 {
		out = "… " + out
	}
	if last < len(runes) {
		out += " …"
	}
	return out
}
