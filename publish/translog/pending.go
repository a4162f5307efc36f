package translog

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/mod/sumdb/tlog"
)

// A pending is the next entries of a log, after a tree. It is signed, so that a writer does
// not sign what somebody else put there.
type pending struct {
	base    tlog.Tree
	entries [][]byte
}

// pendingSuffix follows the origin in the first line: a pending is never taken for a
// checkpoint.
const pendingSuffix = "/pending"

func (p pending) end() int64 { return p.base.N + int64(len(p.entries)) }

func (p pending) encode(key ed25519.PrivateKey) ([]byte, error) {
	var b strings.Builder
	origin := Origin(key.Public().(ed25519.PublicKey)) //nolint:forcetypeassert // documented
	fmt.Fprintf(&b, "%s%s\n%d\n%s\n", origin, pendingSuffix, p.base.N, p.base.Hash)
	for _, e := range p.entries {
		b.Write(e) // JSON without line breaks
		b.WriteByte('\n')
	}
	return signText(b.String(), key)
}

func parsePending(data []byte) (p pending, key ed25519.PublicKey, err error) {
	key, lines, err := openSigned(data, pendingSuffix)
	if err == nil {
		p.base, err = parseTree(lines)
	}
	if err == nil && len(lines) < 3 {
		err = errors.New("no entry")
	}
	if err != nil {
		return p, nil, &FileError{pendingName, err}
	}
	for _, line := range lines[2:] {
		p.entries = append(p.entries, []byte(line))
	}
	return p, key, nil
}
