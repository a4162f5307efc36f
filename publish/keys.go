package publish

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"
)

// ReadPrivateKey reads an Ed25519 key in PKCS #8 PEM, as
// `openssl genpkey -algorithm ed25519` writes it.
func ReadPrivateKey(path string) (ed25519.PrivateKey, error) {
	return readKey[ed25519.PrivateKey](path, "PRIVATE KEY", x509.ParsePKCS8PrivateKey)
}

// ReadPublicKey reads an Ed25519 key in PKIX PEM, as `openssl pkey -pubout`
// writes it.
func ReadPublicKey(path string) (ed25519.PublicKey, error) {
	return readKey[ed25519.PublicKey](path, "PUBLIC KEY", x509.ParsePKIXPublicKey)
}

func readKey[K any](path, kind string, parse func(der []byte) (any, error)) (key K, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return key, err
	}
	block, _ := pem.Decode(data)
	if block == nil || block.Type != kind {
		return key, fmt.Errorf("%s does not start with -----BEGIN %s-----; give an Ed25519 key in PEM", path, kind)
	}
	parsed, err := parse(block.Bytes)
	if err != nil {
		return key, fmt.Errorf("%s: %w", path, err)
	}
	key, ok := parsed.(K)
	if !ok {
		return key, fmt.Errorf("%s contains a %T; snapshots are signed with Ed25519", path, parsed)
	}
	return key, nil
}
