package registrations

import (
	"context"
	"errors"

	"github.com/firstpick/firstpick/server/auth/trust"
	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/store/identity"
	"github.com/firstpick/firstpick/server/store/quota"
	"github.com/firstpick/firstpick/server/store/state"
)

// ClaimByAssertion claims an anonymous registration for the user of an ID-JAG. A
// Registered without Assertion has a code: the address belongs to an account, whose
// owner must confirm. The registration belongs to the issuer's subject from then on, so
// the issuer's revocation ends it.
func (s *Service) ClaimByAssertion(ctx context.Context, c *Caller, claimToken, raw string) (*Registered, error) {
	out := &Registered{}
	err := s.withAssertion(ctx, c, raw, func(u *unit, a *trust.Assertion) error {
		*out = Registered{}
		r, err := u.tx.RegistrationByClaim(ctx, hash(claimToken))
		if err != nil {
			return err
		}
		if err := u.claimable(r); err != nil {
			return err
		}
		out.Registration = r
		account, confirm, err := u.assertedFor(a)
		if err != nil {
			return err
		}
		r.ISS, r.Sub, r.Aud = a.ISS, a.Sub, a.Aud
		s.describe(r, a)
		if confirm != "" {
			out.Claim, err = u.beginClaim(r, confirm)
			return err
		}
		return u.claimFor(out, account)
	})
	if errors.Is(err, state.ErrNotFound) {
		return nil, s.unknownClaim(ctx, c)
	}
	return out, err
}

// claimable refuses a registration that an ID-JAG cannot claim: one that is not
// anonymous, or for which a code is being typed.
func (u *unit) claimable(r *identity.Registration) error {
	if err := mayClaim(r, u.now); err != nil {
		return err
	}
	attempt, err := u.tx.NewestAttempt(u.ctx, r.ID)
	if err != nil {
		return err
	}
	if r.Kind != identity.Anonymous || attempt != nil && attempt.StateAt(u.now) == identity.Active {
		return &apierr.Error{Status: 409, Code: "claimed_or_in_flight", Description: "A claim of this registration is under way already, or it is not an anonymous one."}
	}
	return nil
}

// claimFor gives the registration and its workspace to an account.
func (u *unit) claimFor(out *Registered, account *state.Account) error {
	r := out.Registration
	if r.Refuses(account.Email) {
		return denied()
	}
	if err := u.take(quota.Use{Rule: "claim.registration", Key: r.ID}); err != nil {
		return err
	}
	w, err := u.tx.Workspace(u.ctx, r.WorkspaceID)
	if err != nil {
		return err
	}
	out.WorkspaceSlug = w.Slug
	r.Email = account.Email
	r.Claim(account.ID, r.WorkspaceID, u.now)
	_, revoked := u.tx.RevokeTokens(u.ctx, r.ID, u.now)
	r.Spend(u.now) // the claim grant would bring an assertion that lives longer
	err = errors.Join(u.tx.ClaimWorkspace(u.ctx, r.WorkspaceID, account.ID, u.now), revoked, u.supersedeAttempts(r.ID), u.tx.SaveRegistration(u.ctx, r),
		u.audit("claim.confirmed", r, map[string]string{"by": "id-jag"}))
	if err != nil {
		return err
	}
	return u.mint(out, account, u.now.Add(identity.DirectAssertion))
}
