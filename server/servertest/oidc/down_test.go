package oidc_test

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

func answer(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}
}

// hang answers nothing until the asker gives up or the test ends.
func hang(t *testing.T) http.HandlerFunc {
	t.Helper()
	over := make(chan struct{})
	t.Cleanup(func() { close(over) })
	return func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // else its end is not noticed
		select {
		case <-r.Context().Done():
		case <-over:
		}
	}
}

func cut(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Length", "1000")
	_, _ = w.Write([]byte("{"))
	panic(http.ErrAbortHandler)
}

// TestProviderDown: whatever of the provider fails, the person gets a page that says
// so, and can sign in when it works again: nothing is remembered of the failure.
func TestProviderDown(t *testing.T) {
	t.Parallel()
	const silent, odd = "Acme does not answer", "Acme gave an answer that we cannot accept"
	for _, c := range []struct {
		path, fault string
		handler     http.HandlerFunc
		words       string
	}{
		{"/.well-known/openid-configuration", "500", answer(500, "down"), silent},
		{"/.well-known/openid-configuration", "404", answer(404, "{}"), silent},
		{"/.well-known/openid-configuration", "another issuer", answer(200, `{"issuer":"https://evil.example"}`), silent},
		{"/.well-known/openid-configuration", "no JSON", answer(200, "<html>"), silent},
		{"/.well-known/openid-configuration", "cut", cut, silent},
		{"/.well-known/openid-configuration", "hangs", hang(t), silent},
		{"/token", "500", answer(500, "down"), silent},
		{"/token", "503", answer(503, `{"error":"temporarily_unavailable"}`), silent},
		{"/token", "our secret is wrong", answer(401, `{"error":"invalid_client"}`), silent},
		{"/token", "no JSON", answer(200, "<html>"), silent},
		{"/token", "cut", cut, silent},
		{"/token", "hangs", hang(t), silent},
		{"/jwks", "500", answer(500, "down"), odd},
		{"/jwks", "empty", answer(200, `{"keys":[]}`), odd},
		{"/jwks", "no JSON", answer(200, "<html>"), odd},
		{"/jwks", "cut", cut, odd},
		{"/jwks", "hangs", hang(t), odd},
	} {
		t.Run(strings.TrimPrefix(c.path, "/.well-known")+" "+c.fault, func(t *testing.T) {
			t.Parallel()
			s, p := startWith(t, &http.Client{Timeout: 2 * time.Second})
			p.with(func() { p.broken[c.path] = c.handler })
			b := newBrowser(t, s)
			got := b.visit("/signin/oidc/acme")
			b.refused(got, http.StatusBadGateway, c.words)
			if !strings.Contains(got.body, "sign in by mail") {
				t.Errorf("the page knows no other way: %s", got.body)
			}
			if at := b.visit("/signin"); at.status != http.StatusOK {
				t.Errorf("the sign-in page: %d", at.status)
			}
			p.with(func() { delete(p.broken, c.path) })
			if got := b.visit("/signin/oidc/acme"); got.path() != "/workspaces" || b.who() == "" {
				t.Errorf("when it works again: %d %s %s", got.status, got.url, got.body)
			}
		})
	}
}

// TestProviderGone: nobody listens at the provider's address.
func TestProviderGone(t *testing.T) {
	t.Parallel()
	s, p := start(t)
	b := newBrowser(t, s)
	back := b.leave("/signin/oidc/acme")
	p.close()
	b.refused(b.visit(back), http.StatusBadGateway, "does not answer")
}

// TestNobodyWaitsForAnother: while the provider hangs, those who want to sign in wait
// for it side by side and not in a line.
func TestNobodyWaitsForAnother(t *testing.T) {
	t.Parallel()
	s, p := startWith(t, &http.Client{Timeout: time.Second})
	silence := hang(t)
	p.with(func() { p.broken["/.well-known/openid-configuration"] = silence })
	var all sync.WaitGroup
	for range 12 { // one after the other they would take longer than a browser's patience
		b := newBrowser(t, s)
		all.Go(func() {
			resp, err := b.client.Get(s.URL + "/signin/oidc/acme")
			if err != nil {
				t.Error(err)
				return
			}
			_ = resp.Body.Close()
			if resp.StatusCode != http.StatusBadGateway {
				t.Error(resp.Status)
			}
		})
	}
	all.Wait()
}

// TestAnEndlessProvider: the server's own patience ends, where the client given to it
// has none. This is how the command line makes it.
func TestAnEndlessProvider(t *testing.T) {
	if testing.Short() {
		t.Skip("waits ten seconds")
	}
	t.Parallel()
	var all sync.WaitGroup
	for _, path := range []string{"/.well-known/openid-configuration", "/token", "/jwks"} {
		s, p := start(t)
		silence := hang(t)
		p.with(func() { p.broken[path] = silence })
		b := newBrowser(t, s)
		b.client.Timeout = 20 * time.Second
		address := "/signin/oidc/acme"
		if path != "/.well-known/openid-configuration" {
			address = b.leave(address)
		}
		all.Go(func() {
			resp, err := b.client.Get(s.URL + strings.TrimPrefix(address, s.URL))
			if err != nil {
				t.Errorf("%s: %v", path, err)
				return
			}
			_ = resp.Body.Close()
			if resp.StatusCode != http.StatusBadGateway {
				t.Errorf("%s: %s", path, resp.Status)
			}
		})
	}
	all.Wait()
}
