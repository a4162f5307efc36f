package publish

import (
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"io/fs"
	"os"
	"strings"
)

// CheckSignature reports whether a snapshot is signed. Where keys are trusted, it fails with
// a *DamageError unless the signature is of one of them.
func CheckSignature(root, id string, trusted []ed25519.PublicKey) (signed bool, err error) {
	dir, err := openSnapshot(root, id)
	if err != nil {
		return false, err
	}
	defer func() { _ = dir.Close() }()
	return checkSignature(dir, id, trusted)
}

// checkSignature reports whether a snapshot is signed. Where keys are trusted, it fails
// unless the signature is of one of them.
func checkSignature(dir *os.Root, id string, trusted []ed25519.PublicKey) (signed bool, err error) {
	text, err := readDocument(dir, signatureName)
	if errors.Is(err, fs.ErrNotExist) {
		if len(trusted) > 0 {
			return false, &DamageError{Path: signatureName, Reason: "missing: the snapshot is not signed"}
		}
		return false, nil
	}
	if err != nil || len(trusted) == 0 {
		return true, err
	}
	sig, err := base64.StdEncoding.DecodeString(strings.TrimSpace(string(text)))
	if err != nil {
		return true, &DamageError{Path: signatureName, Reason: "not base64"}
	}
	manifest, err := readManifestBytes(dir, id)
	if err != nil {
		return true, err
	}
	for _, pub := range trusted {
		if len(pub) == ed25519.PublicKeySize && ed25519.Verify(pub, manifest, sig) {
			return true, nil
		}
	}
	return true, &DamageError{Path: signatureName, Reason: "the given key did not sign this manifest"}
}
