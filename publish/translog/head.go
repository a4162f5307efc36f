package translog

import (
	"bytes"
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// originPrefix starts the name of a log. The rest of the name is the public key, so that a
// checkpoint says by itself which key must have signed it.
const originPrefix = "firstpick-log/"

// The limits of a log: its entries, and the bytes of them that a reader reads in one go.
const (
	maxSize  = 1_000_000
	maxBytes = 256 << 20
)

// A Head is a signed tree head.
type Head struct {
	// Key signed the head. A log has one key for ever.
	Key ed25519.PublicKey
	// Size is the number of entries, Hash the root of their tree.
	Size int64
	Hash tlog.Hash
}

// Origin returns the name of the log of a key.
func Origin(key ed25519.PublicKey) string { return originPrefix + hex.EncodeToString(key) }

// String returns size and root hash, for messages.
func (h Head) String() string { return fmt.Sprintf("%d entries, root hash %s", h.Size, h.Hash) }

// Tree returns size and hash as the proofs of package tlog take them.
func (h Head) tree() tlog.Tree { return tlog.Tree{N: h.Size, Hash: h.Hash} }

// A FileError means that a file of the log is missing or malformed, or that it does not fit
// the signed head. An error of another type means that a file could not be read.
type FileError struct {
	// Path is the file, below the place.
	Path string
	Err  error
}

// Error implements error.
func (e *FileError) Error() string { return e.Path + ": " + e.Err.Error() }

// Unwrap returns the reason.
func (e *FileError) Unwrap() error { return e.Err }

// verifierOf checks signatures of a log's key.
func verifierOf(key ed25519.PublicKey) (note.Verifier, error) {
	text, err := note.NewEd25519VerifierKey(Origin(key), key)
	if err != nil {
		return nil, err
	}
	return note.NewVerifier(text)
}

// A signer is a note.Signer of an Ed25519 key. Its signatures are deterministic.
type signer struct {
	note.Verifier
	key ed25519.PrivateKey
}

// Sign implements note.Signer.
func (s signer) Sign(msg []byte) ([]byte, error) { return ed25519.Sign(s.key, msg), nil }

func signText(text string, key ed25519.PrivateKey) ([]byte, error) {
	v, err := verifierOf(key.Public().(ed25519.PublicKey)) //nolint:forcetypeassert // documented
	if err != nil {
		return nil, err
	}
	return note.Sign(&note.Note{Text: text}, signer{v, key})
}

// openSigned checks a signed note whose first line is an origin and suffix, and returns the
// lines after it.
func openSigned(data []byte, suffix string) (key ed25519.PublicKey, lines []string, err error) {
	first, _, _ := bytes.Cut(data, []byte("\n"))
	digits, isLog := strings.CutPrefix(string(first), originPrefix)
	digits, isKind := strings.CutSuffix(digits, suffix)
	key, err = hex.DecodeString(digits)
	if !isLog || !isKind || err != nil || len(key) != ed25519.PublicKeySize {
		return nil, nil, fmt.Errorf("the first line is not the name of a log: %q", first[:min(len(first), 100)])
	}
	v, err := verifierOf(key)
	if err != nil {
		return nil, nil, err
	}
	n, err := note.Open(data, note.VerifierList(v))
	if err != nil {
		return nil, nil, err
	}
	return key, strings.Split(strings.TrimSuffix(n.Text, "\n"), "\n")[1:], nil
}

// encode returns the checkpoint: the head as a signed note.
func (h Head) encode(key ed25519.PrivateKey) ([]byte, error) {
	return signText(fmt.Sprintf("%s\n%d\n%s\n", Origin(h.Key), h.Size, h.Hash), key)
}

// ParseCheckpoint decodes a checkpoint and checks its signature with the key that it names.
// Whether that key is the right one is the caller's question. The error is a
// *FileError.
func ParseCheckpoint(data []byte) (Head, error) {
	key, lines, err := openSigned(data, "")
	if err != nil {
		return Head{}, &FileError{checkpointName, err}
	}
	tree, err := parseTree(lines)
	if err == nil && tree.N < 1 {
		err = errors.New("the log is empty")
	}
	if err != nil {
		return Head{}, &FileError{checkpointName, err}
	}
	return Head{Key: key, Size: tree.N, Hash: tree.Hash}, nil
}

// parseTree decodes the lines of size and hash. It ignores lines after them.
func parseTree(lines []string) (t tlog.Tree, err error) {
	if len(lines) < 2 {
		return t, errors.New("size and root hash are missing")
	}
	if t.N, err = strconv.ParseInt(lines[0], 10, 64); err != nil || t.N < 0 || strconv.FormatInt(t.N, 10) != lines[0] {
		return t, fmt.Errorf("%q is not a number of entries", lines[0])
	}
	if t.N > maxSize {
		return t, fmt.Errorf("%d entries, and a log has at most %d", t.N, maxSize)
	}
	t.Hash, err = tlog.ParseHash(lines[1])
	return t, err
}
