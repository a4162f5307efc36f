package redact

import "bytes"

// A shape is a kind of secret that is recognised by its form. Its rules read each byte of
// a token once, from the token's start, so that every text takes linear time.
type shape struct {
	anchors []string // three bytes each
	rule    rule
}

func shapes() []shape {
	return []shape{
		{[]string{"sk-"}, token("api-key", "sk-", isKey, 20, true)},
		{[]string{"sk_"}, anyOf(token("api-key", "sk_live_", isWord, 16, true), token("api-key", "sk_test_", isWord, 16, true))},
		{[]string{"rk_"}, anyOf(token("api-key", "rk_live_", isWord, 16, true), token("api-key", "rk_test_", isWord, 16, true))},
		{[]string{"whs"}, webhook},
		{[]string{"fpe"}, token("api-key", "fpe_", isKey, 16, true)},
		{[]string{"gsk"}, token("api-key", "gsk_", isAlnum, 30, true)},
		{[]string{"xai"}, token("api-key", "xai-", isAlnum, 30, true)},
		{[]string{"ppl"}, token("api-key", "pplx-", isAlnum, 30, true)},
		{[]string{"r8_"}, token("api-key", "r8_", isAlnum, 30, true)},
		{[]string{"nva"}, token("api-key", "nvapi-", isKey, 30, true)},
		{[]string{"re_"}, token("api-key", "re_", isWord, 20, true)},
		{[]string{"SG."}, sendgrid},
		{[]string{"sbp"}, token("api-key", "sbp_", isAlnum, 30, true)},
		{[]string{"dop"}, token("api-key", "dop_v1_", isAlnum, 40, true)},
		{[]string{"shp"}, anyOf(token("api-key", "shpat_", isAlnum, 30, true), token("api-key", "shpss_", isAlnum, 30, true))},
		{[]string{"AIz"}, token("api-key", "AIza", isKey, 30, true)},
		{[]string{"ghp"}, token("github-token", "ghp_", isAlnum, 20, false)},
		{[]string{"gho"}, token("github-token", "gho_", isAlnum, 20, false)},
		{[]string{"ghu"}, token("github-token", "ghu_", isAlnum, 20, false)},
		{[]string{"ghs"}, token("github-token", "ghs_", isAlnum, 20, false)},
		{[]string{"ghr"}, token("github-token", "ghr_", isAlnum, 20, false)},
		{[]string{"git"}, token("github-token", "github_pat_", isWord, 20, true)},
		{[]string{"glp"}, token("gitlab-token", "glpat-", isKey, 16, false)},
		{[]string{"xox"}, slack},
		{[]string{"AKI"}, aws("AKIA")},
		{[]string{"ASI"}, aws("ASIA")},
		{[]string{"hf_"}, token("huggingface-token", "hf_", isAlnum, 20, false)},
		{[]string{"npm"}, token("npm-token", "npm_", isAlnum, 30, false)},
		{[]string{"pyp"}, token("pypi-token", "pypi-", isKey, 40, true)},
		{[]string{"Bea", "bea", "BEA"}, bearer},
		{[]string{"eyJ"}, jwt},
		{[]string{"-BE"}, privateKey},
	}
}

// token finds prefix followed by a minimum of bytes of a class, at least one of them a
// digit. Random means that the token must look random; words do not count.
func token(kind, prefix string, class func(byte) bool, least int, random bool) rule {
	return func(text []byte, from, i int) (span, bool) {
		if !bytes.HasPrefix(text[i:], []byte(prefix)) || !begins(text, i) {
			return span{}, false
		}
		body := i + len(prefix)
		end := run(text, body, class)
		if end-body < least || !looksRandom(text[body:end], random) {
			return span{}, false
		}
		return span{max(from, i), end, kind}, true
	}
}

// looksRandom reports whether a token has a digit and, if random is set, upper and lower
// case or a long unbroken run.
func looksRandom(token []byte, random bool) bool {
	var digit, upper, lower bool
	unbroken, longest := 0, 0
	for _, c := range token {
		digit = digit || isDigit(c)
		upper = upper || c >= 'A' && c <= 'Z'
		lower = lower || c >= 'a' && c <= 'z'
		unbroken++
		if !isAlnum(c) {
			unbroken = 0
		}
		longest = max(longest, unbroken)
	}
	return digit && (!random || upper && lower || longest >= 16)
}

// anyOf tries rules that begin alike.
func anyOf(rules ...rule) rule {
	return func(text []byte, from, i int) (span, bool) {
		for _, f := range rules {
			if s, ok := f(text, from, i); ok {
				return s, true
			}
		}
		return span{}, false
	}
}

func slack(text []byte, from, i int) (span, bool) {
	if i+4 >= len(text) || !bytes.ContainsRune([]byte("abceoprs"), rune(text[i+3])) {
		return span{}, false
	}
	return token("slack-token", string(text[i:i+4])+"-", isKey, 10, false)(text, from, i)
}

// maxWebhook is the longest webhook secret in bytes: a slash may stand in one and before the next, so that
// without a limit each would be read to the end of the text.
const maxWebhook = 256

func webhook(text []byte, from, i int) (span, bool) {
	return token("webhook-secret", "whsec_", isBase64, 16, true)(text[:min(len(text), i+maxWebhook)], from, i)
}

// sendgrid finds SG., an id, a dot and a secret. As in jwt, the id may begin a token.
func sendgrid(text []byte, from, i int) (span, bool) {
	if !begins(text, i) {
		return span{}, false
	}
	id := i + len("SG.")
	dot := run(text, id, isKey)
	if dot == id || dot == len(text) || text[dot] != '.' {
		return span{}, false
	}
	end := run(text, dot+1, isKey)
	if end-id < 40 || !looksRandom(text[id:end], true) {
		return span{}, false
	}
	return span{max(from, i), end, "api-key"}, true
}

func aws(prefix string) rule {
	return func(text []byte, from, i int) (span, bool) {
		if !bytes.HasPrefix(text[i:], []byte(prefix)) || !begins(text, i) {
			return span{}, false
		}
		end := run(text, i, isWord)
		if end-i != 20 || bytes.ContainsFunc(text[i:end], func(c rune) bool { return c == '_' || c >= 'a' }) {
			return span{}, false
		}
		return span{max(from, i), end, "aws-key"}, true
	}
}

// bearer finds the token after the word Bearer, without the word.
func bearer(text []byte, _, i int) (span, bool) {
	if len(text)-i < 7 || !bytes.EqualFold(text[i:i+6], []byte("bearer")) || !begins(text, i) {
		return span{}, false
	}
	start := i + 6
	for start < len(text) && start < i+9 && (text[start] == ' ' || text[start] == '\t') {
		start++
	}
	end := run(text, start, func(c byte) bool { return isBase64(c) || c == '.' || c == '~' })
	if start == i+6 || end-start < 16 || !looksRandom(text[start:end], true) {
		return span{}, false
	}
	return span{start, end, "bearer-token"}, true
}

// jwt finds three or more base64 parts separated by dots. It stops at the first part that
// is not base64: each part may begin a token.
func jwt(text []byte, from, i int) (span, bool) {
	if !begins(text, i) {
		return span{}, false
	}
	first := run(text, i, isKey)
	if first-i < 10 || first == len(text) || text[first] != '.' {
		return span{}, false
	}
	second := run(text, first+1, isKey)
	if second-first-1 < 8 || second == len(text) || text[second] != '.' {
		return span{}, false
	}
	end := run(text, second, func(c byte) bool { return isKey(c) || c == '.' })
	end = second + len(bytes.TrimRight(text[second:end], "."))
	if end == second {
		return span{}, false
	}
	return span{max(from, i), end, "jwt"}, true
}

// privateKey finds a block from its first line to its last, or to its truncated end. In
// JSON its line ends are escaped.
func privateKey(text []byte, from, i int) (span, bool) {
	const dashes = "----"
	start := i - len(dashes)
	if start < from || string(text[start:i]) != dashes || !bytes.HasPrefix(text[i:], []byte("-BEGIN ")) {
		return span{}, false
	}
	title := text[i+1 : min(len(text), i+64)]
	n := bytes.Index(title, []byte("-----"))
	if n < 0 || !bytes.Contains(title[:n], []byte("PRIVATE KEY")) {
		return span{}, false
	}
	end := run(text, i+1+n+5, isArmour)
	if last := bytes.Index(text[i+1+n:end], []byte("-----END ")); last >= 0 {
		last += i + 1 + n + len("-----END ")
		if close := bytes.Index(text[last:end], []byte("-----")); close >= 0 {
			end = last + close + 5
		}
	}
	for end > i && (text[end-1] == '\\' || text[end-1] == ' ') { // part of the text after the block
		end--
	}
	return span{start, end, "private-key"}, true
}

// begins reports whether a token may begin at i: the byte before is not part of one, or
// ends an escape sequence.
func begins(text []byte, i int) bool {
	if i == 0 || !isKey(text[i-1]) {
		return true
	}
	if i >= 2 && text[i-2] == '\\' && bytes.IndexByte([]byte("ntrbf"), text[i-1]) >= 0 {
		return true
	}
	if i >= 3 && text[i-3] == '%' && isHex(text[i-2]) && isHex(text[i-1]) {
		return true
	}
	return i >= 6 && text[i-6] == '\\' && text[i-5] == 'u' && allHex(text[i-4:i])
}

// run returns the end of the run of bytes of a class that begins at i.
func run(text []byte, i int, class func(byte) bool) int {
	for i < len(text) && class(text[i]) {
		i++
	}
	return i
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
func isAlnum(c byte) bool { return isDigit(c) || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
func isWord(c byte) bool  { return isAlnum(c) || c == '_' }
func isKey(c byte) bool   { return isWord(c) || c == '-' }
func isHex(c byte) bool   { return isDigit(c) || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F' }

// isArmour reports whether a byte may occur inside a block, escaped line ends included.
func isArmour(c byte) bool {
	return isBase64(c) || bytes.IndexByte([]byte(" \t\r\n\\:,"), c) >= 0
}

func allHex(b []byte) bool {
	for _, c := range b {
		if !isHex(c) {
			return false
		}
	}
	return true
}
