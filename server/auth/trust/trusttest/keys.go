package trusttest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"maps"
	"math/big"
	"testing" //nolint:depguard // this package is for tests only
)

// A key is a private key and its JWK.
type key struct {
	kid     string
	private crypto.Signer
	public  map[string]any
}

// Kid returns the id of the current ES256 key.
func (p *IdP) Kid() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.main.kid
}

// RSA makes and serves an RSA key of so many bits and returns its id.
func (p *IdP) RSA(bits int) string {
	p.t.Helper()
	private, err := rsa.GenerateKey(rand.Reader, bits)
	must(p.t, err)
	return p.serveKey(private, map[string]any{
		"kty": "RSA", "use": "sig",
		"n": b64(private.N.Bytes()), "e": b64(big.NewInt(int64(private.E)).Bytes()),
	})
}

// Ed25519 makes and serves an Ed25519 key, for EdDSA, and returns its id.
func (p *IdP) Ed25519() string {
	p.t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	must(p.t, err)
	return p.serveKey(private, map[string]any{"kty": "OKP", "crv": "Ed25519", "x": b64(public)})
}

// ES384 makes and serves a key on P-384 and returns its id.
func (p *IdP) ES384() string {
	p.t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	must(p.t, err)
	return p.serveKey(private, ecJWK(p.t, private, "P-384"))
}

// Serve puts a JWK of the caller's making into the key set, as it is.
func (p *IdP) Serve(jwk map[string]any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.others = append(p.others, key{public: jwk})
}

// JWK returns a copy of the public key with an id, or nil.
func (p *IdP) JWK(kid string) map[string]any {
	k, ok := p.key(kid)
	if !ok {
		return nil
	}
	return maps.Clone(k.public)
}

func (p *IdP) serveKey(private crypto.Signer, public map[string]any) string {
	k := key{kid: rand.Text(), private: private, public: public}
	public["kid"] = k.kid
	p.mu.Lock()
	defer p.mu.Unlock()
	p.others = append(p.others, k)
	return k.kid
}

// key finds a key with a private half.
func (p *IdP) key(kid string) (key, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, k := range append([]key{p.main}, p.others...) {
		if k.kid == kid && k.private != nil {
			return k, true
		}
	}
	return p.main, false
}

func newES256(t testing.TB) key {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	k := key{kid: rand.Text(), private: private, public: ecJWK(t, private, "P-256")}
	k.public["kid"], k.public["use"], k.public["alg"] = k.kid, "sig", "ES256"
	return k
}

func ecJWK(t testing.TB, private *ecdsa.PrivateKey, curve string) map[string]any {
	point, err := private.PublicKey.Bytes() // 4, x, y
	must(t, err)
	half := len(point) / 2
	return map[string]any{"kty": "EC", "crv": curve, "x": b64(point[1 : 1+half]), "y": b64(point[1+half:])}
}

func b64(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

func must(t testing.TB, err error) {
	if err != nil { // call Helper only here, not while fuzzing
		t.Helper()
		t.Fatal(err)
	}
}
