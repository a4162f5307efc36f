// Package secret makes secrets (random tokens, codes, keys), hashes them and seals
// values for the store.
//
// A token of 256 random bits is stored as its SHA-256: there is nothing to
// guess, so a slow hash would only slow the owner. A value of few possible
// values (a six-digit code, an e-mail address) is stored as an HMAC under a key
// that the store does not hold.
package secret

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/big"
	"strings"
)

// The sizes of random values, in bytes.
const (
	tokenSize  = 32
	idSize     = 16
	keyLength  = 32 // characters
	keyCheck   = 6  // characters behind them
	MasterSize = 32 // of the master key
)

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// A Source makes random values; Rand is crypto/rand.Reader outside tests.
type Source struct{ Rand io.Reader }

// Token returns prefix and 256 random bits in base64url.
func (s Source) Token(prefix string) string { return prefix + s.text(tokenSize) }

// Key returns prefix, 32 random letters and digits, and six that check them (CRC
// 32), so that scanners and typing errors are recognised without a lookup.
func (s Source) Key(prefix string) string {
	b := make([]byte, keyLength)
	for i := range b {
		b[i] = base62[s.below(int64(len(base62)))]
	}
	return prefix + string(b) + checksum(prefix+string(b))
}

func checksum(s string) string {
	sum := crc32.ChecksumIEEE([]byte(s))
	out := make([]byte, keyCheck)
	for i := range out {
		out[i] = base62[sum%62]
		sum /= 62
	}
	return string(out)
}

// IsKey reports whether s has the form of a key that Key makes with the prefix.
func IsKey(s, prefix string) bool {
	body, found := strings.CutPrefix(s, prefix)
	return found && len(body) == keyLength+keyCheck && checksum(s[:len(s)-keyCheck]) == s[len(s)-keyCheck:]
}

// ID returns prefix and 128 random bits in base64url.
func (s Source) ID(prefix string) string { return prefix + s.text(idSize) }

func (s Source) text(n int) string {
	b := make([]byte, n)
	if _, err := io.ReadFull(s.Rand, b); err != nil {
		panic(fmt.Sprintf("no randomness: %v", err)) // the kernel's source does not fail; nothing may go on without it
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

// Code returns six random digits, each code equally likely.
func (s Source) Code() string { return fmt.Sprintf("%06d", s.below(1_000_000)) }

// Pick returns a random element of list, which must not be empty.
func (s Source) Pick(list []string) string { return list[s.below(int64(len(list)))] }

// Number returns a random number of exactly that many digits.
func (s Source) Number(digits int) string {
	limit := int64(1)
	for range digits {
		limit *= 10
	}
	return fmt.Sprintf("%0*d", digits, s.below(limit))
}

func (s Source) below(n int64) int64 {
	v, err := rand.Int(s.Rand, big.NewInt(n))
	if err != nil {
		panic(fmt.Sprintf("no randomness: %v", err))
	}
	return v.Int64()
}

// Hash returns the SHA-256 of a random token, for the store.
func Hash(token string) []byte {
	sum := sha256.Sum256([]byte(token))
	return sum[:]
}

// A Vault seals values and makes keyed hashes under a master key that is kept
// outside the store.
type Vault struct {
	aead   cipher.AEAD
	macKey []byte
	rand   io.Reader
}

// NewVault derives the vault's keys (HKDF-SHA-256, RFC 5869) from a master key
// of 32 bytes.
func NewVault(master []byte, random io.Reader) (*Vault, error) {
	if len(master) != MasterSize {
		return nil, fmt.Errorf("the master key has %d bytes; it must have %d", len(master), MasterSize)
	}
	sealKey, err := hkdf.Key(sha256.New, master, nil, "firstpick seal v1", 32)
	if err != nil {
		return nil, err
	}
	macKey, err := hkdf.Key(sha256.New, master, nil, "firstpick mac v1", 32)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(sealKey)
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		return nil, err
	}
	return &Vault{aead: aead, macKey: macKey, rand: random}, nil
}

// ErrSealed means that a sealed value was altered, belongs to another purpose,
// or was sealed under another master key.
var ErrSealed = errors.New("a sealed value cannot be opened")

// Seal encrypts a value (AES-256-GCM). Purpose binds it to where it is used, so
// that it opens nowhere else. An empty value stays empty.
func (v *Vault) Seal(purpose string, plain []byte) []byte {
	if len(plain) == 0 {
		return nil
	}
	nonce := make([]byte, v.aead.NonceSize(), v.aead.NonceSize()+len(plain)+v.aead.Overhead())
	if _, err := io.ReadFull(v.rand, nonce); err != nil {
		panic(fmt.Sprintf("no randomness: %v", err))
	}
	return v.aead.Seal(nonce, nonce, plain, []byte(purpose))
}

// Open reverses Seal. It fails with ErrSealed.
func (v *Vault) Open(purpose string, sealed []byte) ([]byte, error) {
	if len(sealed) == 0 {
		return nil, nil
	}
	n := v.aead.NonceSize()
	if len(sealed) < n {
		return nil, ErrSealed
	}
	plain, err := v.aead.Open(nil, sealed[:n], sealed[n:], []byte(purpose))
	if err != nil {
		return nil, ErrSealed
	}
	return plain, nil
}

// MAC returns HMAC-SHA-256 over a purpose and parts, each with its length, so
// that no two lists of parts collide.
func (v *Vault) MAC(purpose string, parts ...string) []byte {
	h := hmac.New(sha256.New, v.macKey)
	for _, p := range append([]string{purpose}, parts...) {
		_, _ = fmt.Fprintf(h, "%d:%s", len(p), p)
	}
	return h.Sum(nil)
}

// SealText seals a value for a cookie or a link: base64url.
func (v *Vault) SealText(purpose, plain string) string {
	return base64.RawURLEncoding.EncodeToString(v.Seal(purpose, []byte(plain)))
}

// OpenText reverses SealText. It fails with ErrSealed.
func (v *Vault) OpenText(purpose, text string) (string, error) {
	sealed, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(sealed) == 0 {
		return "", ErrSealed
	}
	plain, err := v.Open(purpose, sealed)
	return string(plain), err
}
