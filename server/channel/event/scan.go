package event

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// A scanner reads JSON (RFC 8259) from bytes, one value after another, without
// building a tree. Names are matched exactly, and invalid JSON is an error with its
// position. The first error is kept: after it all methods return nothing.
//
// encoding/json would read every event twice, once to find out which of four
// forms it has, and would match names in any case.
type scanner struct {
	b       []byte
	i       int
	err     *UnreadableError
	fresh   bool   // just after an opening bracket
	depth   int    // of open brackets
	deepest int    // depth reached so far; the caller resets it
	stack   []byte // of skip, reused
	texts   *texts
}

// texts remembers texts that were read, because the events of a body have many in
// common and need not each have their own copy. It lives as long as one Read.
type texts [64]string

// of returns raw as a string.
func (t *texts) of(raw []byte) string {
	n := len(raw)
	if n == 0 || t == nil {
		return string(raw)
	}
	at := &t[(n+int(raw[0])*7+int(raw[n/2])*31+int(raw[n-1])*17)%len(t)]
	if *at != string(raw) {
		*at = string(raw)
	}
	return *at
}

func (s *scanner) fail(reason string) {
	if s.err == nil {
		s.err = &UnreadableError{Offset: s.i, Reason: reason}
	}
}

// peek returns the next byte that is not white space, or 0 at the end and after
// an error.
func (s *scanner) peek() byte {
	if s.err != nil {
		return 0
	}
	for s.i < len(s.b) {
		switch c := s.b[s.i]; c {
		case ' ', '\t', '\n', '\r':
			s.i++
		default:
			return c
		}
	}
	return 0
}

// open enters an object or an array, if one is next.
func (s *scanner) open(bracket byte) bool {
	if s.peek() != bracket {
		s.fail("expected " + string(rune(bracket)))
		return false
	}
	s.i++
	s.fresh = true
	s.deeper(1)
	return true
}

func (s *scanner) deeper(by int) {
	s.depth += by
	s.deepest = max(s.deepest, s.depth)
}

// more reports whether the open object or array has another member, and leaves
// it when not.
func (s *scanner) more(bracket byte) bool {
	c := s.peek()
	fresh := s.fresh
	s.fresh = false
	switch {
	case s.err != nil:
		return false
	case c == bracket:
		s.i++
		s.depth--
		return false
	case fresh:
		return true
	case c == ',':
		s.i++
		return true
	}
	s.fail("expected a comma or " + string(rune(bracket)))
	return false
}

// name reads the name of a member and its colon. The bytes are good until the
// body is.
func (s *scanner) name() []byte {
	raw, unescaped := s.quoted()
	if s.peek() != ':' {
		s.fail("expected a colon")
		return nil
	}
	s.i++
	if !unescaped {
		return []byte(unquote(raw))
	}
	return raw
}

// end makes sure that nothing follows.
func (s *scanner) end(reason string) {
	if s.peek(); s.err == nil && s.i < len(s.b) {
		s.fail(reason)
	}
}

// scalar reads a string, decoded, or a number, as written; null is "". Any other
// value is read past, and not ok.
func (s *scanner) scalar() (string, bool) {
	switch c := s.peek(); {
	case c == '"':
		raw, unescaped := s.quoted()
		if !unescaped {
			return unquote(raw), true
		}
		return s.texts.of(raw), true
	case c == '-' || c >= '0' && c <= '9':
		return s.texts.of(s.number()), true
	case c == 'n':
		s.literal("null")
		return "", true
	}
	s.skip()
	return "", false
}

// flag reads a boolean; null is false. Any other value is read past, and not ok.
func (s *scanner) flag() (value, ok bool) {
	switch s.peek() {
	case 't':
		s.literal("true")
		return s.err == nil, true
	case 'f':
		s.literal("false")
		return false, true
	case 'n':
		s.literal("null")
		return false, true
	}
	s.skip()
	return false, false
}

// skip reads past one value of any kind and depth.
func (s *scanner) skip() {
	s.stack = s.stack[:0]
	for s.err == nil {
		switch c := s.peek(); c {
		case '{', '[':
			s.i++
			s.deeper(1)
			s.stack = append(s.stack, c+2) // the closing one
			if s.peek() != c+2 {
				s.memberName()
				continue
			}
		case '"':
			s.quoted()
		case 't':
			s.literal("true")
		case 'f':
			s.literal("false")
		case 'n':
			s.literal("null")
		default:
			s.number()
		}
		if !s.proceed() {
			return
		}
	}
}

// proceed closes objects and arrays that end here, and reports whether another value
// follows.
func (s *scanner) proceed() bool {
	for s.err == nil && len(s.stack) > 0 {
		switch closing := s.stack[len(s.stack)-1]; s.peek() {
		case closing:
			s.i++
			s.depth--
			s.stack = s.stack[:len(s.stack)-1]
		case ',':
			s.i++
			s.memberName()
			return true
		default:
			s.fail("expected a comma or " + string(rune(closing)))
		}
	}
	return false
}

// memberName reads a name if the innermost value of skip is an object.
func (s *scanner) memberName() {
	if s.stack[len(s.stack)-1] != '}' {
		return
	}
	s.quoted()
	if s.peek() != ':' {
		s.fail("expected a colon")
	}
	s.i++
}

func (s *scanner) literal(word string) {
	if !strings.HasPrefix(string(s.b[s.i:min(len(s.b), s.i+len(word))]), word) {
		s.fail("expected " + word)
		return
	}
	s.i += len(word)
}

// number reads a number and returns its bytes.
func (s *scanner) number() []byte {
	if s.peek(); s.err != nil {
		return nil
	}
	start := s.i
	if s.at() == '-' {
		s.i++
	}
	switch c := s.at(); {
	case c == '0':
		s.i++
	case c >= '1' && c <= '9':
		s.digits()
	default:
		s.fail("expected a value")
		return nil
	}
	if s.at() == '.' {
		s.i++
		s.digits()
	}
	if c := s.at(); c == 'e' || c == 'E' {
		s.i++
		if c := s.at(); c == '+' || c == '-' {
			s.i++
		}
		s.digits()
	}
	return s.b[start:s.i]
}

// at returns the byte at hand, or 0 at the end.
func (s *scanner) at() byte {
	if s.i < len(s.b) {
		return s.b[s.i]
	}
	return 0
}

func (s *scanner) digits() {
	start := s.i
	for c := s.at(); c >= '0' && c <= '9'; c = s.at() {
		s.i++
	}
	if s.i == start {
		s.fail("expected a digit")
	}
}

// quoted reads a string and returns the bytes between its quotes. unescaped is true if
// they need no decoding.
func (s *scanner) quoted() (raw []byte, unescaped bool) {
	if s.peek() != '"' {
		s.fail("expected a string")
		return nil, true
	}
	start := s.i + 1
	unescaped = true
	for i := start; i < len(s.b); i++ {
		switch c := s.b[i]; {
		case c == '"':
			s.i = i + 1
			return s.b[start:i], unescaped
		case c == '\\':
			unescaped = false
			n := escape(s.b[i:])
			if n == 0 {
				s.i = i
				s.fail("bad escape")
				return nil, true
			}
			i += n - 1
		case c < ' ':
			s.i = i
			s.fail("a control character in a string")
			return nil, true
		case c >= utf8.RuneSelf:
			unescaped = false
		}
	}
	s.i = len(s.b)
	s.fail("a string without end")
	return nil, true
}

// escape returns the length of the escape that b begins with, or 0.
func escape(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if hex4(b) >= 0 {
			return 6
		}
	}
	return 0
}

// hex4 returns the number in \uXXXX at the start of b, or -1.
func hex4(b []byte) rune {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return -1
	}
	n, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	if err != nil {
		return -1
	}
	return rune(n)
}

// unquote decodes the result of quoted. Broken surrogates and invalid UTF-8 become
// U+FFFD.
func unquote(raw []byte) string {
	out := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); {
		c := raw[i]
		switch {
		case c >= utf8.RuneSelf:
			r, n := utf8.DecodeRune(raw[i:])
			out = utf8.AppendRune(out, r)
			i += n
			continue
		case c != '\\':
			out = append(out, c)
			i++
			continue
		}
		if raw[i+1] != 'u' {
			out = append(out, "\"\\/\b\f\n\r\t"[strings.IndexByte(`"\/bfnrt`, raw[i+1])])
			i += 2
			continue
		}
		r := hex4(raw[i:])
		i += 6
		if utf16.IsSurrogate(r) {
			pair := utf16.DecodeRune(r, hex4(raw[i:]))
			if pair != utf8.RuneError {
				i += 6
			}
			r = pair
		}
		out = utf8.AppendRune(out, r)
	}
	return string(out)
}
