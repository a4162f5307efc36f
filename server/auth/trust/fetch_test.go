package trust_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/firstpick/firstpick/server/auth/trust"
)

// TestPrivateAddresses checks that nothing connects to an address that is not
// public, however it is spelled.
func TestPrivateAddresses(t *testing.T) {
	var hits atomic.Int32
	server := func() *httptest.Server {
		s := httptest.NewUnstartedServer(http.NotFoundHandler())
		s.Config.ConnState = func(net.Conn, http.ConnState) { hits.Add(1) }
		return s
	}
	tls, plain := server(), server()
	tls.StartTLS()
	defer tls.Close()
	plain.Start()
	defer plain.Close()
	_, port, _ := strings.Cut(strings.TrimPrefix(tls.URL, "https://"), ":")
	for _, uri := range []string{
		plain.URL, tls.URL,
		"https://localhost:" + port, "https://[::ffff:127.0.0.1]:" + port, "https://[::1]:" + port,
		"https://0.0.0.0:" + port, "https://[::]:" + port, "https://[64:ff9b::7f00:1]:" + port, "https://[2002:7f00:1::]:" + port,
		"https://10.0.0.1", "https://169.254.169.254/latest", "https://100.64.0.1", "https://[fe80::1]", "https://[fd00::1]",
		"ftp://example.com", "https://", "https://user@example.com", "file:///etc/passwd", "https://[::1", "//example.com",
	} {
		idp, v, _ := setup(t, func(i *trust.Issuer) { i.AllowPrivate, i.JWKSURI = false, uri })
		_, err := v.Assertion(t.Context(), idp.Assertion(resource, "u", "a@b.example"))
		if got := refusal(t, err); got != down {
			t.Errorf("%s: %q", uri, got)
		}
	}
	if n := hits.Load(); n != 0 {
		t.Errorf("%d connections were made", n)
	}
}

func TestAnswersThatAreNoKeySet(t *testing.T) {
	var good string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/redirect":
			http.Redirect(w, r, good, http.StatusFound)
		case "/large":
			fmt.Fprintf(w, `{"keys":[],"x":"%s"}`, strings.Repeat("x", 256<<10))
		case "/html":
			fmt.Fprint(w, "<html>")
		case "/empty":
			fmt.Fprint(w, "{}")
		case "/null":
			fmt.Fprint(w, `{"keys":null}`)
		case "/created":
			w.WriteHeader(http.StatusCreated)
			fmt.Fprint(w, `{"keys":[]}`)
		}
	}))
	defer server.Close()
	for _, path := range []string{"redirect", "large", "html", "empty", "null", "created"} {
		idp, v, _ := setup(t, func(i *trust.Issuer) { i.JWKSURI = server.URL + "/" + path })
		good = idp.URL + "/.well-known/jwks.json"
		_, err := v.Assertion(t.Context(), idp.Assertion(resource, "u", "a@b.example"))
		if got := refusal(t, err); got != down {
			t.Errorf("%s: %q", path, got)
		}
		if idp.Fetches() != 0 {
			t.Errorf("%s was followed", path)
		}
	}
}

// TestCallerLeaves checks that a fetch outlives the request that began it.
func TestCallerLeaves(t *testing.T) {
	held, asked := make(chan struct{}), make(chan struct{}, 9)
	set := make(chan map[string]any, 1)
	slow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked <- struct{}{}
		<-held
		_ = json.NewEncoder(w).Encode(<-set)
	}))
	defer slow.Close()
	idp, v, _ := setup(t, func(i *trust.Issuer) { i.JWKSURI = slow.URL })
	set <- map[string]any{"keys": []any{idp.JWK(idp.Kid())}}
	raw := idp.Assertion(resource, "u", "a@b.example")
	ctx, cancel := context.WithCancel(t.Context())
	left := make(chan error)
	go func() {
		_, err := v.Assertion(ctx, raw)
		left <- err
	}()
	<-asked
	cancel()
	if got := refusal(t, <-left); got != down {
		t.Error(got)
	}
	close(held)
	if _, err := v.Assertion(t.Context(), raw); err != nil || len(asked) != 0 {
		t.Errorf("%v, and asked %d times again", err, len(asked))
	}
}
