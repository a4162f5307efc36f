package traceview

import "strings"

// A Look is how a page shows a piece of an answer, which is markdown.
type Look string

// The looks of pieces. Hidden ones are the signs of markdown: a page leaves them out, and the
// text is complete with them.
const (
	Plain  Look = ""
	Bold   Look = "bold"
	Code   Look = "code"
	Block  Look = "block" // of code
	Hidden Look = "hidden"
)

type styled struct {
	from, to int
	look     Look
}

// markup finds the little markdown that pages show: fences, code, bold and headings. It is a
// reading aid: what is not closed stays as it is, and a fence without an end goes to the end.
func markup(text string) (out []styled) {
	at, fence := 0, false
	for line := range strings.Lines(text) {
		trimmed := strings.TrimLeft(line, " ")
		switch {
		case strings.HasPrefix(trimmed, "```"):
			out = append(out, styled{at, at + len(line), Hidden})
			fence = !fence
		case fence:
			out = append(out, styled{at, at + len(line), Block})
		default:
			out = append(out, inLine(line, at)...)
		}
		at += len(line)
	}
	return out
}

// inLine finds headings, bold and code in a line that begins at a place of a text.
func inLine(line string, at int) (out []styled) {
	body := strings.TrimRight(line, "\r\n")
	if signs := len(body) - len(strings.TrimLeft(body, "#")); signs > 0 && signs < 7 && strings.HasPrefix(body[signs:], " ") {
		return []styled{{at, at + signs + 1, Hidden}, {at + signs + 1, at + len(body), Bold}}
	}
	for i := 0; i < len(body); {
		var sign string
		var look Look
		switch rest := body[i:]; {
		case strings.HasPrefix(rest, "**"):
			sign, look = "**", Bold
		case rest[0] == '`':
			sign, look = "`", Code
		default:
			i++
			continue
		}
		from := i + len(sign)
		n := strings.Index(body[from:], sign)
		if n <= 0 {
			i = from
			continue
		}
		out = append(out, styled{at + i, at + from, Hidden}, styled{at + from, at + from + n, look}, styled{at + from + n, at + from + n + len(sign), Hidden})
		i = from + n + len(sign)
	}
	return out
}
