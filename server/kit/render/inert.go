package render

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// InertJSON escapes the characters of a JSON text that could act where it is shown: markup,
// separators of lines, controls of terminals and of the direction of writing, and characters
// without a glyph. The text says the same. They occur in strings only.
func InertJSON(text []byte) []byte {
	first := bytes.IndexFunc(text, active)
	if first < 0 {
		return text
	}
	out := append(make([]byte, 0, len(text)+64), text[:first]...)
	for rest := text[first:]; len(rest) > 0; {
		c, n := utf8.DecodeRune(rest)
		switch {
		case !active(c):
			out = append(out, rest[:n]...)
		case c > 0xffff: // UTF-16 surrogates
			out = fmt.Appendf(out, `\u%04x\u%04x`, 0xd800+(c-0x10000)>>10, 0xdc00+(c-0x10000)&0x3ff)
		default:
			out = fmt.Appendf(out, `\u%04x`, c)
		}
		rest = rest[n:]
	}
	return out
}

// active reports whether a character must not be shown as it is.
func active(c rune) bool {
	switch {
	case c == '<', c == '>', 0x7f <= c && c <= 0x9f:
		return true
	case c == 0xad, c == 0x61c, c == 0x180e, 0x200b <= c && c <= 0x200f, 0x2028 <= c && c <= 0x202e, 0x2060 <= c && c <= 0x206f, c == 0xfeff:
		return true
	}
	return 0xe0000 <= c && c <= 0xe007f // tags: letters that nobody sees
}

// CSVType is the media type of CSV.
const CSVType = "text/csv; charset=utf-8"

// CSV renders a table as comma-separated values (RFC 4180). Numbers stay numbers. Text that
// a spreadsheet would take as a formula begins with a quote mark, as OWASP advises; controls
// but line breaks are left out.
func CSV(table [][]any) []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	w.UseCRLF = true
	for _, row := range table {
		cells := make([]string, len(row))
		for i, v := range row {
			cells[i] = cell(v)
		}
		_ = w.Write(cells) // a buffer takes everything
	}
	w.Flush()
	return b.Bytes()
}

func cell(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case *float64:
		if v == nil {
			return ""
		}
		return strconv.FormatFloat(*v, 'f', -1, 64)
	case int, bool:
		return fmt.Sprint(v)
	}
	text := fmt.Sprint(v)
	if text != "" && strings.ContainsRune("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20", []rune(text)[0]) {
		text = "'" + text
	}
	return strings.Map(func(c rune) rune {
		if c < ' ' && c != '\n' && c != '\t' || c >= 0x7f && active(c) {
			return -1
		}
		return c
	}, text)
}
