package redact

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/fixtures/sorting"
)

// A form is an encoding of a secret in a text.
type form struct {
	text string
	// inner means that it is the inside of a longer base64 text, which is redacted
	// whole.
	inner bool
}

// forms returns all forms of all secrets, the longest first.
func forms(secrets []string) []form {
	var out []form
	for _, s := range secrets {
		s = strings.TrimSpace(s)
		if len(s) < leastSecret || strings.Trim(s, "0123456789.eE+-") == "" {
			continue
		}
		escaped, html := inJSON(s, false), inJSON(s, true)
		for _, text := range []string{s, escaped, html, inJSON(escaped, false), inJSON(html, false), url.QueryEscape(s), url.PathEscape(s)} {
			out = append(out, form{text, false})
		}
		for _, text := range inBase64(s) {
			out = append(out, form{text, true})
		}
	}
	sorting.Func(out, func(a, b form) int { return cmp.Or(len(b.text)-len(a.text), cmp.Compare(a.text, b.text)) })
	return slices.Compact(out)
}

// inJSON returns a text as the inside of a JSON string.
func inJSON(s string, html bool) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(html)
	if err := enc.Encode(s); err != nil {
		return s
	}
	return strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(b.String()), `"`), `"`)
}

// inBase64 returns the base64 digits that every text with s inside shares. They depend on
// the position of s in a group of three bytes.
func inBase64(s string) []string {
	var out []string
	for offset := range 3 {
		padded := strings.Repeat("\x00", offset) + s
		padded = padded[:len(padded)/3*3]
		skip := (offset*8 + 5) / 6 // digits that hold bits of the text before
		for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
			if text := enc.EncodeToString([]byte(padded)); len(text)-skip >= leastSecret {
				out = append(out, text[skip:])
			}
		}
	}
	return out
}

func (f form) rule() rule {
	return func(text []byte, from, i int) (span, bool) {
		if !bytes.HasPrefix(text[i:], []byte(f.text)) {
			return span{}, false
		}
		start, end := i, i+len(f.text)
		if f.inner {
			for start > from && isBase64(text[start-1]) {
				start--
			}
			for end < len(text) && isBase64(text[end]) {
				end++
			}
		}
		return span{escape(text, from, start), end, "secret"}, true
	}
}

func isBase64(c byte) bool { return isWord(c) || c == '+' || c == '/' || c == '=' || c == '-' }

// escape moves a start before the JSON escape sequence that contains it: half of one
// must not remain.
func escape(text []byte, from, start int) int {
	for k := 1; k <= 5 && start-k >= from; k++ {
		switch c := text[start-k]; {
		case c == '\\' && backslashes(text, start-k)%2 == 1 && (k == 1 || text[start-k+1] == 'u'):
			return start - k
		case c != 'u' && !isHex(c):
			return start
		}
	}
	return start
}

// backslashes counts the backslashes before i.
func backslashes(text []byte, i int) int {
	n := 0
	for i-n >= 0 && text[i-n] == '\\' && n < 64 {
		n++
	}
	return n
}
