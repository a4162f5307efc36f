package trust_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server/auth/trust"
	"github.com/firstpick/firstpick/server/auth/trust/trusttest"
)

const (
	base     = "https://svc.example"
	resource = base + "/api/"
)

// A clock is moved by hand.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func newClock() *clock { return &clock{at: time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)} }

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// verifier trusts the given issuers.
func verifier(now func() time.Time, issuers ...trust.Issuer) *trust.Verifier {
	return &trust.Verifier{
		Find: func(_ context.Context, iss string) (trust.Issuer, bool, error) {
			for _, i := range issuers {
				if i.ISS == iss {
					return i, true, nil
				}
			}
			return trust.Issuer{}, false, nil
		},
		Keys: trust.NewKeys(now), Resource: resource, Self: base, Now: now,
	}
}

// refusal returns code and reason of an error, joined by a space, or "" of nil.
func refusal(t testing.TB, err error) string {
	t.Helper()
	if err == nil {
		return ""
	}
	var r *trust.Refusal
	if !errors.As(err, &r) {
		t.Fatalf("not a refusal: %v", err)
	}
	if r.Description == "" || strings.ContainsFunc(r.Description, func(c rune) bool {
		return c < ' ' || c > '~' || c == '"' || c == '\\'
	}) {
		t.Errorf("description cannot be shown: %q", r.Description)
	}
	return strings.TrimSpace(r.Code + " " + r.Reason)
}

type change = func(header, claims map[string]any)

func header(name string, value any) change {
	return func(h, _ map[string]any) { set(h, name, value) }
}

func claim(name string, value any) change {
	return func(_, c map[string]any) { set(c, name, value) }
}

// absent takes a member away.
type absent struct{}

func set(m map[string]any, name string, value any) {
	if _, ok := value.(absent); ok {
		delete(m, name)
		return
	}
	m[name] = value
}

// setup returns an identity provider, a verifier that trusts it and their clock.
func setup(t testing.TB, edit ...func(*trust.Issuer)) (*trusttest.IdP, *trust.Verifier, *clock) {
	t.Helper()
	c := newClock()
	idp := trusttest.New(t, c.now)
	issuer := idp.Issuer()
	for _, e := range edit {
		e(&issuer)
	}
	return idp, verifier(c.now, issuer), c
}
