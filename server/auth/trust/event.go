package trust

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
)

const (
	typSET    = "secevent+jwt"
	typLogout = "logout+jwt" // sent by first versions of the protocol, with the same claims
)

// Event verifies a security event token in compact form (RFC 8417, pushed by
// RFC 8935), or a logout token with the same claims. Its aud must name Resource or Self
// and may name others. It ignores exp and nbf and accepts any age: a late revocation is
// valid. The caller must not revoke links newer than IssuedAt.
//
// Unknown types are only listed. A token that revokes must name its subject in sub, in
// sub_id (RFC 9493) or within the event, each time the same.
//
// The error is a *Refusal, or one of Find. The caller must accept and ignore a repeated
// jti (RFC 8935, 2).
func (v *Verifier) Event(ctx context.Context, raw string) (Event, error) {
	t, issuer, err := v.authentic(ctx, raw, maxSET, typSET, typLogout)
	var r *Refusal
	switch {
	case errors.As(err, &r):
		return Event{}, r.forEvent()
	case err != nil:
		return Event{}, err
	}
	e := Event{ISS: issuer.ISS}
	if r := v.fill(&e, t); r != nil {
		return Event{}, r.forEvent()
	}
	return e, nil
}

func (v *Verifier) fill(e *Event, t token) (r *Refusal) {
	if r = v.heard(t); r != nil {
		return r
	}
	if e.IssuedAt, r = t.date("iat"); r != nil {
		return r
	}
	if e.IssuedAt.After(v.Now().Add(ahead)) {
		return refuse(reasonEarly, "iat lies in the future")
	}
	if e.JTI, r = t.name("jti"); r != nil {
		return r
	}
	return e.read(t)
}

// heard checks that the token is meant for us among others.
func (v *Verifier) heard(t token) *Refusal {
	list, ok := t.claims.texts("aud", maxISS)
	if aud, single := t.claims.text("aud", maxISS); single {
		list, ok = []string{aud}, true
	}
	if !ok {
		return refuse(reasonAudience, "aud must be a string or an array of strings")
	}
	if !slices.Contains(list, v.Resource) && !slices.Contains(list, v.Self) {
		return refuse(reasonAudience, "aud does not name this service")
	}
	return nil
}

// read reads events and who they are about.
func (e *Event) read(t token) *Refusal {
	events, ok := t.claims.object("events")
	if !ok || len(events) == 0 {
		return refuse(reasonMalformed, "events must be an object with at least one event")
	}
	e.Types = slices.Sorted(maps.Keys(events))
	var named subjects
	named.claims(e.ISS, t)
	for _, typ := range e.Types {
		event, ok := events.object(typ)
		if !ok || typ == "" || strings.ContainsFunc(typ, unfit) {
			return refuse(reasonMalformed, "an event must be an object under the URI of its type")
		}
		if revokes(typ) {
			e.Revokes = true
			named.member(e.ISS, event, "subject")
		}
	}
	if !e.Revokes {
		if len(named.subs) == 1 && named.fault == nil {
			e.Sub = named.subs[0]
		}
		return nil
	}
	if named.fault != nil {
		return named.fault
	}
	if len(named.subs) != 1 {
		return refuse(reasonMalformed, "the event must name one subject, in sub or in sub_id with format iss_sub")
	}
	e.Sub = named.subs[0]
	return nil
}

// revokes reports whether events of a type end the subject's delegation.
func revokes(typ string) bool {
	const openID = "https://schemas.openid.net/secevent/"
	switch typ {
	case EventRevoked,
		"https://schemas.workos.com/events/agent/identity/assertion/revoked", // newer spelling of some providers
		openID + "risc/event-type/account-disabled",
		openID + "risc/event-type/account-purged",
		openID + "risc/event-type/credential-compromise",
		openID + "caep/event-type/session-revoked",
		openID + "oauth/event-type/token-revoked",
		openID + "oauth/event-type/tokens-revoked":
		return true
	}
	return false
}
