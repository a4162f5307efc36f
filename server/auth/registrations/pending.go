package registrations

import (
	"context"
	"errors"
	"net/netip"
	"slices"

	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/kit/ratelimit"
	"github.com/firstpick/firstpick/server/store/identity"
	"github.com/firstpick/firstpick/server/store/state"
)

// makeRoom ends a registration that waits for an address where as many wait as may:
// the oldest of the caller's address block, or else of the block that has most. The
// newest is never refused, and others are dropped only where an address has PendingPerMail in all.
func (u *unit) makeRoom(email string) error {
	if u.Limits.Off {
		return nil
	}
	waiting, err := u.tx.PendingOfKind(u.ctx, identity.ServiceAuth, email, u.now)
	if err != nil {
		return err
	}
	r := crowdedOut(waiting, u.caller.block())
	if r == nil {
		return nil
	}
	r.Lapse(u.now)
	if err := u.tx.SaveRegistration(u.ctx, r); err != nil {
		return err
	}
	return u.supersedeAttempts(r.ID)
}

// crowdedOut returns the registration that makes room for one more of a block, or
// nil where there is room. The list is sorted by age, oldest first.
func crowdedOut(waiting []*identity.Registration, block string) *identity.Registration {
	oldest, count := map[string]*identity.Registration{}, map[string]int{}
	most := block
	for _, r := range waiting {
		b := blockOf(r.CreatedIP)
		if count[b]++; count[b] == 1 {
			oldest[b] = r
		}
	}
	if count[block] >= identity.PendingPerBlock {
		return oldest[block]
	}
	if len(waiting) < identity.PendingPerMail {
		return nil
	}
	for _, r := range waiting { // in order of age, so that ties have an order
		if b := blockOf(r.CreatedIP); count[b] > count[most] {
			most = b
		}
	}
	return oldest[most]
}

func blockOf(ip string) string {
	a, err := netip.ParseAddr(ip)
	if err != nil {
		return ip
	}
	return ratelimit.Block(a)
}

// maxPendingShown bounds the list of Pending.
const maxPendingShown = 20

// Pending returns the newest registrations that wait for an account's address, and
// whether there are more.
func (s *Service) Pending(ctx context.Context, account *state.Account) ([]*identity.Registration, bool, error) {
	if !account.Verified() {
		return nil, false, nil
	}
	list, err := s.DB.Read().NewestPending(ctx, account.Email, s.Now(), maxPendingShown+1)
	if err != nil {
		return nil, false, s.DB.APIError(err)
	}
	return list[:min(len(list), maxPendingShown)], len(list) > maxPendingShown, nil
}

// DenyPending denies a registration that waits for an account's address. It fails
// with a 404 for one that waits for another, or no longer.
func (s *Service) DenyPending(ctx context.Context, c *Caller, account *state.Account, registration string) error {
	return s.write(ctx, c, func(u *unit) error {
		r, err := u.tx.Registration(ctx, sanitize(registration))
		if errors.Is(err, state.ErrNotFound) || err == nil && (!account.Verified() || r.Email != account.Email || r.Status(u.now) != identity.Pending) {
			return apierr.NotFound()
		}
		if err != nil {
			return err
		}
		a, err := u.tx.NewestAttempt(ctx, r.ID)
		if err != nil {
			return err
		}
		return u.deny(r, a)
	})
}

// deny ends a registration's ceremony on the word of the owner of its address.
func (u *unit) deny(r *identity.Registration, a *identity.Attempt) error {
	detail := map[string]string{}
	if a != nil && a.State == identity.Active {
		a.State, detail["attempt"] = identity.AttemptDenied, a.ID
		if err := u.tx.SaveAttempt(u.ctx, a); err != nil {
			return err
		}
	}
	r.Deny(u.now)
	if err := u.tx.SaveRegistration(u.ctx, r); err != nil {
		return err
	}
	return u.audit("claim.denied", r, detail)
}

// AwaitsDecision reports whether a person has to decide about an agent: one that names their
// address and waits for a code, or one that was linked before they first signed in.
func (s *Service) AwaitsDecision(ctx context.Context, account *state.Account) (bool, error) {
	pending, _, err := s.Pending(ctx, account)
	if err != nil || len(pending) > 0 {
		return len(pending) > 0, err
	}
	links, err := s.Linked(ctx, account)
	return slices.ContainsFunc(links, func(l Link) bool { return l.Unreviewed }), err
}
