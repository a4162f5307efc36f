// Package trust verifies tokens of trusted identity providers: ID-JAGs
// (assertions about a user, draft-ietf-oauth-identity-assertion-authz-grant)
// and security event tokens (RFC 8417).
//
// It answers one question: did an issuer of the operator's list sign exactly
// this, for us, just now? It stores only public keys. The caller checks for repeated
// jtis and revoked subjects, and decides what an assertion permits.
//
// A token cannot choose the source of its key: jku, jwk, x5u and x5c are ignored.
package trust

import (
	"context"
	"time"
)

// EventRevoked is the event type that ends a subject's delegation. It is the
// one to advertise; Event.Revokes is set for further types too.
const EventRevoked = "https://schemas.workos.com/events/agent/auth/identity/assertion/revoked"

// An Issuer is an identity provider that the operator trusts.
type Issuer struct {
	ISS          string   // issuer URL, compared byte by byte with iss (RFC 7519, 4.1.1)
	Name         string   // display name of the trust list, not of a token
	JWKSURI      string   // where its keys are; empty: ISS without a last slash + "/.well-known/jwks.json"
	Algs         []string // accepted alg values (RFC 7518, 3.1); empty: ES256 ES384 RS256 PS256 EdDSA
	ClientIDs    []string // non-empty: client_id must be one of them
	EmailDomains []string // non-empty: an email must be asserted and its domain be one of them
	AMR          []string // non-empty: every one must be in the token's amr (RFC 8176)
	Audiences    []string // further accepted aud values for ID-JAGs
	AllowPrivate bool     // keys may be fetched from private and loopback addresses and over http
}

// An Assertion is a verified ID-JAG.
type Assertion struct {
	ISS      string // issuer, byte-exact as in the trust list
	Sub      string // the issuer's name of the user, 1 to 255 bytes
	Aud      string // the audience that was accepted
	JTI      string // unique with ISS, 1 to 255 bytes; the caller refuses a second use
	ClientID string // client_id; empty when absent

	Email string // lower-cased; empty unless the issuer verified it
	Phone string // E.164 with plus; empty unless the issuer verified it. One of both is set

	IssuedAt time.Time // iat, UTC
	Expires  time.Time // exp, UTC, without leeway
	AuthTime time.Time // when the user last signed in at the issuer, UTC (OpenID Connect Core, 2)

	AMR       []string // how the user signed in (RFC 8176); nil when absent
	Platform  string   // agent_platform, for display; empty unless a string of at most 255 bytes
	ContextID string   // agent_context_id, for display; empty unless a string of at most 255 bytes
}

// An Event is a verified security event token (RFC 8417).
type Event struct {
	ISS      string    // issuer, byte-exact as in the trust list
	Sub      string    // the issuer's name of the user; set when Revokes, else possibly empty
	JTI      string    // unique with ISS, 1 to 255 bytes
	IssuedAt time.Time // iat, UTC; may be old: late revocations are valid
	Revokes  bool      // some event in it ends the subject's delegation
	Types    []string  // event type URIs, sorted
}

// A Verifier checks tokens. All fields are required. Its methods may be called
// by many goroutines.
type Verifier struct {
	Find     func(ctx context.Context, iss string) (Issuer, bool, error) // the trust list
	Keys     *Keys                                                       // public keys of issuers
	Resource string                                                      // BASE + "/api/": aud of an ID-JAG
	Self     string                                                      // BASE: our own issuer, never trusted
	Now      func() time.Time                                            // the clock
}
