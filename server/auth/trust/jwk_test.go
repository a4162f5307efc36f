package trust_test

import "testing"

func TestBadKeysAreLeftOut(t *testing.T) {
	idp, v, _ := setup(t)
	good := idp.Ed25519()
	p256 := idp.JWK(idp.Kid())
	for name, edit := range map[string]map[string]any{
		"use enc":             {"use": "enc"},
		"use null":            {"use": nil},
		"key_ops sign":        {"key_ops": []string{"sign"}},
		"alg of another kind": {"alg": "RS256"},
		"alg HS256":           {"alg": "HS256"},
		"kty oct":             {"kty": "oct", "k": "c2VjcmV0"},
		"kty lower case":      {"kty": "ec"},
		"curve P-521":         {"crv": "P-521"},
		"curve P-384":         {"crv": "P-384"},
		"not on the curve":    {"y": p256["x"]},
		"short x":             {"x": "AA"},
		"padded x":            {"x": p256["x"].(string) + "="},
		"an RSA key of 3":     {"kty": "RSA", "alg": "RS256", "n": "AAAA", "e": "Aw"},
		"no key":              {"kty": 1},
	} {
		jwk := idp.JWK(idp.Kid())
		for member, value := range edit {
			jwk[member] = value
		}
		jwk["kid"] = name
		idp.Serve(jwk)
	}
	for kid, e := range map[string]string{"even exponent": "AQAA", "exponent 1": "AQ", "huge exponent": "AQAAAAE", "exponent beyond 64 bits": "AQAAAAAAAAAAAQAB"} {
		jwk := idp.JWK(idp.RSA(2048))
		jwk["kid"], jwk["e"] = kid, e
		idp.Serve(jwk)
	}
	idp.Serve(map[string]any{"kty": "OKP", "crv": "Ed25519", "kid": "short okp", "x": "AAAA"})
	idp.Serve(map[string]any{"kty": "OKP", "crv": "X25519", "kid": "other okp", "x": idp.JWK(good)["x"]})
	idp.Serve(map[string]any{"kty": "OKP", "crv": "Ed25519", "kid": "long okp", "x": idp.JWK(good)["x"].(string) + "AAAA"})
	idp.Serve(map[string]any{"kty": "OKP", "crv": "Ed25519", "kid": "a private key", "x": idp.JWK(good)["x"], "d": idp.JWK(good)["x"]})
	idp.Serve(nil)
	_, err := v.Assertion(t.Context(), idp.Assertion(resource, "u", "a@b.example", header("kid", good), header("alg", "EdDSA")))
	if err != nil {
		t.Fatal("bad keys spoil a good one:", err)
	}
	for _, kid := range []string{
		"use enc", "use null", "key_ops sign", "alg of another kind", "alg HS256", "kty oct", "kty lower case", "curve P-521",
		"curve P-384", "not on the curve", "short x", "padded x", "an RSA key of 3", "no key", "even exponent", "exponent 1",
		"huge exponent", "exponent beyond 64 bits", "long okp", "a private key", "short okp", "other okp",
	} {
		_, err := v.Assertion(t.Context(), idp.Assertion(resource, "u", "a@b.example", header("kid", kid)))
		if got := refusal(t, err); got != unknown {
			t.Errorf("%s: %q", kid, got)
		}
	}
}

// TestCertificatesOfKeysAreNotRead: signatures are checked with the key alone, so a
// mistake in what describes its certificate costs nothing.
func TestCertificatesOfKeysAreNotRead(t *testing.T) {
	idp, v, _ := setup(t)
	keys := map[string]map[string]any{
		"x5t in hex":             {"x5t": "00112233445566778899aabbccddeeff00112233"},
		"x5t padded":             {"x5t": "ABEiM0RVZneImaq7zN3u_wARIjM="},
		"x5t#S256 cut":           {"x5t#S256": "AAAA"},
		"x5c of another form":    {"x5c": []string{"not a certificate"}},
		"x5u relative":           {"x5u": "/cert"},
		"members of other kinds": {"k": 5, "p": 1},
	}
	for name, edit := range keys {
		jwk := idp.JWK(idp.Kid())
		for member, value := range edit {
			jwk[member] = value
		}
		jwk["kid"] = name
		idp.Serve(jwk)
	}
	for name := range keys {
		if _, err := v.Assertion(t.Context(), idp.Assertion(resource, "u", "a@b.example", header("kid", name))); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
