// Package trusttest is an identity provider for tests: it serves its keys over
// http on the loopback and signs ID-JAGs and security event tokens, right ones
// and wrong ones.
package trusttest

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing" //nolint:depguard // this package is for tests only
	"time"

	"github.com/firstpick/firstpick/server/auth/trust"
)

// An IdP is an identity provider. Its methods may be called by many goroutines.
type IdP struct {
	URL string // the issuer, without a last slash

	t   testing.TB
	now func() time.Time

	mu      sync.Mutex
	main    key // ES256
	others  []key
	down    bool
	control string // Cache-Control of the key set
	fetches int
}

// New starts an identity provider with one ES256 key. Tokens are dated by now.
// It is closed when the test ends.
func New(t testing.TB, now func() time.Time) *IdP {
	t.Helper()
	p := &IdP{t: t, now: now, main: newES256(t)}
	server := httptest.NewServer(http.HandlerFunc(p.serve))
	t.Cleanup(server.Close)
	p.URL = server.URL
	return p
}

// Issuer returns the entry of a trust list for this provider.
func (p *IdP) Issuer() trust.Issuer {
	return trust.Issuer{ISS: p.URL, Name: "Test IdP", AllowPrivate: true}
}

// Rotate replaces the ES256 key; the old one is no longer served.
func (p *IdP) Rotate() {
	k := newES256(p.t)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.main = k
}

// Down makes the key set answer 500, or work again.
func (p *IdP) Down(down bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down = down
}

// CacheControl sets the header Cache-Control of the key set; empty omits it.
func (p *IdP) CacheControl(value string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.control = value
}

// Fetches returns how often the key set was asked for, failures included.
func (p *IdP) Fetches() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.fetches
}

func (p *IdP) serve(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/.well-known/jwks.json" {
		http.NotFound(w, r)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fetches++
	if p.down {
		http.Error(w, "down", http.StatusInternalServerError)
		return
	}
	if p.control != "" {
		w.Header().Set("Cache-Control", p.control)
	}
	w.Header().Set("Content-Type", "application/jwk-set+json")
	keys := []map[string]any{p.main.public}
	for _, k := range p.others {
		keys = append(keys, k.public)
	}
	if err := json.NewEncoder(w).Encode(map[string]any{"keys": keys}); err != nil {
		p.t.Log(err)
	}
}
