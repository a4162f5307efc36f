package event

import (
	"strings"
	"unicode/utf8"

	"github.com/firstpick/firstpick/fixtures/inert"
)

// masked replaces an e-mail address, so that pages of different people are one page.
const masked = "***"

// clean returns text that may be kept: without control characters and e-mail
// addresses, at most limit bytes.
func clean(s string, limit int) string { return cut(mask(tidy(s)), limit) }

// tidy trims white space, removes control characters, and replaces invalid UTF-8 by
// U+FFFD.
func tidy(s string) string {
	s = strings.TrimSpace(s)
	for i := range len(s) {
		if s[i] < ' ' || s[i] >= 0x7f {
			return strings.TrimSpace(strings.Map(printable, strings.ToValidUTF8(s, "\uFFFD")))
		}
	}
	return s
}

// printable drops control characters and those that reverse the direction of
// text, with which a page could be made to read otherwise than it is.
func printable(r rune) rune {
	switch {
	case r < ' ', r >= 0x7f && r < 0xa0, r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
		return -1
	}
	return r
}

// cut shortens s to at most limit bytes, at the border of a character.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return strings.TrimSpace(inert.Truncate(s, limit))
}

// opaque reports whether s can be somebody's name for a thing: 1 to limit bytes
// that no reader can take for others.
func opaque(s string, limit int) bool {
	if s == "" || len(s) > limit {
		return false
	}
	for _, r := range s {
		if r == utf8.RuneError || printable(r) < 0 {
			return false
		}
	}
	return true
}

// mask replaces each e-mail address in s, also one written with %40 for its @.
func mask(s string) string {
	if !strings.Contains(s, "@") && !strings.Contains(s, "40") {
		return s
	}
	var out strings.Builder
	done := 0 // the text before it is written
	for i := 0; i < len(s); {
		n := atSign(s[i:])
		if n == 0 {
			i++
			continue
		}
		end := domainEnd(s, i+n)
		start := localStart(s[done:i]) + done
		if end == 0 || start == i {
			i += n
			continue
		}
		out.WriteString(s[done:start])
		out.WriteString(masked)
		i, done = end, end
	}
	if done == 0 {
		return s
	}
	return out.String() + s[done:]
}

// atSign returns the length of the @ that s begins with, or 0.
func atSign(s string) int {
	if s[0] == '@' {
		return 1
	}
	if s[0] != '%' {
		return 0
	}
	n := 1
	for strings.HasPrefix(s[n:], "25") { // %2540 is an escaped %40
		n += 2
	}
	if strings.HasPrefix(s[n:], "40") {
		return n + 2
	}
	return 0
}

// localStart returns where the local part that ends s begins.
func localStart(s string) int {
	i := len(s)
	for i > 0 && localByte(s[i-1]) {
		i--
	}
	return i
}

func localByte(c byte) bool {
	return c >= utf8.RuneSelf || alnum(c) || strings.IndexByte(".!$%'*+-^_`{|}~", c) >= 0
}

func alnum(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// domainEnd returns the end of the domain that begins at i, or 0 without a domain: a
// label after its first must begin with two letters, so that package@1.2.3 is not an
// address.
func domainEnd(s string, i int) int {
	end, found := i, false
	for ; end < len(s); end++ {
		c := s[end]
		if c == '.' {
			found = found || end > i && end+2 < len(s) && letter(s[end+1]) && letter(s[end+2])
		} else if c < utf8.RuneSelf && !alnum(c) && c != '-' {
			break
		}
	}
	if !found {
		return 0
	}
	for s[end-1] == '.' || s[end-1] == '-' {
		end--
	}
	return end
}

func letter(c byte) bool { return c >= utf8.RuneSelf || alnum(c) && c > '9' }
