package trust

import (
	"encoding/base64"
	"slices"
	"strings"
)

const (
	maxIDJAG = 8 << 10  // bytes of an ID-JAG
	maxSET   = 16 << 10 // bytes of a security event token
	maxName  = 255      // bytes of sub, jti, client_id and the like
	maxKid   = 256      // bytes of a key id
	maxISS   = 2048     // bytes of an issuer URL
)

// A token is a parsed, not yet verified compact JWS (RFC 7515, 7.1).
type token struct {
	raw    string
	header object
	claims object
}

// split takes a token of at most limit bytes apart.
func split(raw string, limit int) (token, *Refusal) {
	if len(raw) > limit {
		return token{}, refuse(reasonMalformed, "the token is too large")
	}
	// The decoder skips line ends, so the alphabet is checked here.
	if strings.ContainsFunc(raw, notToken) {
		return token{}, refuse(reasonMalformed, "the token has characters outside base64url")
	}
	parts := strings.SplitN(raw, ".", 4)
	if len(parts) != 3 {
		return token{}, refuse(reasonMalformed, "the token does not have three segments")
	}
	var bytes [3][]byte
	for i, part := range parts {
		var err error
		if bytes[i], err = base64.RawURLEncoding.Strict().DecodeString(part); err != nil {
			return token{}, refuse(reasonMalformed, "a segment of the token is not base64url")
		}
	}
	header, err := parseObject(bytes[0])
	if err != nil {
		return token{}, refuse(reasonMalformed, "the header is not a plain JSON object")
	}
	claims, err := parseObject(bytes[1])
	if err != nil {
		return token{}, refuse(reasonMalformed, "the payload is not a plain JSON object")
	}
	if header.has("crit") {
		return token{}, refuse(reasonMalformed, "the header has crit, and no extension is known here")
	}
	return token{raw, header, claims}, nil
}

func notToken(r rune) bool {
	switch {
	case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_', r == '.':
		return false
	}
	return true
}

// checkHeader checks typ, alg and kid. The returned strings are alg and kid.
func (t token) checkHeader(types, algs []string) (alg, kid string, r *Refusal) {
	got, ok := t.header.text("typ", maxName)
	if !ok || !slices.Contains(types, strings.TrimPrefix(lower(got), "application/")) {
		return "", "", refuse(reasonTyp, "typ of the header must be "+strings.Join(types, " or "))
	}
	alg, ok = t.header.text("alg", maxName)
	if _, known := keyType(alg); !ok || !known || !slices.Contains(algs, alg) {
		return "", "", refuse(reasonAlg, "alg of the header is not accepted from this issuer")
	}
	if !t.header.has("kid") {
		return "", "", refuse(reasonNoKid, "the header has no kid")
	}
	kid, ok = t.header.text("kid", maxKid)
	if !ok {
		return "", "", refuse(reasonNoKid, "kid of the header must be a string of 1 to 256 bytes")
	}
	return alg, kid, nil
}

// lower lower-cases ASCII letters and leaves all else alone; Unicode has
// letters whose lower case is ASCII.
func lower(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}
