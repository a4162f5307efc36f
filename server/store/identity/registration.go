package identity

import (
	"slices"
	"time"
)

// A Kind is how an agent registered.
type Kind string

// The kinds of registration.
const (
	Anonymous         Kind = "anonymous"
	ServiceAuth       Kind = "service_auth"
	IdentityAssertion Kind = "identity_assertion"
)

// The scopes that a token may carry.
const (
	ScopeRead  = "analytics.read"
	ScopeWrite = "analytics.write"
)

// BothScopes are the scopes of a claimed registration.
func BothScopes() []string { return []string{ScopeRead, ScopeWrite} }

// Lifetimes. Those of tokens and polls are the contract's; the others are
// documented in /auth.md.
const (
	TokenLifetime     = time.Hour
	ClaimWindow       = 24 * time.Hour
	CodeLifetime      = 10 * time.Minute
	CeremonyAssertion = 30 * 24 * time.Hour // of an assertion after a ceremony
	DirectAssertion   = time.Hour           // of an assertion for an accepted ID-JAG
	MaxAssertion      = CeremonyAssertion
	Skew              = time.Minute
	RedeemGrace       = 2 * time.Minute // in which a lost answer may be asked for again
	RedeemTries       = 3
	CodesPerClaim     = 10
	WrongCodes        = 5
	LocksBeforePause  = 3
	LockPause         = 30 * time.Minute
	PendingPerBlock   = 3  // registrations by login_hint that wait for an address, of one address block
	PendingPerMail    = 30 // the same, of all
	LiveTokens        = 12
	UnclaimedKeys     = 3
	ClaimedKeys       = 100
)

// A Status is the status of a registration.
type Status string

// The statuses of a registration.
const (
	Unclaimed Status = "unclaimed"
	Pending   Status = "pending_claim"
	Claimed   Status = "claimed"
	Expired   Status = "expired"
	Denied    Status = "denied"
	Revoked   Status = "revoked"
)

// A Registration is an agent that registered. Zero times mean "not yet".
type Registration struct {
	ID          string
	Kind        Kind
	WorkspaceID string
	AccountID   string
	Email       string // that the claim is bound to, in canonical form

	ISS, Sub, Aud, ClientID string // of the ID-JAG
	AMR                     []string
	Platform, Context       string

	// Generation rises when a claim completes, and at every revocation; tokens and
	// assertions of an older generation are void.
	Generation int

	ClaimHash                                               []byte // of the claim token; empty without one
	CreatedAt, ClaimExpires, ClaimedAt, DeniedAt, RevokedAt time.Time
	Refused                                                 []string // addresses whose owners pressed Deny
	Codes                                                   int      // issued in this window
	Locks                                                   int      // attempts locked since the last pause
	PausedUntil                                             time.Time
	Poll                                                    Poll
	Redeem                                                  Redeem
	CreatedIP, UserAgent                                    string
}

// Status returns the status of the registration at now.
func (r *Registration) Status(now time.Time) Status {
	switch {
	case !r.RevokedAt.IsZero():
		return Revoked
	case !r.ClaimedAt.IsZero():
		return Claimed
	case !r.DeniedAt.IsZero():
		return Denied
	case !now.Before(r.ClaimExpires):
		return Expired
	case r.Kind == Anonymous && r.Email == "":
		return Unclaimed
	default:
		return Pending
	}
}

// Scopes returns the scopes of a token of this registration at now. The scope does
// not rise when a ceremony merely begins.
func (r *Registration) Scopes(now time.Time) []string {
	switch status := r.Status(now); {
	case status == Claimed:
		return BothScopes()
	case r.Kind == Anonymous && (status == Unclaimed || status == Pending):
		return []string{ScopeWrite}
	default:
		return nil
	}
}

// MayExchange reports whether an assertion of a generation still mints tokens.
func (r *Registration) MayExchange(generation int, now time.Time) bool {
	return generation == r.Generation && len(r.Scopes(now)) > 0
}

// Claim completes the ceremony: the registration belongs to an account from now
// on, and whatever was issued before is void.
func (r *Registration) Claim(accountID, workspaceID string, now time.Time) {
	r.AccountID, r.WorkspaceID, r.ClaimedAt = accountID, workspaceID, now
	r.Generation++
	r.Redeem = Redeem{}
}

// Deny notes that the owner of the bound address refused. For an anonymous
// registration only that address is refused; any other ends here.
func (r *Registration) Deny(now time.Time) {
	if r.Kind != Anonymous {
		r.DeniedAt = now
		return
	}
	r.Refused = append(r.Refused, r.Email)
	r.Email = ""
}

// Lapse ends the claim window now: another registration takes its place.
func (r *Registration) Lapse(now time.Time) { r.ClaimExpires = now }

// Refuses reports whether the owner of an address pressed Deny before.
func (r *Registration) Refuses(email string) bool { return slices.Contains(r.Refused, email) }

// Revoke ends the registration and everything derived from it.
func (r *Registration) Revoke(now time.Time) {
	r.RevokedAt = now
	r.Generation++
	r.ClaimHash = nil
}

// Restart begins a new ceremony on the row of an ended registration, for an
// issuer that presents the same user again.
func (r *Registration) Restart(now time.Time) {
	r.Generation++
	r.AccountID = ""
	r.ClaimedAt, r.DeniedAt, r.RevokedAt, r.PausedUntil = time.Time{}, time.Time{}, time.Time{}, time.Time{}
	r.Codes, r.Locks, r.Redeem = 0, 0, Redeem{}
	r.ClaimExpires = now.Add(ClaimWindow)
}
