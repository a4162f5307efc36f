package event

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strconv"
	"strings"

	"github.com/firstpick/firstpick/server/store/identity"
)

// The prefixes of an identity.
const (
	hashPrefix = "eh:"
	refPrefix  = "ref:"
)

// HashEmail returns the identity of a canonical address, as identity.ParseEmail
// returns it. It is the hash that senders can make themselves, so it hides an
// address only from those who cannot guess it.
func HashEmail(canonical string) string {
	sum := sha256.Sum256([]byte(canonical))
	return string(hex.AppendEncode([]byte(hashPrefix), sum[:]))
}

// subject checks who an event is about. The address is forgotten here.
func (r *reader) subject(d *draft, in *Input) *fault {
	if d.visitorToken != "" {
		if !opaque(d.visitorToken, MaxID) {
			return &fault{InvalidVisitor, "visitorToken", "visitorToken must be 1 to " + strconv.Itoa(MaxID) + " bytes without control characters"}
		}
		in.VisitorToken = d.visitorToken
	}
	var f *fault
	if in.Identity, f = named(d.email, d.userRef); f != nil {
		return f
	}
	if strings.TrimSpace(d.email) != "" && strings.TrimSpace(d.userRef) != "" {
		r.notes.add(WarnTwoIdentities, "userRef")
	}
	return nil
}

// Identity returns the name under which the events of a person are stored, from an
// e-mail address (or its hash by the sender) or the sender's reference. The address has
// precedence. The error describes the invalid value.
func Identity(email, userRef string) (string, error) {
	identity, f := named(email, userRef)
	if f != nil {
		return "", errors.New(f.message)
	}
	return identity, nil
}

func named(email, userRef string) (string, *fault) {
	limit := strconv.Itoa(MaxID)
	email, userRef = strings.TrimSpace(email), strings.TrimSpace(userRef)
	if email != "" {
		identity, ok := hashed(email)
		if !ok {
			return "", &fault{InvalidEmail, "email", "email must be one address (name@example.com), or eh: and the SHA-256 of one in hex"}
		}
		return identity, nil
	}
	if userRef == "" {
		return "", nil
	}
	if identity, _ := hashed(userRef); identity != "" {
		return identity, nil
	}
	if !opaque(userRef, MaxID) {
		return "", &fault{InvalidUserRef, "userRef", "userRef must be 1 to " + limit + " bytes without control characters"}
	}
	if mask(userRef) != userRef {
		return "", &fault{InvalidUserRef, "userRef", "userRef holds an e-mail address: send that alone, in email, or an opaque name of the person"}
	}
	return refPrefix + userRef, nil
}

// hashed returns the identity of an address, or of its hash made by the sender.
func hashed(s string) (string, bool) {
	if digits, ok := strings.CutPrefix(s, hashPrefix); ok && len(digits) == 2*sha256.Size {
		if _, err := hex.DecodeString(digits); err == nil {
			return hashPrefix + strings.ToLower(digits), true
		}
	}
	if canonical, ok := identity.ParseEmail(s); ok {
		return HashEmail(canonical), true
	}
	return "", false
}

// validID reports whether an id may name an event.
func validID(id string) bool {
	if id == "" || len(id) > MaxID {
		return false
	}
	for i := range len(id) {
		if c := id[i]; !alnum(c) && strings.IndexByte("_.:#-", c) < 0 {
			return false
		}
	}
	return true
}

// idPrefix returns the prefix of ids derived from an idempotency key: the key, or its
// hash if the key with a number is not a valid id.
func idPrefix(key string) string {
	if !validID(key) || len(key) > MaxID-8 {
		sum := sha256.Sum256([]byte(key))
		key = hex.EncodeToString(sum[:16])
	}
	return key + "#"
}

// conversion validates the kind and the value of a conversion.
func (r *reader) conversion(d *draft, in *Input) *fault {
	switch {
	case d.kind == "":
		return &fault{MissingKind, "kind", "a convert needs kind: signup, trial, paid, refund, or a word of your own"}
	case !validKind(d.kind):
		return &fault{InvalidKind, "kind", "kind must be 1 to 40 characters of a-z 0-9 _"}
	}
	in.Kind = d.kind
	for _, o := range []struct {
		field, text string
		to          *string
	}{{"orderId", d.orderID, &in.OrderID}, {"refundOf", d.refundOf, &in.RefundOf}} {
		if o.text == "" {
			continue
		}
		if !opaque(o.text, MaxID) || mask(o.text) != o.text {
			return &fault{InvalidOrderID, o.field, o.field + " must be 1 to " + strconv.Itoa(MaxID) + " bytes without control characters and e-mail addresses"}
		}
		*o.to = o.text
	}
	if in.RefundOf != "" && in.Kind != refundKind {
		in.RefundOf = ""
		r.notes.add(WarnIgnoredFields, "refundOf")
	}
	return r.worth(d, in)
}

// refundKind is the kind that takes money back.
const refundKind = "refund"

// worth checks value and currency.
func (r *reader) worth(d *draft, in *Input) *fault {
	code := strings.ToUpper(strings.TrimSpace(d.currency))
	given := code != ""
	if !given {
		code = r.o.Currency
	}
	exponent, known := Exponent(code)
	if given && !known {
		return &fault{UnknownCurrency, "currency", "currency must be a code of ISO 4217, such as USD"}
	}
	if d.value == "" {
		return nil
	}
	if !known { // and not given: only nothing is worth the same in all
		exponent = maxDecimals
	}
	minor, err := ParseMoney(strings.TrimSpace(d.value), exponent)
	switch {
	case err != nil:
		return &fault{InvalidValue, "value", "value must be a decimal such as \"49.00\", with no more decimals than its currency has"}
	case minor != 0 && !known:
		return &fault{MissingCurrency, "currency", "a value needs currency, such as USD"}
	case minor < 0 && in.Kind != refundKind:
		return &fault{InvalidValue, "value", "only a refund has a negative value: send kind refund and refundOf"}
	case minor > 0 && in.Kind == refundKind:
		r.notes.add(WarnRefundSign, "value")
		minor = -minor
	}
	if in.Value = minor; known {
		in.Currency = code
	}
	return nil
}

func validKind(s string) bool {
	for i := range len(s) {
		if c := s[i]; c != '_' && (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			return false
		}
	}
	return s != "" && len(s) <= maxKind
}
