package alert

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// Webhooks are signed after the Standard Webhooks specification
// (github.com/standard-webhooks): HMAC-SHA-256 over "id.timestamp.body", in
// base64 and with the prefix "v1,"; during a rotation one signature of each
// secret, with a space between. A secret is "whsec_" and base64 of its bytes.
const (
	secretPrefix = "whsec_"
	secretSize   = 32
)

// newSecret returns a secret of 32 random bytes.
func newSecret(random io.Reader) string {
	b := make([]byte, secretSize)
	if _, err := io.ReadFull(random, b); err != nil {
		panic(fmt.Sprintf("no randomness: %v", err)) // the kernel's source does not fail; nothing may go on without it
	}
	return secretPrefix + base64.StdEncoding.EncodeToString(b)
}

var errSecret = errors.New("malformed stored secret")

// sign returns the header webhook-signature.
func sign(id string, at time.Time, body []byte, secrets ...string) (string, error) {
	var out []string
	for _, secret := range secrets {
		text, found := strings.CutPrefix(secret, secretPrefix)
		key, err := base64.StdEncoding.DecodeString(text)
		if !found || err != nil {
			return "", errSecret
		}
		h := hmac.New(sha256.New, key)
		h.Write([]byte(id + "." + strconv.FormatInt(at.Unix(), 10) + "."))
		h.Write(body)
		out = append(out, "v1,"+base64.StdEncoding.EncodeToString(h.Sum(nil)))
	}
	return strings.Join(out, " "), nil
}
