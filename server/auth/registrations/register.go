package registrations

import (
	"context"
	"errors"
	"time"

	"github.com/firstpick/firstpick/server/auth/keyring"
	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/store/identity"
	"github.com/firstpick/firstpick/server/store/quota"
	"github.com/firstpick/firstpick/server/store/state"
)

// A Registered is the answer to a registration. The secrets in it are
// nowhere else.
type Registered struct {
	Registration  *identity.Registration
	WorkspaceSlug string
	Assertion     string // empty until a claim, where one is needed
	Expires       time.Time
	ClaimToken    string
	Claim         *Code // the code for the person; nil if no code was issued
}

// A Code is a code for a person to type, and the page to type it into.
type Code struct {
	AttemptID string
	UserCode  string
	ViewToken string
	ExpiresAt time.Time
}

// RegisterAnonymous makes a workspace that its agent may write to, and that
// somebody may claim within a day.
func (s *Service) RegisterAnonymous(ctx context.Context, c *Caller) (*Registered, error) {
	now := s.Now()
	out := &Registered{ClaimToken: s.Secrets.Token("clm_")}
	r := s.newRegistration(now, c, identity.Anonymous)
	r.ClaimHash = hash(out.ClaimToken)
	err := s.write(ctx, c, func(u *unit) error {
		if err := u.take(quota.Use{Rule: "anonymous.ip", Key: c.network()}, quota.Use{Rule: "anonymous.ip-day", Key: c.network()},
			quota.Use{Rule: "anonymous.block", Key: c.block()}, quota.Use{Rule: "anonymous.block-day", Key: c.block()}); err != nil {
			return err
		}
		if err := u.ceiling(quota.Use{Rule: "anonymous.all"}); err != nil {
			return err
		}
		w, err := u.newWorkspace("", r.ClaimExpires)
		if err != nil {
			return err
		}
		r.WorkspaceID, out.WorkspaceSlug = w.ID, w.Slug
		if err := u.tx.AddRegistration(ctx, r); err != nil {
			return err
		}
		if err := u.audit("registration.created", r, map[string]string{"kind": string(r.Kind)}); err != nil {
			return err
		}
		out.Registration = r
		return u.mint(out, nil, r.ClaimExpires)
	})
	return out, err
}

// RegisterServiceAuth begins a claim for the owner of an address. It does not
// look whether anybody has that address, so its answer reveals nothing.
func (s *Service) RegisterServiceAuth(ctx context.Context, c *Caller, hint string) (*Registered, error) {
	email, ok := identity.ParseEmail(hint)
	if !ok {
		return nil, apierr.BadBody("invalid_login_hint", "login_hint must be an e-mail address.")
	}
	now := s.Now()
	out := &Registered{ClaimToken: s.Secrets.Token("clm_")}
	r := s.newRegistration(now, c, identity.ServiceAuth)
	r.ClaimHash, r.Email = hash(out.ClaimToken), email
	err := s.write(ctx, c, func(u *unit) error {
		if err := u.take(quota.Use{Rule: "service-auth.ip", Key: c.network()}, quota.Use{Rule: "service-auth.email-block", Key: c.about(email)},
			quota.Use{Rule: "service-auth.email-block-day", Key: c.about(email)}); err != nil {
			return err
		}
		if err := u.ceiling(quota.Use{Rule: "service-auth.email", Key: email}, quota.Use{Rule: "service-auth.email-day", Key: email}); err != nil {
			return err
		}
		if err := u.makeRoom(email); err != nil {
			return err
		}
		if err := u.tx.AddRegistration(ctx, r); err != nil {
			return err
		}
		if err := u.audit("registration.created", r, map[string]string{"kind": string(r.Kind)}); err != nil {
			return err
		}
		var err error
		out.Claim, err = u.issueCode(r)
		return err
	})
	out.Registration = r
	return out, err
}

func (s *Service) newRegistration(now time.Time, c *Caller, k identity.Kind) *identity.Registration {
	return &identity.Registration{
		ID: s.Secrets.ID("reg_"), Kind: k, Generation: 1, CreatedAt: now, ClaimExpires: now.Add(identity.ClaimWindow),
		Poll: identity.Poll{Interval: identity.PollInterval}, CreatedIP: c.ip(), UserAgent: c.userAgent(),
	}
}

// issueCode makes a code and its link; the ones before it are dead at once. The
// registration is stored.
func (u *unit) issueCode(r *identity.Registration) (*Code, error) {
	code := &Code{AttemptID: u.Secrets.ID("cla_"), UserCode: u.Secrets.Code(), ViewToken: u.Secrets.Token("cvt_"), ExpiresAt: u.now.Add(identity.CodeLifetime)}
	err := u.tx.AddAttempt(u.ctx, &identity.Attempt{
		ID: code.AttemptID, RegistrationID: r.ID, ViewHash: hash(code.ViewToken), CodeMAC: u.codeMAC(code.AttemptID, code.UserCode),
		CreatedAt: u.now, ExpiresAt: code.ExpiresAt, State: identity.Active, IP: u.caller.ip(), UserAgent: u.caller.userAgent(),
	})
	if err != nil {
		return nil, err
	}
	r.NewCode()
	if err := u.tx.SaveRegistration(u.ctx, r); err != nil {
		return nil, err
	}
	return code, u.audit("user_code.minted", r, map[string]string{"attempt": code.AttemptID})
}

// codeMAC is the stored form of a code: it has a million values only, so it is
// keyed, and bound to its attempt.
func (s *Service) codeMAC(attempt, code string) []byte { return s.Vault.MAC("code", attempt, code) }

// mint signs the registration's assertion, for the account that it acts for, if
// any. It does so before the commit: a key that cannot sign must not cost the
// caller a token that works once.
func (u *unit) mint(out *Registered, account *state.Account, expires time.Time) error {
	r := out.Registration
	a := keyring.Assertion{
		RegistrationID: r.ID, Kind: r.Kind, Generation: r.Generation, AMR: r.AMR, JTI: u.Secrets.ID(""), IssuedAt: u.now, ExpiresAt: expires,
	}
	if account != nil {
		a.Email, a.EmailVerified = account.Email, account.Verified()
	}
	var err error
	if out.Assertion, err = u.Ring.Sign(u.ctx, a); err != nil {
		return err
	}
	out.Expires = expires.Truncate(time.Second) // the precision of the token
	return u.audit("assertion.issued", r, nil)
}

// StartClaim issues a fresh code for the owner of an address. It returns the
// registration's id too.
func (s *Service) StartClaim(ctx context.Context, c *Caller, claimToken, address string) (*Code, string, error) {
	var code *Code
	var id string
	err := s.write(ctx, c, func(u *unit) error {
		r, err := u.tx.RegistrationByClaim(ctx, hash(claimToken))
		if err != nil {
			return err
		}
		id = r.ID
		if err := mayClaim(r, u.now); err != nil {
			return err
		}
		email, ok := identity.ParseEmail(address)
		if !ok {
			return apierr.BadBody("invalid_email", "email is required and must be an e-mail address.")
		}
		if r.Kind != identity.Anonymous && email != r.Email {
			return apierr.BadBody("email_mismatch", "This registration is bound to another address.")
		}
		if r.Kind == identity.Anonymous { // an address alone does not prove the issuer's subject that claimed before
			r.ISS, r.Sub, r.Aud = "", "", ""
		}
		code, err = u.beginClaim(r, email)
		return err
	})
	if errors.Is(err, state.ErrNotFound) {
		return nil, "", s.unknownClaim(ctx, c)
	}
	return code, id, err
}

// mayClaim refuses a registration that can no longer be claimed.
func mayClaim(r *identity.Registration, now time.Time) error {
	switch r.Status(now) {
	case identity.Expired, identity.Revoked:
		return &apierr.Error{Status: 410, Code: "claim_expired", Description: "The time to claim this registration is over. Register again."}
	case identity.Claimed:
		return &apierr.Error{Status: 409, Code: "claimed_or_in_flight", Description: "This registration is claimed already."}
	case identity.Denied:
		return denied()
	default:
		return nil
	}
}

// beginClaim binds a registration to an address and issues a code for its owner.
func (u *unit) beginClaim(r *identity.Registration, email string) (*Code, error) {
	if r.Refuses(email) {
		return nil, denied()
	}
	if err := u.mayIssue(r, email); err != nil {
		return nil, err
	}
	r.Email = email
	if err := u.audit("claim.requested", r, nil); err != nil {
		return nil, err
	}
	return u.issueCode(r)
}

// unknownClaim is the failure of a claim token that no registration has.
func (s *Service) unknownClaim(ctx context.Context, c *Caller) error {
	if err := s.note(ctx, c, quota.Use{Rule: "unknown-tokens.ip", Key: c.network()}); err != nil {
		return err
	}
	return &apierr.Error{Status: 401, Code: "invalid_claim_token", Description: "This claim token is wrong or no longer valid. Register again."}
}

func denied() *apierr.Error {
	return apierr.AccessDenied("The owner of this address refused the registration.")
}

// mayIssue holds a registration to its caps of codes.
func (u *unit) mayIssue(r *identity.Registration, email string) error {
	if u.Limits.Off {
		return nil
	}
	switch {
	case u.now.Before(r.PausedUntil):
		e := apierr.RateLimited(int(r.PausedUntil.Sub(u.now).Seconds()) + 1)
		e.Description = "Too many wrong codes were typed. Wait before asking for another."
		return e
	case r.Codes >= identity.CodesPerClaim:
		e := apierr.RateLimited(int(r.ClaimExpires.Sub(u.now).Seconds()) + 1)
		e.Description = "This registration was given all the codes it can have. Register again."
		return e
	}
	if err := u.take(quota.Use{Rule: "claim.registration", Key: r.ID}, quota.Use{Rule: "claim.email-block", Key: u.caller.about(email)}); err != nil {
		return err
	}
	return u.ceiling(quota.Use{Rule: "claim.email", Key: email})
}
