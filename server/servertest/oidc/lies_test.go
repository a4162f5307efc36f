package oidc_test

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server/store/state"
)

// TestLies: what the provider says must be signed by it, for us, now, in answer to
// this browser, and say that the address was verified.
func TestLies(t *testing.T) {
	t.Parallel()
	set := func(claim string, value any) func(p *provider) {
		return func(p *provider) { p.lie = func(_, c map[string]any) { c[claim] = value } }
	}
	unset := func(claim string) func(p *provider) {
		return func(p *provider) { p.lie = func(_, c map[string]any) { delete(c, claim) } }
	}
	head := func(name string, value any) func(p *provider) {
		return func(p *provider) { p.lie = func(h, _ map[string]any) { h[name] = value } }
	}
	swap := func(f func(parts []string)) func(p *provider) {
		return func(p *provider) {
			p.replace = func(t string) string {
				parts := strings.Split(t, ".")
				f(parts)
				return strings.Join(parts, ".")
			}
		}
	}
	late := func(d time.Duration) func(p *provider) {
		return func(p *provider) { p.lie = func(_, c map[string]any) { c["exp"] = p.now().Add(d).Unix() } }
	}
	const unusable, unverified = "Acme gave an answer that we cannot accept", "no verified e-mail address"
	for name, c := range map[string]struct {
		lie    func(p *provider)
		status int
		words  string
	}{
		"another nonce":     {set("nonce", "of another browser"), http.StatusBadGateway, unusable},
		"an empty nonce":    {set("nonce", ""), http.StatusBadGateway, unusable},
		"no nonce":          {unset("nonce"), http.StatusBadGateway, unusable},
		"another audience":  {set("aud", "another client"), http.StatusBadGateway, unusable},
		"other audiences":   {set("aud", []string{"another client", "a third"}), http.StatusBadGateway, unusable},
		"no audience":       {unset("aud"), http.StatusBadGateway, unusable},
		"another issuer":    {set("iss", "https://evil.example"), http.StatusBadGateway, unusable},
		"no issuer":         {unset("iss"), http.StatusBadGateway, unusable},
		"a slash more":      {func(p *provider) { p.lie = func(_, c map[string]any) { c["iss"] = p.URL + "/" } }, http.StatusBadGateway, unusable},
		"expired":           {late(-time.Second), http.StatusBadGateway, unusable},
		"long expired":      {late(-24 * time.Hour), http.StatusBadGateway, unusable},
		"no expiry":         {unset("exp"), http.StatusBadGateway, unusable},
		"not yet valid":     {func(p *provider) { p.lie = func(_, c map[string]any) { c["nbf"] = p.now().Add(time.Hour).Unix() } }, http.StatusBadGateway, unusable},
		"an unknown key":    {head("kid", "another"), http.StatusBadGateway, unusable},
		"not signed":        {head("alg", "none"), http.StatusBadGateway, unusable},
		"signed by a MAC":   {head("alg", "HS256"), http.StatusBadGateway, unusable},
		"no signature":      {swap(func(parts []string) { parts[2] = "" }), http.StatusBadGateway, unusable},
		"another signature": {swap(func(parts []string) { parts[2] = b64(make([]byte, 64)) }), http.StatusBadGateway, unusable},
		"other claims":      {swap(func(parts []string) { parts[1] = b64([]byte(`{"email":"dana@example.com","email_verified":true}`)) }), http.StatusBadGateway, unusable},
		"a cut token":       {func(p *provider) { p.replace = func(t string) string { return t[:len(t)/2] } }, http.StatusBadGateway, unusable},
		"no token":          {func(p *provider) { p.replace = func(string) string { return "" } }, http.StatusBadGateway, unusable},
		"unverified":        {set("email_verified", false), http.StatusForbidden, unverified},
		"not said":          {unset("email_verified"), http.StatusForbidden, unverified},
		"null":              {set("email_verified", nil), http.StatusForbidden, unverified},
		"a text":            {set("email_verified", "true"), http.StatusBadGateway, unusable},
		"a number":          {set("email_verified", 1), http.StatusBadGateway, unusable},
		"no address":        {unset("email"), http.StatusForbidden, unverified},
		"an empty address":  {set("email", ""), http.StatusForbidden, unverified},
		"no mail address":   {set("email", "dana"), http.StatusForbidden, unverified},
		"two addresses":     {set("email", "dana@example.com,eve@example.com"), http.StatusForbidden, unverified},
		"a second line":     {set("email", "dana@example.com\r\nBcc: eve@example.com"), http.StatusForbidden, unverified},
		"a list":            {set("email", []string{"dana@example.com"}), http.StatusBadGateway, unusable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, p := start(t)
			p.with(func() { c.lie(p) })
			b := newBrowser(t, s)
			b.refused(b.visit("/signin/oidc/acme"), c.status, c.words)
			for _, email := range []string{"dana@example.com", "eve@example.com"} {
				if _, err := s.Agents.DB.Read().VerifiedAccount(t.Context(), email); !errors.Is(err, state.ErrNotFound) {
					t.Errorf("the address %s counts as proven: %v", email, err)
				}
			}
			p.with(func() { p.lie, p.replace = nil, nil })
			if b.visit("/signin/oidc/acme"); b.who() != "dana@example.com" {
				t.Error("the same browser cannot sign in when the provider is honest")
			}
		})
	}
}

// TestRefusedByTheProvider: the person said no there, or something went wrong.
func TestRefusedByTheProvider(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]url.Values{
		"denied":             {"error": {"access_denied"}, "error_description": {"<b>The user said no</b>"}},
		"login required":     {"error": {"login_required"}},
		"server error":       {"error": {"server_error"}},
		"nothing":            {},
		"an empty code":      {"code": {""}},
		"denied, and a code": {"error": {"access_denied"}, "code": {"made-up"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, p := start(t)
			p.with(func() { p.refuse = answer })
			b := newBrowser(t, s)
			got := b.visit("/signin/oidc/acme")
			b.refused(got, http.StatusForbidden, "Acme did not sign you in.")
			if strings.Contains(got.body, "said no") {
				t.Error("the page repeats what the address said")
			}
			if n := p.count("/token"); n != 0 {
				t.Errorf("the token endpoint was asked %d times", n)
			}
			p.with(func() { p.refuse = nil })
			if b.visit("/signin/oidc/acme"); b.who() == "" {
				t.Error("trying again does not help")
			}
		})
	}
}
