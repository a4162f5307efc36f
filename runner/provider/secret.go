package provider

import (
	"bytes"
	"net/url"
	"strings"
)

// A secret redacts a key in the output of servers and libraries.
type secret struct {
	key     string
	replace *strings.Replacer // nil without a key to redact
}

// minSecret is the minimum length of a redacted key: a placeholder key for servers without
// authentication is a word that may occur in answers.
const minSecret = 8

func newSecret(key string) secret {
	if len(key) < minSecret {
		return secret{}
	}
	const mark = "[key]"
	return secret{key, strings.NewReplacer(
		key, mark, url.QueryEscape(key), mark, url.PathEscape(key), mark, strings.ReplaceAll(key, "/", `\/`), mark,
	)}
}

func (s secret) text(t string) string {
	if s.replace == nil {
		return t
	}
	return s.replace.Replace(t)
}

// bytes returns b itself if it has no key to redact.
func (s secret) bytes(b []byte) []byte {
	if s.replace == nil {
		return b
	}
	if !strings.ContainsFunc(s.key, special) && !bytes.Contains(b, []byte(s.key)) {
		return b
	}
	return []byte(s.replace.Replace(string(b)))
}

// special reports whether a character may be spelt in more than one way.
func special(r rune) bool {
	wordByte := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_'
	return !wordByte
}
