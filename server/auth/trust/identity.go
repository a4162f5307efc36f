package trust

import (
	"slices"
	"strings"

	"github.com/firstpick/firstpick/server/store/identity"
)

// identity reads the email and the phone number that the issuer verified, and requires
// at least one.
func (a *Assertion) identity(t token) *Refusal {
	for _, c := range []struct {
		claim string
		into  *string
		parse func(string) (string, bool)
	}{
		{"email", &a.Email, identity.ParseEmail},
		{"phone_number", &a.Phone, parsePhone},
	} {
		flag := c.claim + "_verified"
		if t.claims.has(flag) && !t.claims.isBool(flag) {
			return refuse(reasonIdentity, flag+" must be a boolean")
		}
		value, ok := t.claims.text(c.claim, maxName)
		if t.claims.has(c.claim) && !ok {
			return refuse(reasonIdentity, c.claim+" must be a string of 1 to 255 bytes")
		}
		if !ok || !t.claims.isTrue(flag) {
			continue
		}
		if *c.into, ok = c.parse(value); !ok {
			return refuse(reasonIdentity, c.claim+" is not well-formed")
		}
	}
	if a.Email == "" && a.Phone == "" {
		return refuse(reasonIdentity, "neither a verified email nor a verified phone_number is asserted")
	}
	return nil
}

// policy checks the operator's additional rules for this issuer.
func (a *Assertion) policy(t token, issuer Issuer) *Refusal {
	if t.claims.has("amr") {
		var ok bool
		if a.AMR, ok = t.claims.texts("amr", maxName); !ok {
			return refuse(reasonMalformed, "amr must be an array of strings")
		}
	}
	for _, method := range issuer.AMR {
		if !slices.Contains(a.AMR, method) {
			return refuse(reasonClaim, "amr lacks a method of signing in that is required of this issuer")
		}
	}
	if len(issuer.EmailDomains) == 0 {
		return nil
	}
	_, domain, _ := strings.Cut(a.Email, "@")
	for _, d := range issuer.EmailDomains {
		if domain != "" && domain == lower(d) {
			return nil
		}
	}
	return refuse(reasonIdentity, "this issuer may not assert emails of this domain")
}

// parsePhone takes a number in the form of E.164: a plus and 7 to 15 digits, the
// first not zero.
func parsePhone(s string) (string, bool) {
	digits, ok := strings.CutPrefix(s, "+")
	return s, ok && len(digits) >= 7 && len(digits) <= 15 && digits[0] != '0' && strings.Trim(digits, "0123456789") == ""
}
