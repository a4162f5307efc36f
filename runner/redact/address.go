package redact

import (
	"bytes"
	"strings"
)

const (
	mostLocal  = 64
	mostDomain = 255
)

// address finds an e-mail address or the password of a URL around the @ at i.
func address(text []byte, from, i int) (span, bool) {
	start := back(text, from, i, isUser)
	if start >= 3 && string(text[start-3:start]) == "://" {
		return password(text, start, i)
	}
	start = unescaped(text, back(text, from, i, isLocal), i)
	for start < i && (text[start] == '.' || text[start] == '-') {
		start++
	}
	end := run(text, i+1, func(c byte) bool { return isAlnum(c) || c == '-' || c == '.' })
	for end > i+1 && (text[end-1] == '.' || text[end-1] == '-') {
		end--
	}
	local, domain := text[start:i], text[i+1:end]
	if len(local) == 0 || len(local) > mostLocal || len(domain) > mostDomain || !isDomain(string(domain)) {
		return span{}, false
	}
	if end < len(text) && text[end] == '(' { // a call
		return span{}, false
	}
	if isRemote(string(local), string(domain), text[end:]) {
		return span{}, false
	}
	return span{start, end, "email"}, true
}

// password finds the password of a URL, between colon and @. Placeholders do not count.
func password(text []byte, start, i int) (span, bool) {
	colon := bytes.IndexByte(text[start:i], ':')
	if colon < 0 {
		return span{}, false
	}
	start += colon + 1
	if start == i || bytes.ContainsAny(text[start:i], "${}<>[]*") || text[start] == '%' && !isHex(text[start+1]) ||
		len(bytes.Trim(text[start:i], "ABCDEFGHIJKLMNOPQRSTUVWXYZ_-")) == 0 {
		return span{}, false
	}
	return span{start, i, "password"}, true
}

// isDomain reports whether a text is a host name, not a version or a file name.
func isDomain(s string) bool {
	labels := strings.Split(s, ".")
	if len(labels) < 2 {
		return false
	}
	for _, l := range labels {
		if l == "" {
			return false
		}
	}
	first := strings.TrimPrefix(labels[0], "v")
	if isNumber(first) && isDigit(labels[1][0]) {
		return false
	}
	last := labels[len(labels)-1]
	if len(last) < 2 || strings.ContainsFunc(last, func(c rune) bool { return c < 'A' || c == '-' || c == '_' }) {
		return false
	}
	switch strings.ToLower(last) {
	case "png", "jpg", "jpeg", "gif", "svg", "webp", "avif", "ico", "js", "mjs", "cjs", "ts", "tsx", "jsx", "css", "scss",
		"html", "json", "yaml", "yml", "toml", "txt", "xml", "dll", "exe", "go", "rb":
		return false // name@2x.png
	}
	return true
}

// isRemote reports whether an address is that of a repository: git@host:path.
func isRemote(local, domain string, rest []byte) bool {
	if local == "git" || local == "hg" {
		return true
	}
	switch domain {
	case "github.com", "gitlab.com", "bitbucket.org", "ssh.dev.azure.com":
		return len(rest) > 0 && rest[0] == ':'
	}
	return false
}

// back returns the start of the run of bytes of a class that ends before i.
func back(text []byte, from, i int, class func(byte) bool) int {
	for i > from && class(text[i-1]) {
		i--
	}
	return i
}

// unescaped moves a start after the escape sequence that contains it, as in
// \njane@example.com.
func unescaped(text []byte, start, end int) int {
	if start == 0 || start == end || text[start-1] != '\\' {
		return start
	}
	if text[start] == 'u' && start+5 <= end && allHex(text[start+1:start+5]) {
		return start + 5
	}
	return start + 1
}

func isLocal(c byte) bool { return isKey(c) || c == '.' || c == '%' || c == '+' }

// isUser reports whether a byte may occur between :// and @.
func isUser(c byte) bool {
	return c > ' ' && c < 0x7f && bytes.IndexByte([]byte(`/@"'<>\?#`), c) < 0
}

func isNumber(s string) bool {
	for i := range len(s) {
		if !isDigit(s[i]) {
			return false
		}
	}
	return s != ""
}
