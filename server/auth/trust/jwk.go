package trust

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"errors"
	"slices"

	jose "github.com/go-jose/go-jose/v4"
)

// A jwk is a public key of an issuer (RFC 7517) that tokens may be signed with.
type jwk struct {
	kid    string
	alg    string // empty: any that fits kind
	kind   string // "RSA", "P-256", "P-384" or "Ed25519"
	public any    // *rsa.PublicKey, *ecdsa.PublicKey or ed25519.PublicKey
}

// keyType returns the kind of key that an alg value needs. Algorithms that are
// not asymmetric are not known, whatever a trust list has.
func keyType(alg string) (kind string, known bool) {
	switch alg {
	case "ES256":
		return "P-256", true
	case "ES384":
		return "P-384", true
	case "RS256", "RS384", "RS512", "PS256", "PS384", "PS512":
		return "RSA", true
	case "EdDSA":
		return "Ed25519", true
	}
	return "", false
}

// Knows reports whether an alg value may occur in a trust list.
func Knows(alg string) bool {
	_, known := keyType(alg)
	return known
}

// fits reports whether a signature of that algorithm may be made with the key.
func (k jwk) fits(alg string) bool {
	kind, known := keyType(alg)
	return known && kind == k.kind && (k.alg == "" || k.alg == alg)
}

// maxExponent is how many characters of base64url an RSA exponent has at most.
const maxExponent = 8

var errJWKS = errors.New("not a JSON Web Key Set")

// parseJWKS parses a key set. It skips unusable keys. An empty set is valid: an issuer
// may have withdrawn all keys.
func parseJWKS(raw []byte) (map[string][]jwk, error) {
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(raw, &set); err != nil || set.Keys == nil {
		return nil, errJWKS
	}
	keys := map[string][]jwk{}
	for _, item := range set.Keys {
		if k, ok := parseJWK(item); ok {
			keys[k.kid] = append(keys[k.kid], k)
		}
	}
	return keys, nil
}

func parseJWK(raw []byte) (k jwk, ok bool) {
	o, err := parseObject(raw)
	if err != nil {
		return k, false
	}
	if k.kid, ok = o.text("kid", maxKid); !ok {
		return k, false
	}
	if use, ok := o.text("use", maxName); o.has("use") && (!ok || use != "sig") {
		return k, false
	}
	if ops, ok := o.texts("key_ops", maxName); o.has("key_ops") && (!ok || !slices.Contains(ops, "verify")) {
		return k, false
	}
	if o.has("d") { // anyone can sign with a private key that is published
		return k, false
	}
	// go-jose would refuse a key for a mistake in a certificate or its thumbprint, which
	// nothing here relies on.
	public := object{}
	for _, name := range []string{"kty", "n", "e", "crv", "x", "y"} {
		if o.has(name) {
			public[name] = o[name]
		}
	}
	raw, err = json.Marshal(public)
	var j jose.JSONWebKey
	if err != nil || j.UnmarshalJSON(raw) != nil {
		return k, false
	}
	k.public, ok = j.Key, false
	switch p := j.Key.(type) {
	case *rsa.PublicKey: // RFC 7518, 3.3; the exponent must fit 31 bits, and go-jose cuts longer ones
		_, short := o.text("e", maxExponent)
		bits := p.N.BitLen()
		k.kind, ok = "RSA", short && bits >= 2048 && bits <= 8192 && p.N.Bit(0) == 1 && p.E >= 3 && p.E%2 == 1 && p.E < 1<<31
	case *ecdsa.PublicKey:
		k.kind = p.Params().Name
		ok = k.kind == "P-256" || k.kind == "P-384"
	case ed25519.PublicKey: // RFC 8037, 2; go-jose fills short ones with zeros
		x, _ := o.text("x", maxName)
		k.kind, ok = "Ed25519", len(x) == base64.RawURLEncoding.EncodedLen(ed25519.PublicKeySize)
	}
	if !ok || !o.has("alg") {
		return k, ok
	}
	k.alg, _ = o.text("alg", maxName)
	return k, k.fits(k.alg)
}
