package alert

import (
	"crypto/rand"
	"net/http"
	"strings"
	"testing"
	"time"
)

// The example of the documentation verifies, and has the form of what is sent.
func TestTheDocumentedExample(t *testing.T) {
	_, request, found := strings.Cut(Docs(), "```\nPOST ")
	if !found {
		t.Fatal("there is no example")
	}
	request, _, _ = strings.Cut(request, "\n```")
	head, body, _ := strings.Cut(request, "\n\n")
	h := hook{http.Header{}, []byte(body)}
	for _, line := range strings.Split(head, "\n")[1:] {
		name, value, _ := strings.Cut(line, ": ")
		h.Set(name, value)
	}
	_, secret, _ := strings.Cut(Docs(), "with the secret `")
	secret, _, _ = strings.Cut(secret, "`")
	at := time.Date(2026, 11, 21, 11, 0, 0, 0, time.UTC)
	signature, err := sign(h.Get("Webhook-Id"), at, h.body, secret)
	if err != nil || signature != h.Get("Webhook-Signature") {
		t.Errorf("%s, %v", signature, err)
	}
	if err := verify(secret, h, at); err != nil {
		t.Error(err)
	}
	if verify(secret, h, at.Add(6*time.Minute)) == nil {
		t.Error("an old request verifies")
	}
	for _, what := range []string{"new_agent", "first_agents", "spoof_burst", "not_found_cluster", "user_fetch_drop", "silence", "silence_over", Test} {
		if !strings.Contains(Docs(), "`"+what+"`") {
			t.Errorf("%s is not documented", what)
		}
	}
}

// A vector computed with openssl:
//
//	printf '%s' 'msg_1.1795258800.{"a":1}' | openssl dgst -sha256 -mac HMAC -macopt hexkey:000102...1f -binary | base64
func TestSignature(t *testing.T) {
	const secret = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
	at := time.Unix(1795258800, 0)
	const want = "v1,uR9L2ubG5UHgGxrKtYhj09Tt+Nbm/8b0glCCsfIKrUM="
	if got, err := sign("msg_1", at, []byte(`{"a":1}`), secret); got != want || err != nil {
		t.Errorf("%s, %v", got, err)
	}
	if got, err := sign("msg_1", at, []byte(`{"a":1}`), newSecret(rand.Reader), secret); !strings.HasSuffix(got, " "+want) || err != nil {
		t.Errorf("%s, %v", got, err)
	}
	for _, bad := range []string{"", "whsec", "AAEC", "whsec_!"} {
		if _, err := sign("msg_1", at, nil, bad); err == nil {
			t.Errorf("%q is taken for a secret", bad)
		}
	}
}
