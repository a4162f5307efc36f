// Package highlight colours code on pages: it marks the tokens of a block with
// classes, which the style sheet colours in both schemes.
package highlight

import (
	"html"
	"strings"
)

// Classes of tokens. Plain text has none.
const (
	comment = "hc"
	key     = "ht" // also variables, attributes
	text    = "hs"
	number  = "hn" // also constants
	keyword = "hk"
)

// HTML returns code as HTML, with its tokens marked where the language is known. The
// text of the result is the text of the code.
func HTML(name, code string) string {
	l, known := languageOf(name)
	if !known {
		return html.EscapeString(code)
	}
	s := scanner{language: l, code: code, start: true}
	for s.at < len(code) {
		from := s.at
		if class := s.token(); class != s.class {
			s.write(from)
			s.class = class
		}
	}
	s.write(len(code))
	return s.out.String()
}

// A scanner reads tokens one after the other.
type scanner struct {
	language
	code  string
	at    int
	start bool // nothing but blanks since the line began
	in    bool // within a tag

	out     strings.Builder
	class   string
	written int // up to here
}

// write writes what was read since the class changed, up to an offset.
func (s *scanner) write(to int) {
	part := html.EscapeString(s.code[s.written:to])
	if s.class != "" && part != "" {
		part = `<span class="` + s.class + `">` + part + "</span>"
	}
	s.out.WriteString(part)
	s.written = to
}

// token moves past the next token and returns its class.
func (s *scanner) token() string {
	c, rest := s.code[s.at], s.code[s.at:]
	start := s.start
	if c != ' ' && c != '\t' {
		s.start = c == '\n'
	}
	switch {
	case s.block[0] != "" && strings.HasPrefix(rest, s.block[0]):
		s.at += until(rest, s.block[1])
		return comment
	case s.opensComment(rest):
		s.at += line(rest)
		return comment
	case s.sections && start && c == '[':
		s.at += line(rest)
		return keyword
	case s.tags && (c == '<' || c == '>'):
		return s.tag(rest)
	case strings.IndexByte(s.quotes, c) >= 0 && (s.in || !s.tags):
		return s.quoted(rest)
	case strings.IndexByte(s.sigils, c) >= 0 && word(rest[1:]) > 0:
		s.at += 1 + word(rest[1:])
		return key
	case digit(c):
		s.at += word(rest)
		return number
	case word(rest) > 0:
		return s.name(rest, start)
	}
	s.at++
	return ""
}

// opensComment reports whether a comment begins; # does so only after a blank.
func (s *scanner) opensComment(rest string) bool {
	for _, mark := range s.comments {
		if strings.HasPrefix(rest, mark) {
			return mark != "#" || s.at == 0 || strings.IndexByte(" \t\n", s.code[s.at-1]) >= 0
		}
	}
	return false
}

// tag moves past the beginning of a tag with its name, or past its end.
func (s *scanner) tag(rest string) string {
	s.in = rest[0] == '<'
	n := 1
	for s.in && n < len(rest) && (rest[n] == '/' || rest[n] == '!') {
		n++
	}
	if s.in {
		n += word(rest[n:])
	}
	s.at += n
	return keyword
}

// quoted moves past a string. It ends with its line, but one in backticks or three quotes.
func (s *scanner) quoted(rest string) string {
	mark := rest[:1]
	if strings.HasPrefix(rest, strings.Repeat(mark, 3)) {
		s.at += 3 + until(rest[3:], rest[:3])
		return text
	}
	n := 1
	for n < len(rest) && rest[n] != mark[0] && (rest[n] != '\n' || mark == "`") {
		if rest[n] == '\\' && n+1 < len(rest) && rest[n+1] != '\n' {
			n++
		}
		n++
	}
	if n < len(rest) && rest[n] == mark[0] {
		n++
	}
	s.at += n
	if s.keyAt == ':' && s.isKey() {
		return key
	}
	return text
}

// name moves past a word.
func (s *scanner) name(rest string, start bool) string {
	n := word(rest)
	for s.keyAt != 0 && n < len(rest) && strings.IndexByte(".-", rest[n]) >= 0 { // of keys
		n++
		n += word(rest[n:])
	}
	s.at += n
	class, known := s.words[rest[:n]]
	switch {
	case s.tags && !s.in:
		return ""
	case s.keyAt != 0 && s.isKey():
		return key
	case known:
		return class
	case s.first && start:
		return keyword
	}
	return ""
}

// isKey reports whether what was read is followed by the mark of keys; in YAML a blank
// follows the mark.
func (s *scanner) isKey() bool {
	after := strings.TrimLeft(s.code[s.at:], " ")
	if after == "" || after[0] != s.keyAt {
		return false
	}
	return s.keyAt != ':' || len(after) == 1 || strings.IndexByte(" \n\"[{", after[1]) >= 0
}

// word returns the length of the word that a text begins with.
func word(s string) int {
	n := 0
	for n < len(s) && (s[n] == '_' || digit(s[n]) || s[n]|0x20 >= 'a' && s[n]|0x20 <= 'z') {
		n++
	}
	return n
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

// line returns the length of a text up to the end of its line.
func line(s string) int {
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		return i
	}
	return len(s)
}

// until returns the length of a text up to the end of what ends it.
func until(s, end string) int {
	if i := strings.Index(s, end); i >= 0 {
		return i + len(end)
	}
	return len(s)
}

// words are the classes of keywords and constants.
func words(keywords, constants string) map[string]string {
	of := map[string]string{}
	for w := range strings.FieldsSeq(keywords) {
		of[w] = keyword
	}
	for w := range strings.FieldsSeq(constants) {
		of[w] = number
	}
	return of
}
