package attribution

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"
)

// A tag is base64url, without padding, of 23 bytes: 31 characters.
//
//	0        key id
//	1..8     link id, big endian
//	9..12    hour: hours since 1970, big endian
//	13..22   the first ten bytes of HMAC-SHA-256 over 0..12, host and path
const (
	TagLength  = 31
	tagSigned  = 13
	tagBytes   = 23
	secretSize = 32 // bytes a secret has at least
)

const (
	// TagLife is how long a tag proves something: as long as a touch may count.
	TagLife = MaxLookback
	// tagEarly is how far the clock of the checker may be behind, beyond the hour
	// that the stamp is cut to.
	tagEarly = 5 * time.Minute
)

// Why a tag proves nothing. An unknown key and a wrong signature are one error.
var (
	ErrTagForm      = errors.New("not a link tag")
	ErrTagSignature = errors.New("link tag is not signed for this page")
	ErrTagTime      = errors.New("link tag is not valid at this time")
)

// A Link is what a tag says: which link was handed out, and when. It names no
// person; ID leads to the tool, category and client that it was made for.
type Link struct {
	Key  byte // of the secret that signed it
	ID   uint64
	Hour time.Time // a whole hour, UTC
}

// A Signer makes and checks link tags. It may be used by many goroutines.
type Signer struct {
	current byte
	secrets map[byte][]byte
}

// NewSigner returns a signer that signs with the current key and accepts all.
// Secrets have 32 bytes or more.
func NewSigner(current byte, secrets map[byte][]byte) (*Signer, error) {
	s := &Signer{current: current, secrets: make(map[byte][]byte, len(secrets))}
	for id, secret := range secrets {
		if len(secret) < secretSize {
			return nil, fmt.Errorf("link tag key %d: a secret has %d bytes or more", id, secretSize)
		}
		s.secrets[id] = append([]byte(nil), secret...)
	}
	if _, ok := s.secrets[current]; !ok {
		return nil, fmt.Errorf("link tag key %d, the current one, is not among the secrets", current)
	}
	return s, nil
}

// Sign returns the tag of a link to a page. Host may have a port; path is as in
// the URL, escaped. The hour of at must lie between 1970 and the year 491936.
func (s *Signer) Sign(id uint64, host, path string, at time.Time) string {
	var b [tagBytes]byte
	b[0] = s.current
	binary.BigEndian.PutUint64(b[1:], id)
	binary.BigEndian.PutUint32(b[9:], uint32(at.Unix()/3600))
	copy(b[tagSigned:], mac(s.secrets[s.current], b[:tagSigned], host, path))
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// Check returns the link of a tag that was signed for this page and had not
// outlived TagLife at the time of the landing.
func (s *Signer) Check(tag, host, path string, at time.Time) (Link, error) {
	l, b, err := parse(tag)
	if err != nil {
		return Link{}, err
	}
	secret, ok := s.secrets[l.Key]
	if !ok || !hmac.Equal(b[tagSigned:], mac(secret, b[:tagSigned], host, path)) {
		return Link{}, ErrTagSignature
	}
	if at.Before(l.Hour.Add(-tagEarly)) || at.After(l.Hour.Add(time.Hour+TagLife)) {
		return Link{}, ErrTagTime
	}
	return l, nil
}

// ParseTag reads what a tag says without asking whether it is true.
func ParseTag(tag string) (Link, error) {
	l, _, err := parse(tag)
	return l, err
}

func parse(tag string) (l Link, b [tagBytes]byte, err error) {
	if len(tag) != TagLength {
		return Link{}, b, ErrTagForm
	}
	// Strict refuses tags that differ from one of ours in unused bits only; the
	// count refuses those with line breaks, which the decoder passes over.
	n, err := base64.RawURLEncoding.Strict().Decode(b[:], []byte(tag))
	if err != nil || n != tagBytes {
		return Link{}, b, ErrTagForm
	}
	hour := time.Unix(int64(binary.BigEndian.Uint32(b[9:]))*3600, 0).UTC()
	return Link{Key: b[0], ID: binary.BigEndian.Uint64(b[1:]), Hour: hour}, b, nil
}

// mac returns the signature of a tag's bytes and a page. A host holds no slash
// and a path begins with one, so they cannot run into each other.
func mac(secret, signed []byte, host, path string) []byte {
	h := hmac.New(sha256.New, secret)
	h.Write(signed)
	h.Write([]byte(plainHost(host)))
	h.Write([]byte(plainPath(path)))
	return h.Sum(nil)[:tagBytes-tagSigned]
}

// plainHost returns a host in lower case, without a usual port or a final dot.
func plainHost(host string) string {
	host = strings.ToLower(host)
	host = strings.TrimSuffix(strings.TrimSuffix(host, ":443"), ":80")
	return strings.TrimSuffix(host, ".")
}

// plainPath returns a path unescaped, so that it does not matter which
// characters a client escapes, and without a final slash, which sites add and
// drop when they redirect.
func plainPath(path string) string {
	if plain, err := url.PathUnescape(path); err == nil {
		path = plain
	}
	return "/" + strings.Trim(path, "/")
}
