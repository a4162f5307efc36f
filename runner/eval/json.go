package eval

import (
	"encoding/json"
	"fmt"
	"unicode"
)

// yamlOf converts a JSON eval to YAML with the same lines; other text is returned as
// is. JSON is nearly a subset of YAML: the YAML reader rejects the escapes of / and of
// surrogate pairs, and tabs between values.
func yamlOf(data []byte) []byte {
	if !json.Valid(data) {
		return data
	}
	out := make([]byte, 0, len(data)+len(data)/8)
	for i := 0; i < len(data); i++ {
		switch c := data[i]; c {
		case '\t':
			out = append(out, ' ')
		case '"':
			end := stringEnd(data, i)
			var text string
			_ = json.Unmarshal(data[i:end], &text) // it is valid
			out = appendQuoted(out, text)
			i = end - 1
		default:
			out = append(out, c)
		}
	}
	return out
}

// stringEnd returns the place behind a JSON string that begins at i.
func stringEnd(data []byte, i int) int {
	for i++; data[i] != '"'; i++ {
		if data[i] == '\\' {
			i++
		}
	}
	return i + 1
}

// appendQuoted appends a text in double quotes, as YAML has them.
func appendQuoted(out []byte, text string) []byte {
	out = append(out, '"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			out = append(out, '\\', byte(r))
		case unicode.IsPrint(r):
			out = append(out, string(r)...)
		default: // a line break in quotes would be folded, other characters refused
			out = fmt.Appendf(out, `\U%08x`, r)
		}
	}
	return append(out, '"')
}
