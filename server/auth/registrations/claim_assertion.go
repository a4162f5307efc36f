package registrations

import (
	"context"
	"errors"
	"time"

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
	err := s.withAssertion(ctx, c, raw, func(tx *state.Tx, now time.Time, a *trust.Assertion) error {
		*out = Registered{}
		r, err := tx.RegistrationByClaim(ctx, hash(claimToken))
		if err != nil {
			return err
		}
		if err := s.claimable(ctx, tx, now, r); err != nil {
			return err
		}
		out.Registration = r
		account, confirm, err := s.assertedFor(ctx, tx, now, a)
		if err != nil {
			return err
		}
		r.ISS, r.Sub, r.Aud = a.ISS, a.Sub, a.Aud
		s.describe(r, a)
		if confirm != "" {
			out.Claim, err = s.beginClaim(ctx, tx, now, c, r, confirm)
			return err
		}
		return s.claimFor(ctx, tx, now, c, out, account)
	})
	if errors.Is(err, state.ErrNotFound) {
		return nil, s.unknownClaim(ctx, c)
	}
	return out, err
}

// claimable refuses a registration that an ID-JAG cannot claim: one that is not
// anonymous, or for which a code is being typed.
func (s *Service) claimable(ctx context.Context, tx *state.Tx, now time.Time, r *identity.Registration) error {
	if err := mayClaim(r, now); err != nil {
		return err
	}
	attempt, err := tx.NewestAttempt(ctx, r.ID)
	if err != nil {
		return err
	}
	if r.Kind != identity.Anonymous || attempt != nil && attempt.StateAt(now) == identity.Active {
		return &apierr.Error{Status: 409, Code: "claimed_or_in_flight", Description: "A claim of this registration is under way already, or it is not an anonymous one."}
	}
	return nil
}

// claimFor gives the registration and its workspace to an account.
func (s *Service) claimFor(ctx context.Context, tx *state.Tx, now time.Time, c *Caller, out *Registered, account *state.Account) error {
	r := out.Registration
	if r.Refuses(account.Email) {
		return denied()
	}
	if err := s.take(ctx, tx, now, c, quota.Use{Rule: "claim.registration", Key: r.ID}); err != nil {
		return err
	}
	w, err := tx.Workspace(ctx, r.WorkspaceID)
	if err != nil {
		return err
	}
	out.WorkspaceSlug = w.Slug
	r.Email = account.Email
	r.Claim(account.ID, r.WorkspaceID, now)
	_, revoked := tx.RevokeTokens(ctx, r.ID, now)
	r.Spend(now) // the claim grant would bring an assertion that lives longer
	err = errors.Join(tx.ClaimWorkspace(ctx, r.WorkspaceID, account.ID, now), revoked, s.supersedeAttempts(ctx, tx, r.ID), tx.SaveRegistration(ctx, r),
		s.audit(ctx, tx, now, c, "claim.confirmed", r, map[string]string{"by": "id-jag"}))
	if err != nil {
		return err
	}
	return s.mint(ctx, tx, now, c, out, account, now.Add(identity.DirectAssertion))
}
