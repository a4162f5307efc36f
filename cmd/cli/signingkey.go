package cli

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/firstpick/firstpick/publish"
	"github.com/firstpick/firstpick/publish/content"
)

// signingKey is the file of the data folder's own key.
const signingKey = "signing.key"

// ownKey returns the key of the data folder; nil without one.
func (a *app) ownKey() (ed25519.PrivateKey, error) {
	key, err := publish.ReadPrivateKey(filepath.Join(a.cfg.Data, signingKey))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return key, badInput(err)
}

// newKey creates the key of the data folder.
func (a *app) newKey() (ed25519.PrivateKey, error) {
	file := filepath.Join(a.cfg.Data, signingKey)
	if err := createKey(file); err != nil {
		return nil, err
	}
	a.note("%s is the new key of the log; keep a copy with your secrets: no other key can continue the log", file)
	return a.ownKey()
}

func publicKey(key ed25519.PrivateKey) ed25519.PublicKey {
	return key.Public().(ed25519.PublicKey) //nolint:forcetypeassert // documented
}

// createKey writes a new key, unless another process was faster.
func createKey(file string) (err error) {
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		return err
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(file), ".signing-*") // mode 0600
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.Remove(tmp.Name())) }()
	err = errors.Join(pem.Encode(tmp, &pem.Block{Type: "PRIVATE KEY", Bytes: der}), tmp.Sync(), tmp.Close())
	if err != nil {
		return err
	}
	if err := os.Link(tmp.Name(), file); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return content.Sync(filepath.Dir(file))
}
