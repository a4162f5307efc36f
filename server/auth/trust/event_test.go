package trust_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/firstpick/firstpick/server/auth/trust"
)

const verification = "https://schemas.openid.net/secevent/ssf/event-type/verification"

func TestEvent(t *testing.T) {
	idp, v, c := setup(t)
	got, err := v.Event(t.Context(), idp.Event(resource, "user-1", claim("jti", "j1"),
		claim("events", map[string]any{verification: map[string]any{}, trust.EventRevoked: map[string]any{}})))
	if err != nil {
		t.Fatal(err)
	}
	want := trust.Event{ISS: idp.URL, Sub: "user-1", JTI: "j1", IssuedAt: c.now(), Revokes: true,
		Types: []string{verification, trust.EventRevoked}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestEventMatrix(t *testing.T) {
	idp, v, c := setup(t)
	other, _, _ := setup(t)
	now := c.now().Unix()
	weak := idp.RSA(1024)
	for name, test := range map[string]struct {
		change change
		want   string
	}{
		"typ JWT":                    {header("typ", "JWT"), invalid + "invalid_typ"},
		"typ of an ID-JAG":           {header("typ", "oauth-id-jag+jwt"), invalid + "invalid_typ"},
		"typ logout+jwt":             {header("typ", "logout+jwt"), ""},
		"typ logout+jwt, no events":  {func(h, c map[string]any) { h["typ"] = "logout+jwt"; delete(c, "events") }, invalid + "malformed_body"},
		"typ with application/":      {header("typ", "application/secevent+jwt"), ""},
		"alg none":                   {header("alg", "none"), "invalid_key unsupported_alg"},
		"HS256 with the public key":  {header("alg", "HS256"), "invalid_key unsupported_alg"},
		"no kid":                     {header("kid", absent{}), "invalid_key missing_kid"},
		"kid of another issuer":      {header("kid", other.Kid()), "invalid_key unknown_kid"},
		"RSA of 1024 bits":           {header("kid", weak), "invalid_key unknown_kid"},
		"iss not trusted":            {claim("iss", other.URL), "invalid_issuer"},
		"iss with a slash":           {claim("iss", idp.URL+"/"), "invalid_issuer"},
		"iss missing":                {claim("iss", absent{}), invalid + "missing_claim"},
		"aud the base":               {claim("aud", base), ""},
		"aud the base with a slash":  {claim("aud", base+"/"), "invalid_audience invalid_audience"},
		"aud of several":             {claim("aud", []string{"https://other.example/", resource}), ""},
		"aud of others":              {claim("aud", []string{"https://other.example/"}), "invalid_audience invalid_audience"},
		"aud missing":                {claim("aud", absent{}), "invalid_audience invalid_audience"},
		"iat missing":                {claim("iat", absent{}), invalid + "missing_claim"},
		"iat a string":               {claim("iat", "1"), invalid + "malformed_body"},
		"iat a year ago":             {claim("iat", now-365*86400), ""},
		"iat 120 s ahead":            {claim("iat", now+120), ""},
		"iat 121 s ahead":            {claim("iat", now+121), invalid + "not_yet_valid"},
		"exp is not read":            {claim("exp", now-86400), ""},
		"jti missing":                {claim("jti", absent{}), invalid + "missing_claim"},
		"events missing":             {claim("events", absent{}), invalid + "malformed_body"},
		"events empty":               {claim("events", map[string]any{}), invalid + "malformed_body"},
		"events an array":            {claim("events", []any{trust.EventRevoked}), invalid + "malformed_body"},
		"event null":                 {claim("events", map[string]any{trust.EventRevoked: nil}), invalid + "malformed_body"},
		"event without a type":       {claim("events", map[string]any{"": map[string]any{}}), invalid + "malformed_body"},
		"sub missing":                {claim("sub", absent{}), invalid + "malformed_body"},
		"sub a number":               {claim("sub", 1), invalid + "malformed_body"},
		"sub_id the same":            {claim("sub_id", issSub(idp.URL, "user-1")), ""},
		"sub_id another":             {claim("sub_id", issSub(idp.URL, "user-2")), invalid + "malformed_body"},
		"sub_id of another issuer":   {claim("sub_id", issSub(other.URL, "user-1")), invalid + "malformed_body"},
		"sub_id alone":               {both("sub", nil, "sub_id", issSub(idp.URL, "user-1")), invalid + "malformed_body"},
		"sub_id a string":            {claim("sub_id", "user-1"), invalid + "malformed_body"},
		"sub_id without sub":         {claim("sub_id", map[string]any{"format": "iss_sub", "iss": idp.URL}), invalid + "malformed_body"},
		"sub_id of another format":   {claim("sub_id", map[string]any{"format": "opaque", "id": "x"}), ""},
		"subject within the event":   {revoked(map[string]any{"subject": issSub(idp.URL, "user-1")}), ""},
		"another within the event":   {revoked(map[string]any{"subject": issSub(idp.URL, "user-2")}), invalid + "malformed_body"},
		"10 KiB":                     {claim("x", strings.Repeat("x", 7<<10)), ""},
		"too large":                  {claim("x", strings.Repeat("x", 16<<10)), invalid + "malformed_body"},
		"crit":                       {header("crit", []string{"x"}), invalid + "malformed_body"},
		"revocation in a draft form": {claim("events", map[string]any{"https://schemas.workos.com/events/agent/identity/assertion/revoked": map[string]any{}}), ""},
	} {
		t.Run(name, func(t *testing.T) {
			e, err := v.Event(t.Context(), idp.Event(resource, "user-1", test.change))
			if got := refusal(t, err); got != test.want {
				t.Errorf("got %q (%v), want %q", got, err, test.want)
			}
			if err == nil && (e.Sub != "user-1" || !e.Revokes) {
				t.Errorf("got %+v", e)
			}
		})
	}
}

func issSub(iss, sub string) map[string]any {
	return map[string]any{"format": "iss_sub", "iss": iss, "sub": sub}
}

func revoked(event map[string]any) change {
	return claim("events", map[string]any{trust.EventRevoked: event})
}

func TestEventSubjectElsewhere(t *testing.T) {
	idp, v, _ := setup(t)
	for name, test := range map[string]struct {
		change  change
		revokes bool
		sub     string
	}{
		"sub_id":         {claim("sub_id", issSub(idp.URL, "user-1")), true, "user-1"},
		"in the event":   {revoked(map[string]any{"subject": issSub(idp.URL, "user-1")}), true, "user-1"},
		"complex":        {claim("sub_id", map[string]any{"format": "complex", "user": issSub(idp.URL, "user-1")}), true, "user-1"},
		"unknown type":   {claim("events", map[string]any{"https://x.example/e": map[string]any{}}), false, ""},
		"verification":   {both("events", map[string]any{verification: map[string]any{"state": "s"}}, "sub_id", map[string]any{"format": "opaque", "id": "s"}), false, ""},
		"account closed": {both("events", map[string]any{"https://schemas.openid.net/secevent/risc/event-type/account-disabled": map[string]any{"subject": issSub(idp.URL, "u")}}, "x", 1), true, "u"},
	} {
		t.Run(name, func(t *testing.T) {
			e, err := v.Event(t.Context(), idp.Event(resource, "", claim("sub", absent{}), test.change))
			if err != nil || e.Sub != test.sub || e.Revokes != test.revokes {
				t.Errorf("got %+v, %v", e, err)
			}
		})
	}
}

func TestEventSignature(t *testing.T) {
	idp, v, c := setup(t)
	a, b := strings.Split(idp.Event(resource, "a"), "."), strings.Split(idp.Event(resource, "b"), ".")
	_, err := v.Event(t.Context(), a[0]+"."+a[1]+"."+b[2])
	if got := refusal(t, err); got != "authentication_failed invalid_signature" {
		t.Error(got)
	}
	idp.Down(true)
	c.add(49 * time.Hour)
	_, err = v.Event(t.Context(), idp.Event(resource, "a"))
	if got := refusal(t, err); got != "temporarily_unavailable" {
		t.Error(got)
	}
}
