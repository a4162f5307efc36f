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

// Notify processes a security event of a trusted issuer (RFC 8417, RFC 8935). An event
// that ends a user's delegation revokes the registrations of that subject and everything
// derived from them, except links made after the event. A repeated event is accepted
// and has no effect.
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
	defer s.Outbox.Kick()
	return s.write(ctx, c, func(u *unit) error {
		if err := u.take(quota.Use{Rule: "events.issuer", Key: e.ISS}); err != nil {
			return err
		}
		first, err := u.tx.UseOnce(ctx, "set", e.ISS, e.JTI, u.now.Add(keepEvents))
		if err != nil || !first || !e.Revokes {
			return err
		}
		return u.endSubject(&e)
	})
}

func (u *unit) endSubject(e *trust.Event) error {
	if err := u.tx.RevokeSubject(u.ctx, e.ISS, e.Sub, e.IssuedAt); err != nil {
		return err
	}
	list, err := u.tx.SubjectRegistrations(u.ctx, e.ISS, e.Sub)
	if err != nil {
		return err
	}
	for _, r := range list {
		// Events have whole seconds, so compare claims in whole seconds.
		if !r.RevokedAt.IsZero() || r.ClaimedAt.Truncate(time.Second).After(e.IssuedAt) {
			continue
		}
		if err := u.end(r, "event"); err != nil {
			return err
		}
	}
	d, err := u.tx.Delegation(u.ctx, e.ISS, e.Sub)
	if err != nil || d == nil || !d.RevokedAt.IsZero() || d.CreatedAt.Truncate(time.Second).After(e.IssuedAt) {
		return err
	}
	d.RevokedAt = u.now
	if err := u.tx.SaveDelegation(u.ctx, d); err != nil {
		return err
	}
	account, err := u.tx.Account(u.ctx, d.AccountID)
	if errors.Is(err, state.ErrNotFound) || err == nil && !account.Verified() {
		return nil
	}
	if err != nil {
		return err
	}
	return u.Outbox.Put(u.ctx, u.tx, u.now, u.unlinkedMail(account, u.Issuers.nameIn(u.ctx, u.tx, e.ISS)))
}

// end revokes a registration and everything derived from it.
func (u *unit) end(r *identity.Registration, by string) error {
	r.Revoke(u.now)
	if err := u.tx.SaveRegistration(u.ctx, r); err != nil {
		return err
	}
	if err := u.supersedeAttempts(r.ID); err != nil {
		return err
	}
	if _, err := u.tx.RevokeTokens(u.ctx, r.ID, u.now); err != nil {
		return err
	}
	return u.audit("registration.revoked", r, map[string]string{"by": by})
}
