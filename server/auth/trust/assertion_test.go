package trust_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/firstpick/firstpick/server/auth/trust"
)

func TestAssertion(t *testing.T) {
	idp, v, c := setup(t, func(i *trust.Issuer) {
		i.ClientIDs, i.EmailDomains, i.AMR = []string{"https://agent.example/"}, []string{"Example.com"}, []string{"mfa"}
	})
	got, err := v.Assertion(t.Context(), idp.Assertion(resource, "user-1", "Dana@Example.COM",
		claim("jti", "j1"), claim("client_id", "https://agent.example/"), claim("amr", []string{"pwd", "mfa"}),
		claim("phone_number", "+4930123456"), claim("phone_number_verified", true),
		claim("agent_platform", "Example"), claim("agent_context_id", "run 7"), claim("iat", 1795255199.5)))
	if err != nil {
		t.Fatal(err)
	}
	want := trust.Assertion{
		ISS: idp.URL, Sub: "user-1", Aud: resource, JTI: "j1", ClientID: "https://agent.example/",
		Email: "dana@example.com", Phone: "+4930123456",
		IssuedAt: c.now().Add(-time.Second / 2), Expires: c.now().Add(5 * time.Minute), AuthTime: c.now().Add(-time.Minute),
		AMR: []string{"pwd", "mfa"}, Platform: "Example", ContextID: "run 7",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

const invalid = "invalid_request "

func TestAssertionMatrix(t *testing.T) {
	idp, v, c := setup(t)
	other, _, _ := setup(t)
	now := c.now().Unix()
	weak, rsa, ed, p384 := idp.RSA(1024), idp.RSA(2048), idp.Ed25519(), idp.ES384()
	signedWith := func(alg, kid string) change {
		return func(h, _ map[string]any) { h["alg"], h["kid"] = alg, kid }
	}
	for name, test := range map[string]struct {
		change change
		want   string
	}{
		"plain":                         {claim("x", 1), ""},
		"typ JWT":                       {header("typ", "JWT"), invalid + "invalid_typ"},
		"typ missing":                   {header("typ", absent{}), invalid + "invalid_typ"},
		"typ null":                      {header("typ", nil), invalid + "invalid_typ"},
		"typ of an event":               {header("typ", "secevent+jwt"), invalid + "invalid_typ"},
		"typ with application/":         {header("typ", "application/oauth-id-jag+jwt"), ""},
		"typ in capitals":               {header("typ", "OAuth-ID-JAG+JWT"), ""},
		"alg none":                      {header("alg", "none"), invalid + "unsupported_alg"},
		"alg nOnE":                      {header("alg", "nOnE"), invalid + "unsupported_alg"},
		"alg missing":                   {header("alg", absent{}), invalid + "unsupported_alg"},
		"HS256 with the public key":     {header("alg", "HS256"), invalid + "unsupported_alg"},
		"ES512":                         {header("alg", "ES512"), invalid + "unsupported_alg"},
		"RS512, not in the default":     {signedWith("RS512", rsa), invalid + "unsupported_alg"},
		"RS256":                         {signedWith("RS256", rsa), ""},
		"PS256":                         {signedWith("PS256", rsa), ""},
		"EdDSA":                         {signedWith("EdDSA", ed), ""},
		"ES384":                         {signedWith("ES384", p384), ""},
		"ES256 with a P-384 key":        {signedWith("ES256", p384), invalid + "unsupported_alg"},
		"RS256 with an EC key":          {header("alg", "RS256"), invalid + "unsupported_alg"},
		"RSA of 1024 bits":              {signedWith("RS256", weak), invalid + "unknown_kid"},
		"no kid":                        {header("kid", absent{}), invalid + "missing_kid"},
		"empty kid":                     {header("kid", ""), invalid + "missing_kid"},
		"kid a number":                  {header("kid", 7), invalid + "missing_kid"},
		"kid too long":                  {header("kid", strings.Repeat("k", 257)), invalid + "missing_kid"},
		"kid of another issuer":         {header("kid", other.Kid()), invalid + "unknown_kid"},
		"crit":                          {header("crit", []string{"b64"}), invalid + "malformed_assertion"},
		"jku is ignored":                {header("jku", other.URL+"/.well-known/jwks.json"), ""},
		"jwk is ignored":                {header("jwk", other.JWK(other.Kid())), ""},
		"iss with a slash":              {claim("iss", idp.URL+"/"), "issuer_not_enabled"},
		"iss not trusted":               {claim("iss", other.URL), "issuer_not_enabled"},
		"iss ours":                      {claim("iss", base), "issuer_not_enabled"},
		"iss missing":                   {claim("iss", absent{}), invalid + "missing_claim"},
		"iss an array":                  {claim("iss", []string{idp.URL}), invalid + "malformed_assertion"},
		"aud our issuer":                {claim("aud", base), ""},
		"aud our issuer with a slash":   {claim("aud", base+"/"), invalid + "invalid_audience"},
		"aud both of ours":              {claim("aud", []string{resource, base}), invalid + "invalid_audience"},
		"aud without slash":             {claim("aud", base+"/api"), invalid + "invalid_audience"},
		"aud of another":                {claim("aud", "https://other.example/api/"), invalid + "invalid_audience"},
		"aud missing":                   {claim("aud", absent{}), invalid + "invalid_audience"},
		"aud null":                      {claim("aud", nil), invalid + "invalid_audience"},
		"aud an array of one":           {claim("aud", []string{resource}), ""},
		"aud an array of two":           {claim("aud", []string{resource, "https://other.example/"}), invalid + "invalid_audience"},
		"aud an empty array":            {claim("aud", []string{}), invalid + "invalid_audience"},
		"exp missing":                   {claim("exp", absent{}), invalid + "missing_claim"},
		"exp a string":                  {claim("exp", "9999999999"), invalid + "malformed_assertion"},
		"exp null":                      {claim("exp", nil), invalid + "malformed_assertion"},
		"exp beyond all years":          {claim("exp", 1e30), invalid + "malformed_assertion"},
		"exp 59 s ago":                  {both("iat", now-300, "exp", now-59), ""},
		"exp 60 s ago":                  {both("iat", now-300, "exp", now-60), invalid + "expired"},
		"exp before iat":                {both("iat", now+10, "exp", now), invalid + "malformed_assertion"},
		"600 s long":                    {claim("exp", now+600), ""},
		"601 s long":                    {claim("exp", now+601), invalid + "lifetime_too_long"},
		"iat missing":                   {claim("iat", absent{}), invalid + "missing_claim"},
		"iat 120 s ahead":               {claim("iat", now+120), ""},
		"iat 121 s ahead":               {claim("iat", now+121), invalid + "not_yet_valid"},
		"nbf 120 s ahead":               {claim("nbf", now+120), ""},
		"nbf 121 s ahead":               {claim("nbf", now+121), invalid + "not_yet_valid"},
		"nbf a string":                  {claim("nbf", "1"), invalid + "malformed_assertion"},
		"sub missing":                   {claim("sub", absent{}), invalid + "missing_claim"},
		"sub empty":                     {claim("sub", ""), invalid + "malformed_assertion"},
		"sub a number":                  {claim("sub", 12), invalid + "malformed_assertion"},
		"sub of 255 bytes":              {claim("sub", strings.Repeat("s", 255)), ""},
		"sub of 256 bytes":              {claim("sub", strings.Repeat("s", 256)), invalid + "malformed_assertion"},
		"sub with a zero byte":          {claim("sub", "a\x00b"), invalid + "malformed_assertion"},
		"jti missing":                   {claim("jti", absent{}), invalid + "missing_claim"},
		"jti null":                      {claim("jti", nil), invalid + "malformed_assertion"},
		"client_id null":                {claim("client_id", nil), invalid + "malformed_assertion"},
		"email_verified the string":     {claim("email_verified", "true"), invalid + "missing_verified_identity"},
		"email_verified 1":              {claim("email_verified", 1), invalid + "missing_verified_identity"},
		"email_verified false":          {claim("email_verified", false), invalid + "missing_verified_identity"},
		"email_verified missing":        {claim("email_verified", absent{}), invalid + "missing_verified_identity"},
		"email missing":                 {claim("email", absent{}), invalid + "missing_verified_identity"},
		"email an array":                {claim("email", []string{"a@b.example"}), invalid + "missing_verified_identity"},
		"email with a name":             {claim("email", "Dana <dana@example.com>"), invalid + "missing_verified_identity"},
		"email with two at signs":       {claim("email", "dana@example.com@evil.example"), invalid + "missing_verified_identity"},
		"email with a Kelvin sign":      {claim("email", "\u212Aim@example.com"), invalid + "missing_verified_identity"},
		"email without a dot":           {claim("email", "dana@localhost"), invalid + "missing_verified_identity"},
		"phone not verified":            {phone("+4930123456", false), invalid + "missing_verified_identity"},
		"phone verified":                {phone("+4930123456", true), ""},
		"phone without plus":            {phone("004930123456", true), invalid + "missing_verified_identity"},
		"auth_time missing":             {claim("auth_time", absent{}), "login_required"},
		"auth_time a string":            {claim("auth_time", "1"), "login_required"},
		"auth_time null":                {claim("auth_time", nil), "login_required"},
		"auth_time 3660 s old":          {claim("auth_time", now-3660), ""},
		"auth_time 3661 s old":          {claim("auth_time", now-3661), "login_required"},
		"auth_time 120 s ahead":         {claim("auth_time", now+120), ""},
		"auth_time 121 s ahead":         {claim("auth_time", now+121), "login_required"},
		"amr a string":                  {claim("amr", "mfa"), invalid + "malformed_assertion"},
		"agent_platform not a string":   {claim("agent_platform", 1), ""},
		"too large":                     {claim("x", strings.Repeat("x", 8<<10)), invalid + "malformed_assertion"},
		"nested too deep":               {claim("x", deep(40)), invalid + "malformed_assertion"},
		"null claims are ignored":       {claim("x", nil), ""},
		"identity comes before sign-in": {both("email_verified", false, "auth_time", 0), invalid + "missing_verified_identity"},
	} {
		t.Run(name, func(t *testing.T) {
			a, err := v.Assertion(t.Context(), idp.Assertion(resource, "user-1", "dana@example.com", test.change))
			if got := refusal(t, err); got != test.want {
				t.Errorf("got %q (%v), want %q", got, err, test.want)
			}
			if err != nil && !cmp.Equal(a, trust.Assertion{}) {
				t.Errorf("refused, yet returned %+v", a)
			}
		})
	}
}

func both(name1 string, value1 any, name2 string, value2 any) change {
	return func(_, c map[string]any) { c[name1], c[name2] = value1, value2 }
}

func phone(number string, verified bool) change {
	return func(_, c map[string]any) {
		delete(c, "email")
		delete(c, "email_verified")
		c["phone_number"], c["phone_number_verified"] = number, verified
	}
}

func deep(n int) any {
	var v any = 1
	for range n {
		v = []any{v}
	}
	return v
}
