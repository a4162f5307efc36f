package oidc_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

// change returns an address with a parameter set, or removed where value is "".
func change(t *testing.T, address, name, value string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	if q.Set(name, value); value == "" {
		q.Del(name)
	}
	u.RawQuery = q.Encode()
	return u.String()
}

func param(t *testing.T, address, name string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u.Query().Get(name)
}

const again = "begun in another browser, or took too long"

// TestState: an answer of the provider counts in the browser that left for it, once,
// for ten minutes, and for the newest departure alone. The code is not even tried
// otherwise.
func TestState(t *testing.T) {
	t.Parallel()
	for name, arrive := range map[string]func(b *browser, back string) page{
		"another state": func(b *browser, back string) page {
			return b.visit(change(b.t, back, "state", strings.Repeat("A", 43)))
		},
		"no state": func(b *browser, back string) page { return b.visit(change(b.t, back, "state", "")) },
		"half a state": func(b *browser, back string) page {
			return b.visit(change(b.t, back, "state", param(b.t, back, "state")[:20]))
		},
		"two states": func(b *browser, back string) page {
			return b.visit(strings.Replace(back, "?", "?state=A&", 1))
		},
		"nothing at all": func(b *browser, back string) page { return b.visit("/signin/oidc/acme/callback") },
		"another browser": func(b *browser, back string) page {
			other := newBrowser(b.t, b.s)
			got := other.visit(back)
			other.refused(got, http.StatusBadRequest, again)
			return got
		},
		"a browser with a departure of its own": func(b *browser, back string) page {
			other := newBrowser(b.t, b.s)
			other.leave("/signin/oidc/acme")
			got := other.visit(back)
			other.refused(got, http.StatusBadRequest, again)
			return got
		},
		"an older departure": func(b *browser, back string) page {
			b.leave("/signin/oidc/acme")
			return b.visit(back)
		},
		"too late": func(b *browser, back string) page {
			b.s.Clock.Add(10 * time.Minute)
			return b.visit(back)
		},
		"another provider's address": func(b *browser, back string) page {
			return b.visit(strings.Replace(back, "/acme/", "/other/", 1))
		},
		"an unknown provider's address": func(b *browser, back string) page {
			return b.visit(strings.Replace(back, "/acme/", "/unknown/", 1))
		},
		"a cookie of our making": func(b *browser, back string) page {
			u, err := url.Parse(b.s.URL)
			if err != nil {
				b.t.Fatal(err)
			}
			state := param(b.t, back, "state")
			b.client.Jar.SetCookies(u, []*http.Cookie{{Name: "oidc", Value: "9999999999 acme " + state + " n v", Path: "/", Quoted: true}})
			return b.visit(back)
		},
		"another kind of cookie": func(b *browser, back string) page { // sealed by the server, for another use
			u, err := url.Parse(b.s.URL)
			if err != nil {
				b.t.Fatal(err)
			}
			made := cookie(b.step("/claim?claim_attempt_token=acme+"+param(b.t, back, "state")+"+n+v"), "claim")
			b.client.Jar.SetCookies(u, []*http.Cookie{{Name: "oidc", Value: made.Value, Path: "/"}})
			return b.visit(back)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, p := start(t)
			b := newBrowser(t, s)
			got := arrive(b, b.leave("/signin/oidc/acme"))
			b.refused(got, http.StatusBadRequest, again)
			if n := p.count("/token"); n != 0 {
				t.Errorf("the token endpoint was asked %d times", n)
			}
		})
	}
}

// TestTheLastMoment: a person may take nearly ten minutes at the provider.
func TestTheLastMoment(t *testing.T) {
	t.Parallel()
	s, _ := start(t)
	b := newBrowser(t, s)
	back := b.leave("/signin/oidc/acme")
	s.Clock.Add(10*time.Minute - time.Second)
	if got := b.visit(back); got.path() != "/workspaces" || b.who() == "" {
		t.Errorf("%d %s %s", got.status, got.url, got.body)
	}
}

// TestReplay: an answer works once, even for who kept the cookie.
func TestReplay(t *testing.T) {
	t.Parallel()
	s, p := start(t)
	b := newBrowser(t, s)
	u, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	back := b.leave("/signin/oidc/acme")
	kept := b.client.Jar.Cookies(u)
	if got := b.visit(back); got.path() != "/workspaces" {
		t.Fatalf("%d %s %s", got.status, got.url, got.body)
	}
	asked := p.count("/token")

	// The person goes back in the history.
	if got := b.visit(back); got.status != http.StatusBadRequest || !strings.Contains(got.body, again) {
		t.Errorf("a second time: %d %s", got.status, got.body)
	}
	if p.count("/token") != asked {
		t.Error("the code was sent again")
	}
	if b.who() != "dana@example.com" {
		t.Error("the person is signed out by it")
	}

	// Somebody has both the address and the cookie: the provider knows the code.
	thief := newBrowser(t, s)
	thief.client.Jar.SetCookies(u, kept)
	thief.refused(thief.visit(back), http.StatusBadRequest, "Sign in again")
}

// TestLoginCSRF: nobody is signed in as somebody else by opening an address.
func TestLoginCSRF(t *testing.T) {
	t.Parallel()
	s, p := start(t)
	eve := newBrowser(t, s)
	p.with(func() { p.sub, p.claims["email"] = "2", "eve@example.com" })
	trap := eve.leave("/signin/oidc/acme")
	code := param(t, trap, "code")
	p.with(func() { p.sub, p.claims["email"] = "248289761001", "dana@example.com" })

	t.Run("a browser that is not signed in", func(t *testing.T) {
		b := newBrowser(t, s)
		b.refused(b.visit(trap), http.StatusBadRequest, again)
	})
	t.Run("a browser that is signed in", func(t *testing.T) {
		b := newBrowser(t, s)
		b.visit("/signin/oidc/acme")
		if got := b.visit(trap); got.status != http.StatusBadRequest || b.who() != "dana@example.com" {
			t.Errorf("%d, signed in as %q", got.status, b.who())
		}
	})
	t.Run("a claim that waits", func(t *testing.T) {
		b := newBrowser(t, s)
		b.visit(claim(t, s, "dana@example.com"))
		if got := b.visit(trap); got.status != http.StatusBadRequest {
			t.Errorf("%d %s", got.status, got.url)
		}
		if got := b.visit("/claim"); got.path() != "/signin" {
			t.Errorf("the claim is shown: %s", got.body)
		}
	})
	if n := p.count("/token"); n != 1 { // of the one who signed in honestly
		t.Errorf("the token endpoint was asked %d times", n)
	}
	t.Run("her code, my state", func(t *testing.T) {
		b := newBrowser(t, s)
		mine := b.leave("/signin/oidc/acme")
		b.refused(b.visit(change(t, mine, "code", code)), http.StatusBadRequest, "Sign in again")
	})
}

// TestCodeInjection: PKCE binds a code to the browser that asked for it, and where the
// provider does not check that, the nonce does.
func TestCodeInjection(t *testing.T) {
	t.Parallel()
	for name, lax := range map[string]bool{"with PKCE": false, "by the nonce": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, p := start(t)
			p.with(func() { p.lax = lax })
			victim, thief := newBrowser(t, s), newBrowser(t, s)
			stolen := param(t, victim.leave("/signin/oidc/acme"), "code")
			mine := thief.leave("/signin/oidc/acme")
			got := thief.visit(change(t, mine, "code", stolen))
			if lax {
				thief.refused(got, http.StatusBadGateway, "cannot accept")
			} else {
				thief.refused(got, http.StatusBadRequest, "Sign in again")
			}
		})
	}
	t.Run("the verifier", func(t *testing.T) {
		t.Parallel()
		s, p := start(t)
		var seen []string
		for range 3 {
			newBrowser(t, s).visit("/signin/oidc/acme")
			p.with(func() { seen = append(seen, p.verifier) })
		}
		for i, v := range seen {
			if len(v) < 43 || len(v) > 128 { // RFC 7636, 4.1
				t.Errorf("the verifier has %d characters", len(v))
			}
			if i > 0 && v == seen[i-1] {
				t.Error("a verifier is used twice")
			}
		}
	})
	t.Run("a code of nobody", func(t *testing.T) {
		t.Parallel()
		s, _ := start(t)
		b := newBrowser(t, s)
		b.refused(b.visit(change(t, b.leave("/signin/oidc/acme"), "code", "made-up")), http.StatusBadRequest, "Sign in again")
	})
}

// TestOpenRedirects: no parameter sends a person who signs in anywhere but to our own
// pages and the provider.
func TestOpenRedirects(t *testing.T) {
	t.Parallel()
	s, p := start(t)
	ours := func(address string) bool {
		return strings.HasPrefix(address, s.URL+"/") || strings.HasPrefix(address, p.URL+"/authorize?")
	}
	for _, to := range []string{
		"//evil.example", "///evil.example/", "https://evil.example/claim", "http:evil.example", `/\evil.example`, `\\evil.example`, "/%5cevil.example",
		"/\t/evil.example", "/%09/evil.example", "javascript:alert(1)", "data:text/html,x", "@evil.example", ".evil.example", "/claim\r\nLocation: https://evil.example",
		s.URL + "@evil.example/", s.URL + ".evil.example/",
	} {
		extra := url.Values{}
		for _, name := range []string{"return_to", "return", "next", "redirect", "redirect_uri", "redirect_to", "target", "continue", "url", "from", "post_login", "rd"} {
			extra.Set(name, to)
		}
		b := newBrowser(t, s)
		var trail []string
		walk := func(address string) page {
			got := b.visit(address)
			trail = append(trail, got.trail...)
			return got
		}
		walk("/signin?" + extra.Encode())
		walk("/claim?claim_attempt_token=" + url.QueryEscape(to) + "&" + extra.Encode())
		back := b.leave("/signin/oidc/acme?" + extra.Encode())
		got := walk(back + "&" + extra.Encode())
		if got.path() != "/claim" {
			t.Errorf("%q: ends at %s", to, got.url)
		}
		walk("/signin?" + extra.Encode())
		for _, address := range trail {
			if !ours(address) {
				t.Errorf("%q leads to %s", to, address)
			}
		}
		if who := b.who(); who != "dana@example.com" {
			t.Errorf("%q: signed in as %q", to, who)
		}
	}
	// Paths that look like another host.
	for _, path := range []string{"//evil.example/signin", "/signin//evil.example", "/signin/oidc//evil.example", "/signin/oidc/acme//evil.example", `/signin/oidc/acme/%5cevil.example`, "//evil.example/", "//evil.example/signin/", `/\evil.example/`} {
		if got := newBrowser(t, s).step(s.URL + path); got.header.Get("Location") != "" || got.status >= http.StatusInternalServerError {
			t.Errorf("%s: %d to %s", path, got.status, got.header.Get("Location"))
		}
	}
	for path, to := range map[string]string{"/signin/": "/signin", "/signin//": "/signin", "/signin/oidc/acme/": "/signin/oidc/acme"} { // the same without the slash
		if got := newBrowser(t, s).step(s.URL + path); got.header.Get("Location") != to {
			t.Errorf("%s: %d to %s", path, got.status, got.header.Get("Location"))
		}
	}
}
