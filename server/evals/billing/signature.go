package billing

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strconv"
	"strings"
	"time"
)

// tolerance is how far a signature's time may be from ours, either way: an old
// recorded request cannot be replayed.
const tolerance = 5 * time.Minute

var (
	errNoSignature  = errors.New("no signature of the form t=SECONDS,v1=HEX")
	errNotInTime    = errors.New("signed more than five minutes ago, or ahead; do the clocks agree?")
	errNotSignedFor = errors.New("no signature matches a secret of billing-secret")
)

// A signature is a parsed header Stripe-Signature: t=SECONDS and any number of v1=HEX,
// separated by commas. Other schemes are ignored.
type signature struct {
	stamp string // seconds since 1970, as sent: the bytes that are signed
	at    time.Time
	sums  [][]byte
}

func parseSignature(header string) (signature, error) {
	var s signature
	for part := range strings.SplitSeq(header, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		switch name {
		case "t":
			seconds, err := strconv.ParseUint(value, 10, 40)
			if err != nil || s.stamp != "" {
				return signature{}, errNoSignature
			}
			s.stamp, s.at = value, time.Unix(int64(seconds), 0)
		case "v1":
			if sum, err := hex.DecodeString(value); err == nil && len(sum) == sha256.Size {
				s.sums = append(s.sums, sum)
			}
		}
	}
	if s.stamp == "" || len(s.sums) == 0 {
		return signature{}, errNoSignature
	}
	return s, nil
}

// verify fails unless the header signs the body with one of the secrets: the
// HMAC-SHA-256 of "t.body".
func verify(header string, body []byte, secrets []string, now time.Time) error {
	s, err := parseSignature(header)
	if err != nil {
		return err
	}
	if s.at.Sub(now).Abs() > tolerance {
		return errNotInTime
	}
	for _, secret := range secrets {
		mac := hmac.New(sha256.New, []byte(secret))
		mac.Write([]byte(s.stamp + "."))
		mac.Write(body)
		want := mac.Sum(nil)
		for _, sum := range s.sums {
			if hmac.Equal(sum, want) {
				return nil
			}
		}
	}
	return errNotSignedFor
}
