package oidc_test

import (
	"crypto/rand"
	"crypto/rsa"
	"net/http"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/server/auth/registrations"
	"github.com/firstpick/firstpick/server/servertest"
)

// claim registers an agent and returns the page that it gives to the person.
func claim(t *testing.T, s *servertest.Service, email string) string {
	t.Helper()
	c := &registrations.Caller{UserAgent: "oidc"}
	r, err := s.Agents.RegisterAnonymous(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	code, _, err := s.Agents.StartClaim(t.Context(), c, r.ClaimToken, email)
	if err != nil {
		t.Fatal(err)
	}
	return "/claim?claim_attempt_token=" + code.ViewToken
}

func TestSignIn(t *testing.T) {
	t.Parallel()
	for name, with := range map[string]func(p *provider){
		"as it is":                          func(*provider) {},
		"the secret in the body":            func(p *provider) { p.postOnly = true },
		"one audience in a list":            func(p *provider) { p.lie = func(_, c map[string]any) { c["aud"] = []string{clientID} } },
		"an address in capitals and blanks": func(p *provider) { p.claims["email"] = " Dana@Example.COM " },
		"RS256": func(p *provider) {
			key, err := rsa.GenerateKey(rand.Reader, 2048)
			if err != nil {
				t.Fatal(err)
			}
			p.rs = key
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, p := start(t)
			p.with(func() { with(p) })
			b := newBrowser(t, s)

			// The way of a person whom an agent sent.
			asked := b.visit(claim(t, s, "dana@example.com"))
			if asked.path() != "/signin" || !strings.Contains(asked.body, `href="/signin/oidc/acme"`) || !strings.Contains(asked.body, "Continue with Acme") {
				t.Fatalf("%s: %s", asked.url, asked.body)
			}
			got := b.visit("/signin/oidc/acme")
			if got.status != http.StatusOK || got.path() != "/claim" || !strings.Contains(got.body, "Link an agent") || !strings.Contains(got.body, "dana@example.com") {
				t.Fatalf("after signing in: %d %s %s", got.status, got.url, got.body)
			}
			if strings.Contains(got.url, "?") {
				t.Errorf("the address of the page is %s", got.url)
			}
			if who := b.who(); who != "dana@example.com" {
				t.Errorf("signed in as %q", who)
			}

			// The same person later, with no claim in mind, is the same account: the agent
			// still awaits the decision.
			p.rotate()
			if got := newBrowser(t, s).visit("/signin/oidc/acme"); got.status != http.StatusOK || got.path() != "/agents" {
				t.Errorf("without a claim: %d %s", got.status, got.url)
			}
			if _, err := s.Agents.DB.Read().VerifiedAccount(t.Context(), "dana@example.com"); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestSession: signing in gives the browser a new session, whatever it had.
func TestSession(t *testing.T) {
	t.Parallel()
	s, p := start(t)
	b := newBrowser(t, s)
	first := b.step(b.leave("/signin/oidc/acme"))
	p.with(func() { p.sub, p.claims["email"] = "2", "eve@example.com" })
	second := b.step(b.leave("/signin/oidc/acme"))
	one, two := cookie(first, "session"), cookie(second, "session")
	if one == nil || two == nil || one.Value == two.Value {
		t.Fatalf("the sessions are %v and %v", one, two)
	}
	if !two.HttpOnly || two.SameSite != http.SameSiteLaxMode || two.Path != "/" || two.Domain != "" {
		t.Errorf("the cookie is %v", two)
	}
	if gone := cookie(second, "oidc"); gone == nil || gone.MaxAge >= 0 {
		t.Errorf("the cookie of the departure stays: %v", gone)
	}
	if who := b.who(); who != "eve@example.com" {
		t.Errorf("signed in as %q", who)
	}
	old := newBrowser(t, s)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+"/agents", nil)
	if err != nil {
		t.Fatal(err)
	}
	old.client.Jar.SetCookies(req.URL, []*http.Cookie{one})
	if who := old.who(); who != "" {
		t.Errorf("the session from before still is one of %s", who)
	}
}

func cookie(p page, name string) *http.Cookie {
	for _, c := range (&http.Response{Header: p.header}).Cookies() {
		if c.Name == name {
			return c
		}
	}
	return nil
}

func TestADisabledAccountStaysOut(t *testing.T) {
	t.Parallel()
	s, _ := start(t)
	b := newBrowser(t, s)
	b.visit("/signin/oidc/acme")
	if err := s.Agents.SetDisabled(t.Context(), "dana@example.com", true); err != nil {
		t.Fatal(err)
	}
	b.refused(b.visit("/signin/oidc/acme"), http.StatusForbidden, "disabled")
}

// TestNothingIsLogged: neither codes nor tokens, secrets or addresses end in the log.
func TestNothingIsLogged(t *testing.T) {
	t.Parallel()
	s, p := start(t)
	b := newBrowser(t, s)
	b.visit("/signin/oidc/acme")
	p.with(func() { p.lie = func(_, c map[string]any) { c["nonce"] = "another nonce" } })
	b.visit("/signin/oidc/acme")
	p.with(func() { p.lie, p.replace = nil, func(t string) string { return t + "AAAA" } })
	b.visit("/signin/oidc/acme")
	back := b.leave("/signin/oidc/acme")
	p.with(func() { clear(p.codes) })
	b.visit(back)
	s.Stop()
	p.with(func() {
		if len(p.secrets) < 12 {
			t.Errorf("%d secrets were seen", len(p.secrets))
		}
		for _, secret := range append(p.secrets, clientSecret, "dana@example.com") {
			if strings.Contains(s.Log.String(), secret) {
				t.Errorf("the log holds %s", secret)
			}
		}
	})
	if !strings.Contains(s.Log.String(), "an identity provider failed") || !strings.Contains(s.Log.String(), `"msg":"request"`) {
		t.Errorf("the log tells nothing: %s", s.Log)
	}
}
