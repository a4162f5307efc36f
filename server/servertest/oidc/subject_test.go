package oidc_test

import (
	"net/http"
	"testing"

	"github.com/firstpick/firstpick/server/servertest"
	"github.com/firstpick/firstpick/server/store/state/statetest"
)

// TestAccountsBelongToSubjects: the first sign-in at a provider links the account of a
// verified address to the provider's user, by issuer and sub (OpenID Connect Core, 5.7).
// From then on the user decides, and not the address.
func TestAccountsBelongToSubjects(t *testing.T) {
	t.Parallel()
	type user struct {
		sub, email string
		verified   bool
	}
	const inUse = "linked to another user of Acme"
	for name, c := range map[string]struct {
		before  []user
		now     user
		who     string // empty where the sign-in is refused, with words
		words   string
		without bool // the link: the account exists from a sign-in by mail
	}{
		"the same user again":                   {before: []user{{"1", "dana@example.com", true}}, now: user{"1", "dana@example.com", true}, who: "dana@example.com"},
		"another user with the address":         {before: []user{{"1", "dana@example.com", true}}, now: user{"2", "dana@example.com", true}, words: inUse},
		"the user has another address now":      {before: []user{{"1", "dana@example.com", true}}, now: user{"1", "dana.new@example.com", true}, who: "dana@example.com"},
		"the user has somebody else's address":  {before: []user{{"1", "dana@example.com", true}, {"2", "eve@example.com", true}}, now: user{"1", "eve@example.com", true}, who: "dana@example.com"},
		"the address is no longer verified":     {before: []user{{"1", "dana@example.com", true}}, now: user{"1", "dana@example.com", false}, who: "dana@example.com"},
		"an account that signed in by mail":     {without: true, now: user{"1", "dana@example.com", true}, who: "dana@example.com"},
		"the same, with an unverified address":  {without: true, now: user{"1", "dana@example.com", false}, words: "no verified e-mail address"},
		"a first user, with another's old name": {before: []user{{"1", "dana@example.com", true}, {"1", "dana.new@example.com", true}}, now: user{"2", "dana.new@example.com", true}, who: "dana.new@example.com"},
		"a sub that differs in case":            {before: []user{{"abc", "dana@example.com", true}}, now: user{"ABC", "dana@example.com", true}, words: inUse},
		"no sub":                                {now: user{"", "dana@example.com", true}, words: "gave an answer that we cannot accept"},
	} {
		for _, engine := range statetest.Engines() {
			t.Run(name+"/"+engine, func(t *testing.T) {
				t.Parallel()
				s, p := startOn(t, statetest.Address(t, engine), &http.Client{})
				as := func(u user) *browser {
					p.with(func() { p.sub, p.claims = u.sub, map[string]any{"email": u.email, "email_verified": u.verified} })
					return newBrowser(t, s)
				}
				if c.without {
					signInByMail(t, s, c.now.email)
				}
				for _, u := range c.before {
					if at := as(u).visit("/signin/oidc/acme"); at.path() != "/workspaces" {
						t.Fatalf("%+v: %d %s", u, at.status, at.body)
					}
				}
				b := as(c.now)
				at := b.visit("/signin/oidc/acme")
				if c.who == "" {
					status := http.StatusForbidden
					if c.now.sub == "" {
						status = http.StatusBadGateway
					}
					b.refused(at, status, c.words)
				}
				if got := b.who(); got != c.who {
					t.Errorf("signed in as %q, want %q", got, c.who)
				}
			})
		}
	}
}

// signInByMail makes the account of an address without any provider.
func signInByMail(t *testing.T, s *servertest.Service, email string) {
	t.Helper()
	b := newBrowser(t, s)
	resp, err := b.client.PostForm(s.URL+"/signin", map[string][]string{"email": {email}})
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if at := b.visit(s.Mail.Link(t, email, "Sign in")); at.path() != "/workspaces" {
		t.Fatalf("%d %s", at.status, at.body)
	}
}

// TestAnotherProviderIsAnotherLink: an account may be linked to one user of each issuer.
func TestAnotherProviderIsAnotherLink(t *testing.T) {
	t.Parallel()
	s, p := start(t)
	if newBrowser(t, s).visit("/signin/oidc/acme").path() != "/workspaces" {
		t.Fatal("not signed in")
	}
	p.with(func() { p.redirect = s.URL + "/signin/oidc/other/callback" })
	b := newBrowser(t, s)
	if b.visit("/signin/oidc/other"); b.who() != "dana@example.com" { // the same issuer, by another name
		t.Error("the same user of the same issuer is refused")
	}
}
