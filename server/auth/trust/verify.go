package trust

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

const (
	skew  = 60 * time.Second  // of our clock and the issuer's, for expiry
	ahead = 120 * time.Second // how far the issuer's clock may be ahead of ours
)

// authentic parses a token of either kind, finds its issuer and verifies header and
// signature. The error is a *Refusal or one of Find.
func (v *Verifier) authentic(ctx context.Context, raw string, limit int, types ...string) (token, Issuer, error) {
	t, r := split(raw, limit)
	if r != nil {
		return token{}, Issuer{}, r
	}
	issuer, err := v.issuer(ctx, t)
	if err != nil {
		return token{}, Issuer{}, err
	}
	algs := issuer.Algs
	if len(algs) == 0 {
		algs = []string{"ES256", "ES384", "RS256", "PS256", "EdDSA"}
	}
	alg, kid, r := t.checkHeader(types, algs)
	if r != nil {
		return token{}, Issuer{}, r
	}
	key, r := v.key(ctx, issuer, alg, kid)
	if r != nil {
		return token{}, Issuer{}, r
	}
	if r := checkSignature(raw, alg, key); r != nil {
		return token{}, Issuer{}, r
	}
	return t, issuer, nil
}

// issuer finds the issuer that the token names. This is the only claim that is
// used before the signature is checked.
func (v *Verifier) issuer(ctx context.Context, t token) (Issuer, error) {
	if !t.claims.has("iss") {
		return Issuer{}, refuse(reasonClaim, "iss is missing")
	}
	iss, ok := t.claims.text("iss", maxISS)
	if !ok {
		return Issuer{}, refuse(reasonMalformed, "iss must be a string")
	}
	none := &Refusal{Code: codeNotEnabled, Description: "the issuer is not trusted here", ISS: iss}
	if strings.TrimRight(iss, "/") == strings.TrimRight(v.Self, "/") {
		return Issuer{}, none
	}
	issuer, ok, err := v.Find(ctx, iss)
	if err != nil {
		return Issuer{}, fmt.Errorf("look up issuer: %w", err)
	}
	if !ok || issuer.ISS != iss {
		return Issuer{}, none
	}
	return issuer, nil
}

// key finds the issuer's own key of that id that fits the algorithm.
func (v *Verifier) key(ctx context.Context, issuer Issuer, alg, kid string) (any, *Refusal) {
	keys, err := v.Keys.find(ctx, issuer, kid)
	switch {
	case errors.Is(err, errUnknownKid):
		return nil, refuse(reasonKid, "the issuer publishes no usable key with this kid")
	case err != nil:
		return nil, &Refusal{Code: codeUnavailable, Description: "the keys of the issuer cannot be fetched now"}
	}
	for _, k := range keys {
		if k.fits(alg) {
			return k.public, nil
		}
	}
	return nil, refuse(reasonAlg, "alg of the header does not fit the key")
}

func checkSignature(raw, alg string, key any) *Refusal {
	parser := jwt.NewParser(jwt.WithValidMethods([]string{alg}), jwt.WithStrictDecoding(),
		jwt.WithJSONNumber(), jwt.WithoutClaimsValidation())
	_, err := parser.Parse(raw, func(*jwt.Token) (any, error) { return key, nil })
	switch {
	case err == nil:
		return nil
	case errors.Is(err, jwt.ErrTokenSignatureInvalid):
		return refuse(reasonSignature, "the signature does not match")
	}
	return refuse(reasonMalformed, "the token cannot be read")
}

// name returns a claim that must be a string of 1 to 255 bytes.
func (t token) name(claim string) (string, *Refusal) {
	if !t.claims.has(claim) {
		return "", refuse(reasonClaim, claim+" is missing")
	}
	s, ok := t.claims.text(claim, maxName)
	if !ok {
		return "", refuse(reasonMalformed, claim+" must be a string of 1 to 255 bytes without control characters")
	}
	return s, nil
}

// date returns a claim that must be a NumericDate.
func (t token) date(claim string) (time.Time, *Refusal) {
	if !t.claims.has(claim) {
		return time.Time{}, refuse(reasonClaim, claim+" is missing")
	}
	d, ok := t.claims.date(claim)
	if !ok {
		return time.Time{}, refuse(reasonMalformed, claim+" must be a number of seconds since 1970")
	}
	return d, nil
}
