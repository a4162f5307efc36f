package webbotauth

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"time"
)

// A Key is a public key of a signer.
type Key struct {
	Thumbprint string // RFC 7638, SHA-256; base64url without padding
	ID         string // kid of the directory, by which some signers call the key; may be empty
	Public     ed25519.PublicKey
	NotBefore  time.Time // zero: always
	NotAfter   time.Time // zero: never
}

var errDirectory = errors.New("not a directory of keys")

const maxKeys = 100

// ParseDirectory reads a directory of keys (a JWKS of
// application/http-message-signatures-directory+json). It skips keys other than Ed25519.
// The thumbprint is always computed; kid is ignored.
func ParseDirectory(raw []byte) ([]Key, error) {
	var doc struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(raw, &doc); err != nil || doc.Keys == nil || len(doc.Keys) > maxKeys {
		return nil, errDirectory
	}
	keys := []Key{}
	for _, item := range doc.Keys {
		var k struct {
			Kty, Crv, X, Use, Kid string
			Nbf, Exp              json.Number
		}
		if json.Unmarshal(item, &k) != nil || k.Kty != "OKP" || k.Crv != "Ed25519" || k.Use != "" && k.Use != "sig" {
			continue
		}
		public, err := base64.RawURLEncoding.DecodeString(k.X)
		if err != nil || len(public) != ed25519.PublicKeySize {
			continue
		}
		keys = append(keys, Key{Thumbprint: Thumbprint(public), ID: k.Kid, Public: public, NotBefore: moment(k.Nbf), NotAfter: moment(k.Exp)})
	}
	return keys, nil
}

// Thumbprint returns the name of a key (RFC 7638 and RFC 8037, appendix A.3).
func Thumbprint(public ed25519.PublicKey) string {
	sum := sha256.Sum256([]byte(`{"crv":"Ed25519","kty":"OKP","x":"` + base64.RawURLEncoding.EncodeToString(public) + `"}`))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// moment reads a time in seconds, or in milliseconds as some directories have it.
func moment(n json.Number) time.Time {
	v, err := n.Int64()
	switch {
	case err != nil || v <= 0:
		return time.Time{}
	case v > 1e11:
		return time.UnixMilli(v)
	}
	return time.Unix(v, 0)
}
