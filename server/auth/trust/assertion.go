package trust

import (
	"context"
	"slices"
	"time"
)

// MaxAuthAge is how long ago a user may have signed in at the issuer.
const MaxAuthAge = time.Hour

const (
	typIDJAG    = "oauth-id-jag+jwt"
	maxLifetime = 600 * time.Second // exp - iat of an ID-JAG
)

// Assertion verifies an ID-JAG in compact form. Checks run in a fixed order and
// stop at the first failure: form, issuer, header, key, signature, audience,
// times, names, verified identity, age of the sign-in, policy of the issuer.
// Expiry has a leeway of 60 s; the issuer's clock may be 120 s ahead of ours.
//
// The error is a *Refusal, or one of Find. Whether the jti is new and the
// subject not revoked since is left to the caller.
func (v *Verifier) Assertion(ctx context.Context, raw string) (Assertion, error) {
	t, issuer, err := v.authentic(ctx, raw, maxIDJAG, typIDJAG)
	if err != nil {
		return Assertion{}, err
	}
	a := Assertion{ISS: issuer.ISS}
	for _, step := range []func() *Refusal{
		func() *Refusal { return a.audience(t, v, issuer.Audiences) },
		func() *Refusal { return a.times(t, v.Now()) },
		func() *Refusal { return a.names(t, issuer.ClientIDs) },
		func() *Refusal { return a.identity(t) },
		func() *Refusal { return a.signIn(t, v.Now()) },
		func() *Refusal { return a.policy(t, issuer) },
	} {
		if r := step(); r != nil {
			return Assertion{}, r
		}
	}
	a.Platform, _ = t.claims.text("agent_platform", maxName)
	a.ContextID, _ = t.claims.text("agent_context_id", maxName)
	return a, nil
}

// audience accepts a string or an array of one: the resource, as the contract has it,
// or our issuer, as the ID-JAG draft has it (draft-ietf-oauth-identity-assertion-authz-grant,
// 3.1). Both name this service, so the assertion stores the resource. One of several
// audiences could replay the token here.
func (a *Assertion) audience(t token, v *Verifier, further []string) *Refusal {
	if !t.claims.has("aud") {
		return refuse(reasonAudience, "aud is missing")
	}
	aud, ok := t.claims.text("aud", maxISS)
	if list, isList := t.claims.texts("aud", maxISS); isList && len(list) == 1 {
		aud, ok = list[0], true
	}
	if !ok {
		return refuse(reasonAudience, "aud must be one string")
	}
	switch {
	case aud == v.Resource, aud == v.Self:
		a.Aud = v.Resource
	case slices.Contains(further, aud):
		a.Aud = aud
	default:
		return refuse(reasonAudience, "aud is neither the resource nor the issuer of this service; it must match exactly, with the last slash")
	}
	return nil
}

func (a *Assertion) times(t token, now time.Time) (r *Refusal) {
	if a.Expires, r = t.date("exp"); r != nil {
		return r
	}
	if a.IssuedAt, r = t.date("iat"); r != nil {
		return r
	}
	if !a.Expires.After(now.Add(-skew)) {
		return refuse(reasonExpired, "the assertion has expired")
	}
	if a.IssuedAt.After(now.Add(ahead)) {
		return refuse(reasonEarly, "iat lies in the future")
	}
	if t.claims.has("nbf") {
		nbf, r := t.date("nbf")
		if r != nil {
			return r
		}
		if nbf.After(now.Add(ahead)) {
			return refuse(reasonEarly, "nbf lies in the future")
		}
	}
	if a.Expires.Sub(a.IssuedAt) > maxLifetime {
		return refuse(reasonLong, "exp may be at most 600 s after iat")
	}
	if a.Expires.Before(a.IssuedAt) {
		return refuse(reasonMalformed, "exp lies before iat")
	}
	return nil
}

func (a *Assertion) names(t token, clients []string) (r *Refusal) {
	if a.Sub, r = t.name("sub"); r != nil {
		return r
	}
	if a.JTI, r = t.name("jti"); r != nil {
		return r
	}
	if t.claims.has("client_id") {
		if a.ClientID, r = t.name("client_id"); r != nil {
			return r
		}
	}
	if len(clients) > 0 && !slices.Contains(clients, a.ClientID) {
		return refuse(reasonClient, "client_id is not accepted from this issuer")
	}
	return nil
}

// signIn checks auth_time. A new sign-in fixes every refusal of it.
func (a *Assertion) signIn(t token, now time.Time) *Refusal {
	at, ok := t.claims.date("auth_time")
	var fault string
	switch {
	case !t.claims.has("auth_time"):
		fault = "auth_time is missing"
	case !ok:
		fault = "auth_time must be a number of seconds since 1970"
	case at.Before(now.Add(-MaxAuthAge - skew)):
		fault = "auth_time is older than 3600 s"
	case at.After(now.Add(ahead)):
		fault = "auth_time lies in the future"
	default:
		a.AuthTime = at
		return nil
	}
	return &Refusal{Code: codeLogin, Description: fault}
}
