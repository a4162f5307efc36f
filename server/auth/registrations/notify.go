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

// keepEvents is for how long an event is known again.
const keepEvents = 30 * 24 * time.Hour

// Notify takes in a security event of a trusted issuer (RFC 8417, RFC 8935). One
// that ends a user's delegation kills the registrations of that subject and
// everything derived from them; links made after the event are left alone. An
// event that came before is accepted and does nothing.
func (s *Service) Notify(ctx context.Context, c *Caller, raw string) error {
	failures := quota.Use{Rule: "event-failures.ip", Key: c.network()}
	if err := s.barred(ctx, c, failures); err != nil {
		return err
	}
	e, err := s.Trust.Event(ctx, raw)
	if err != nil {
		err = s.refused(ctx, c, err)
		if apierr.Of(err).Status < 500 {
			if noted := s.note(ctx, c, failures); noted != nil {
				return noted
			}
		}
		return err
	}
	now := s.Now()
	defer s.Outbox.Kick()
	return s.write(ctx, func(tx *state.Tx) error {
		if err := s.take(ctx, tx, now, c, quota.Use{Rule: "events.issuer", Key: e.ISS}); err != nil {
			return err
		}
		first, err := tx.UseOnce(ctx, "set", e.ISS, e.JTI, now.Add(keepEvents))
		if err != nil || !first || !e.Revokes {
			return err
		}
		return s.endSubject(ctx, tx, now, c, &e)
	})
}

func (s *Service) endSubject(ctx context.Context, tx *state.Tx, now time.Time, c *Caller, e *trust.Event) error {
	if err := tx.RevokeSubject(ctx, e.ISS, e.Sub, e.IssuedAt); err != nil {
		return err
	}
	list, err := tx.SubjectRegistrations(ctx, e.ISS, e.Sub)
	if err != nil {
		return err
	}
	for _, r := range list {
		// A claim is compared in whole seconds, for those are what an event has.
		if !r.RevokedAt.IsZero() || r.ClaimedAt.Truncate(time.Second).After(e.IssuedAt) {
			continue
		}
		if err := s.end(ctx, tx, now, c, r, "event"); err != nil {
			return err
		}
	}
	d, err := tx.Delegation(ctx, e.ISS, e.Sub)
	if err != nil || d == nil || !d.RevokedAt.IsZero() || d.CreatedAt.Truncate(time.Second).After(e.IssuedAt) {
		return err
	}
	d.RevokedAt = now
	if err := tx.SaveDelegation(ctx, d); err != nil {
		return err
	}
	account, err := tx.Account(ctx, d.AccountID)
	if errors.Is(err, state.ErrNotFound) || err == nil && !account.Verified() {
		return nil
	}
	if err != nil {
		return err
	}
	return s.Outbox.Put(ctx, tx, now, s.unlinkedMail(account, s.Issuers.NameOf(ctx, e.ISS)))
}

// end revokes a registration and what was derived from it.
func (s *Service) end(ctx context.Context, tx *state.Tx, now time.Time, c *Caller, r *identity.Registration, by string) error {
	r.Revoke(now)
	if err := tx.SaveRegistration(ctx, r); err != nil {
		return err
	}
	if err := s.supersedeAttempts(ctx, tx, r.ID); err != nil {
		return err
	}
	if _, err := tx.RevokeTokens(ctx, r.ID, now); err != nil {
		return err
	}
	return s.audit(ctx, tx, now, c, "registration.revoked", r, map[string]string{"by": by})
}
