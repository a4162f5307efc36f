package identity

import (
	"strings"

	"golang.org/x/net/idna"
)

const (
	maxEmail = 254 // RFC 5321, 4.5.3.1.3
	maxLocal = 64
)

// ParseEmail returns the canonical form of an address: trimmed, lower-cased, its
// domain in ASCII. Dots and tags in the local part stay, for they may be other
// people. Quoted local parts, address literals and display names are refused.
func ParseEmail(s string) (string, bool) {
	s = strings.Map(lowerASCII, strings.TrimSpace(s))
	at := strings.LastIndexByte(s, '@')
	if at < 1 || len(s) > maxEmail || at > maxLocal {
		return "", false
	}
	local, domain := s[:at], s[at+1:]
	if !isDotAtom(local) {
		return "", false
	}
	domain, err := idna.Lookup.ToASCII(domain)
	if err != nil || !isHostname(domain) || at+1+len(domain) > maxEmail {
		return "", false
	}
	return local + "@" + domain, true
}

// lowerASCII leaves other letters as they are: that some of them fold into ASCII
// must not make two addresses one.
func lowerASCII(r rune) rune {
	if r >= 'A' && r <= 'Z' {
		return r + 'a' - 'A'
	}
	return r
}

// isDotAtom reports whether a local part is a dot-atom (RFC 5322, 3.2.3) in ASCII.
func isDotAtom(s string) bool {
	for _, atom := range strings.Split(s, ".") {
		if atom == "" {
			return false
		}
		for i := range len(atom) {
			c := atom[i]
			if (c < 'a' || c > 'z') && (c < '0' || c > '9') && !strings.ContainsRune("!#$%&'*+-/=?^_`{|}~", rune(c)) {
				return false
			}
		}
	}
	return true
}

func isHostname(s string) bool {
	labels := strings.Split(s, ".")
	if len(labels) < 2 {
		return false
	}
	for _, l := range labels {
		if l == "" || len(l) > 63 || l[0] == '-' || l[len(l)-1] == '-' {
			return false
		}
		for i := range len(l) {
			if c := l[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
				return false
			}
		}
	}
	last := labels[len(labels)-1]
	return last[0] < '0' || last[0] > '9' // not an IPv4 address
}

// MaskEmail masks an address for others than its owner: d***@example.com.
func MaskEmail(email string) string {
	local, domain, ok := strings.Cut(email, "@")
	if !ok || local == "" {
		return "***"
	}
	return local[:1] + "***@" + domain
}
