package trust

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"errors"
	"math/big"
	"slices"
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

var errJWKS = errors.New("not a JSON Web Key Set")

// parseJWKS reads a key set. Keys that cannot be used are left out; a set with
// none left is a set too, an issuer may have withdrawn all.
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
	switch kty, _ := o.text("kty", maxName); kty {
	case "RSA":
		k.public, k.kind, ok = parseRSA(o)
	case "EC":
		k.public, k.kind, ok = parseEC(o)
	case "OKP":
		k.public, k.kind, ok = parseOKP(o)
	default: // oct is a shared secret
		return k, false
	}
	if !ok || !o.has("alg") {
		return k, ok
	}
	k.alg, _ = o.text("alg", maxName)
	return k, k.fits(k.alg)
}

// parseRSA takes keys of 2048 to 8192 bits (RFC 7518, 3.3) with an odd exponent
// of at least 3 that fits 31 bits.
func parseRSA(o object) (any, string, bool) {
	n, okN := octets(o, "n")
	e, okE := octets(o, "e")
	if !okN || !okE || len(n) > 1025 || len(e) > 8 {
		return nil, "", false
	}
	modulus, exponent := new(big.Int).SetBytes(n), new(big.Int).SetBytes(e)
	if bits := modulus.BitLen(); bits < 2048 || bits > 8192 || modulus.Bit(0) == 0 {
		return nil, "", false
	}
	if exponent.BitLen() > 31 || exponent.Bit(0) == 0 || exponent.Int64() < 3 {
		return nil, "", false
	}
	return &rsa.PublicKey{N: modulus, E: int(exponent.Int64())}, "RSA", true
}

// parseEC takes points on P-256 and P-384, coordinates at full length (RFC 7518,
// 6.2.1.2).
func parseEC(o object) (any, string, bool) {
	var curve elliptic.Curve
	name, _ := o.text("crv", maxName)
	switch name {
	case "P-256":
		curve = elliptic.P256()
	case "P-384":
		curve = elliptic.P384()
	default:
		return nil, "", false
	}
	size := curve.Params().BitSize / 8
	x, okX := octets(o, "x")
	y, okY := octets(o, "y")
	if !okX || !okY || len(x) != size || len(y) != size {
		return nil, "", false
	}
	key, err := ecdsa.ParseUncompressedPublicKey(curve, slices.Concat([]byte{4}, x, y))
	return key, name, err == nil
}

// parseOKP takes Ed25519 keys (RFC 8037, 2).
func parseOKP(o object) (any, string, bool) {
	x, ok := octets(o, "x")
	if crv, _ := o.text("crv", maxName); crv != "Ed25519" || !ok || len(x) != ed25519.PublicKeySize {
		return nil, "", false
	}
	return ed25519.PublicKey(x), "Ed25519", true
}

func octets(o object, name string) ([]byte, bool) {
	s, ok := o.text(name, 2048)
	if !ok {
		return nil, false
	}
	b, err := base64.RawURLEncoding.DecodeString(s)
	return b, err == nil
}
