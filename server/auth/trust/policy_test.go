package trust_test

import (
	"context"
	"errors"
	"testing"

	"github.com/firstpick/firstpick/server/auth/trust"
)

func TestAssertionPolicy(t *testing.T) {
	for name, test := range map[string]struct {
		edit   func(*trust.Issuer)
		change change
		want   string
	}{
		"further audience":         {func(i *trust.Issuer) { i.Audiences = []string{"https://old.example/"} }, claim("aud", "https://old.example/"), ""},
		"client not pinned":        {func(i *trust.Issuer) { i.ClientIDs = []string{"a"} }, claim("client_id", "b"), invalid + "invalid_client_id"},
		"client missing":           {func(i *trust.Issuer) { i.ClientIDs = []string{"a"} }, claim("x", 1), invalid + "invalid_client_id"},
		"client pinned":            {func(i *trust.Issuer) { i.ClientIDs = []string{"a"} }, claim("client_id", "a"), ""},
		"foreign domain":           {func(i *trust.Issuer) { i.EmailDomains = []string{"a.example"} }, claim("x", 1), invalid + "missing_verified_identity"},
		"subdomain is foreign":     {func(i *trust.Issuer) { i.EmailDomains = []string{"com"} }, claim("x", 1), invalid + "missing_verified_identity"},
		"phone passes no domain":   {func(i *trust.Issuer) { i.EmailDomains = []string{"example.com"} }, phone("+4930123456", true), invalid + "missing_verified_identity"},
		"amr missing":              {func(i *trust.Issuer) { i.AMR = []string{"mfa"} }, claim("x", 1), invalid + "missing_claim"},
		"amr lacks one":            {func(i *trust.Issuer) { i.AMR = []string{"mfa", "hwk"} }, claim("amr", []string{"mfa"}), invalid + "missing_claim"},
		"alg not listed":           {func(i *trust.Issuer) { i.Algs = []string{"EdDSA"} }, claim("x", 1), invalid + "unsupported_alg"},
		"HS256 even if listed":     {func(i *trust.Issuer) { i.Algs = []string{"HS256"} }, header("alg", "HS256"), invalid + "unsupported_alg"},
		"none even if listed":      {func(i *trust.Issuer) { i.Algs = []string{"none"} }, header("alg", "none"), invalid + "unsupported_alg"},
		"explicit address of keys": {func(i *trust.Issuer) { i.JWKSURI = i.ISS + "/.well-known/jwks.json" }, claim("x", 1), ""},
		"wrong address of keys":    {func(i *trust.Issuer) { i.JWKSURI = i.ISS + "/none" }, claim("x", 1), "temporarily_unavailable"},
	} {
		t.Run(name, func(t *testing.T) {
			idp, v, _ := setup(t, test.edit)
			_, err := v.Assertion(t.Context(), idp.Assertion(resource, "user-1", "dana@example.com", test.change))
			if got := refusal(t, err); got != test.want {
				t.Errorf("got %q (%v), want %q", got, err, test.want)
			}
		})
	}
}

func TestTrustListFails(t *testing.T) {
	idp, v, _ := setup(t)
	broken := errors.New("store is down")
	v.Find = func(context.Context, string) (trust.Issuer, bool, error) { return trust.Issuer{}, false, broken }
	if _, err := v.Assertion(t.Context(), idp.Assertion(resource, "u", "a@b.example")); !errors.Is(err, broken) {
		t.Error(err)
	}
	if _, err := v.Event(t.Context(), idp.Event(resource, "u")); !errors.Is(err, broken) {
		t.Error(err)
	}
}

func TestSelfIsNeverTrusted(t *testing.T) {
	idp, v, _ := setup(t)
	v.Self = idp.URL
	_, err := v.Assertion(t.Context(), idp.Assertion(resource, "u", "a@b.example"))
	if got := refusal(t, err); got != "issuer_not_enabled" {
		t.Error(got)
	}
	if idp.Fetches() != 0 {
		t.Error("keys of our own were fetched")
	}
}

func TestSameKidOfTwoIssuers(t *testing.T) {
	// Two issuers with a key of the same id: each is checked with its own.
	a, _, c := setup(t)
	b, _, _ := setup(t)
	stolen := b.JWK(b.Kid())
	stolen["kid"] = a.Kid()
	b.Serve(stolen)
	v := verifier(c.now, a.Issuer(), b.Issuer())
	for range 2 {
		_, err := v.Assertion(t.Context(), b.Assertion(resource, "u", "a@b.example", header("kid", a.Kid())))
		if err != nil {
			t.Error(err)
		}
		raw := a.Assertion(resource, "u", "a@b.example", claim("iss", b.URL))
		if _, err := v.Assertion(t.Context(), raw); refusal(t, err) != invalid+"invalid_signature" {
			t.Error(err)
		}
	}
	if a.Fetches() != 0 || b.Fetches() != 1 {
		t.Errorf("fetched %d and %d times, want 0 and 1", a.Fetches(), b.Fetches())
	}
}

func TestTrustListIsLax(t *testing.T) {
	idp, v, _ := setup(t)
	v.Find = func(context.Context, string) (trust.Issuer, bool, error) { return idp.Issuer(), true, nil }
	_, err := v.Assertion(t.Context(), idp.Assertion(resource, "u", "a@b.example", claim("iss", idp.URL+"/")))
	if got := refusal(t, err); got != "issuer_not_enabled" {
		t.Error(got)
	}
}
