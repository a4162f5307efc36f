package trusttest

import (
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"strings"

	"github.com/golang-jwt/jwt/v5"

	"github.com/firstpick/firstpick/server/auth/trust"
)

// Assertion returns an ID-JAG that is good for 5 min, with a jti of its own.
// Before it is signed, header and claims pass through change.
func (p *IdP) Assertion(aud, sub, email string, change ...func(header, claims map[string]any)) string {
	p.t.Helper()
	now := p.now().Unix()
	return p.changed("oauth-id-jag+jwt", map[string]any{
		"iss": p.URL, "aud": aud, "sub": sub, "jti": rand.Text(),
		"iat": now, "exp": now + 300, "auth_time": now - 60,
		"email": email, "email_verified": true,
	}, change)
}

// Event returns a security event token with trust.EventRevoked and a jti of its
// own. Before it is signed, header and claims pass through change.
func (p *IdP) Event(aud, sub string, change ...func(header, claims map[string]any)) string {
	p.t.Helper()
	return p.changed("secevent+jwt", map[string]any{
		"iss": p.URL, "aud": aud, "sub": sub, "jti": rand.Text(), "iat": p.now().Unix(),
		"events": map[string]any{trust.EventRevoked: map[string]any{}},
	}, change)
}

func (p *IdP) changed(typ string, claims map[string]any, change []func(header, claims map[string]any)) string {
	p.t.Helper()
	header := map[string]any{"typ": typ, "alg": "ES256", "kid": p.Kid()}
	for _, c := range change {
		c(header, claims)
	}
	return p.Sign(header, claims)
}

// Sign signs a token with the key of kid, or the current ES256 key without a kid, by the
// alg of the header. It can forge tokens: alg "none" gives an empty signature, an HMAC
// uses the public key in PEM as its secret, and an alg that does not fit the key is
// replaced by the key's.
func (p *IdP) Sign(header, claims map[string]any) string {
	p.t.Helper()
	h, err := json.Marshal(header)
	must(p.t, err)
	c, err := json.Marshal(claims)
	must(p.t, err)
	return p.SignRaw(header, string(h), string(c))
}

// SignRaw is Sign for a header and claims that are given as bytes; the key and
// the algorithm are still chosen by header.
func (p *IdP) SignRaw(header map[string]any, rawHeader, rawClaims string) string {
	text := b64([]byte(rawHeader)) + "." + b64([]byte(rawClaims))
	alg, _ := header["alg"].(string)
	if strings.EqualFold(alg, "none") {
		return text + "."
	}
	kid, _ := header["kid"].(string)
	k, _ := p.key(kid)
	method := jwt.GetSigningMethod(alg)
	if _, ok := method.(*jwt.SigningMethodHMAC); ok {
		der, err := x509.MarshalPKIXPublicKey(k.private.Public())
		must(p.t, err)
		sig, err := method.Sign(text, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
		must(p.t, err)
		return text + "." + b64(sig)
	}
	if method != nil {
		if sig, err := method.Sign(text, k.private); err == nil {
			return text + "." + b64(sig)
		}
	}
	sig, err := k.natural().Sign(text, k.private)
	must(p.t, err)
	return text + "." + b64(sig)
}

// natural returns the method that fits the key.
func (k key) natural() jwt.SigningMethod {
	switch k.public["kty"] {
	case "RSA":
		return jwt.SigningMethodRS256
	case "OKP":
		return jwt.SigningMethodEdDSA
	}
	if k.public["crv"] == "P-384" {
		return jwt.SigningMethodES384
	}
	return jwt.SigningMethodES256
}
