package registrations

import (
	"context"
	"crypto/subtle"
	"errors"
	"time"

	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/store/identity"
	"github.com/firstpick/firstpick/server/store/quota"
	"github.com/firstpick/firstpick/server/store/state"
)

// A Ceremony is the data that a signed-in person reviews before confirming.
type Ceremony struct {
	Status       Stage
	BoundEmail   string // masked unless it is the person's
	Registration *identity.Registration
	Attempt      *identity.Attempt
	Workspace    *state.Workspace   // that is claimed; nil when one is to be chosen or made
	Choices      []*state.Workspace // of the person's, where one may be chosen
	Provider     string             // our name of the issuer; empty without one
	// Advisories: the person's first agent, or the first of this provider.
	FirstAgent, FirstProvider bool
	Left                      int // tries
}

// A Stage is how far a ceremony got.
type Stage int

// The stages of a ceremony.
const (
	Unknown Stage = iota // no such link, or a newer one replaced it
	Open
	Done
	Lapsed
	Locked
	Denied
	NotYours // it is bound to another address
)

// Ceremony returns the ceremony of a link, for a person.
func (s *Service) Ceremony(ctx context.Context, account *state.Account, viewHash []byte) (*Ceremony, error) {
	var out *Ceremony
	err := s.write(ctx, nil, func(u *unit) error { // a transaction, so that all of it is of one moment
		var err error
		out, err = u.ceremony(account, viewHash)
		return err
	})
	return out, err
}

func (u *unit) ceremony(account *state.Account, viewHash []byte) (*Ceremony, error) {
	a, err := u.tx.AttemptByView(u.ctx, viewHash)
	if errors.Is(err, state.ErrNotFound) {
		return &Ceremony{}, nil
	}
	if err != nil {
		return nil, err
	}
	r, err := u.tx.Registration(u.ctx, a.RegistrationID)
	if err != nil {
		return nil, err
	}
	if a, err = u.tx.AttemptByView(u.ctx, viewHash); err != nil { // again, now that the registration is locked
		return nil, err
	}
	out := &Ceremony{Status: stage(r, a, u.now)}
	if out.Status == Unknown || out.Status == Denied {
		return out, nil
	}
	if r.Email != account.Email || !account.Verified() {
		out.Status, out.BoundEmail = NotYours, identity.MaskEmail(r.Email)
		return out, nil
	}
	out.Registration, out.Attempt, out.BoundEmail, out.Left = r, a, r.Email, identity.WrongCodes-a.Wrong
	if out.Status != Open {
		return out, nil
	}
	return out, u.describeCeremony(account, out)
}

func stage(r *identity.Registration, a *identity.Attempt, now time.Time) Stage {
	switch a.StateAt(now) {
	case identity.Completed:
		if r.Status(now) == identity.Claimed {
			return Done
		}
		return Unknown
	case identity.Locked:
		return Locked
	case identity.AttemptExpired:
		return Lapsed
	case identity.AttemptDenied:
		return Denied
	case identity.Active:
	default:
		return Unknown
	}
	switch r.Status(now) {
	case identity.Pending:
		return Open
	case identity.Expired:
		return Lapsed
	default:
		return Unknown
	}
}

func (u *unit) describeCeremony(account *state.Account, out *Ceremony) error {
	r := out.Registration
	var err error
	if r.Kind == identity.Anonymous {
		if out.Workspace, err = u.tx.Workspace(u.ctx, r.WorkspaceID); err != nil {
			return err
		}
	} else if out.Choices, err = u.tx.Workspaces(u.ctx, account.ID); err != nil {
		return err
	}
	linked, err := u.tx.AccountRegistrations(u.ctx, account.ID)
	if err != nil {
		return err
	}
	out.FirstAgent = true
	for _, other := range linked {
		if other.RevokedAt.IsZero() {
			out.FirstAgent = false
		}
	}
	if r.ISS != "" {
		known, err := u.tx.HasDelegation(u.ctx, account.ID, r.ISS)
		if err != nil {
			return err
		}
		out.FirstProvider, out.Provider = !known, u.Issuers.nameIn(u.ctx, u.tx, r.ISS)
	}
	return nil
}

// A Confirmation is the form that completes a ceremony.
type Confirmation struct {
	ViewHash  []byte
	Code      string
	Workspace string // slug of one of the person's; empty for a new one
}

// Confirm completes a ceremony with the code that the person typed. A wrong code
// leaves it open. It returns the ceremony afterwards, and whether the code was right.
func (s *Service) Confirm(ctx context.Context, c *Caller, account *state.Account, submitted Confirmation) (*Ceremony, bool, error) {
	var out *Ceremony
	var right bool
	err := s.write(ctx, c, func(u *unit) error {
		out, right = nil, false
		account, err := u.tx.Account(ctx, account.ID) // it may be disabled since
		if err != nil {
			return err
		}
		if account.Disabled() {
			return apierr.AccessDenied("This account is disabled.")
		}
		if out, err = u.ceremony(account, submitted.ViewHash); err != nil || out.Status != Open {
			return err
		}
		wrongByAccount, wrongByIP := quota.Use{Rule: "wrong-codes.account", Key: account.ID}, quota.Use{Rule: "wrong-codes.ip", Key: c.network()}
		for _, use := range []quota.Use{wrongByAccount, wrongByIP} {
			if err := s.Limits.Check(ctx, u.tx, u.now, &c.Seen, use); err != nil {
				return err
			}
		}
		a := out.Attempt
		if right = subtle.ConstantTimeCompare(a.CodeMAC, s.codeMAC(a.ID, submitted.Code)) == 1; !right {
			return u.wrongCode(out, wrongByAccount, wrongByIP)
		}
		out.Status = Done
		return u.complete(out, account, submitted.Workspace)
	})
	if err == nil && right {
		s.Outbox.Kick()
	}
	return out, right, err
}

func (u *unit) wrongCode(out *Ceremony, uses ...quota.Use) error {
	if err := u.take(uses...); err != nil {
		return err
	}
	a, r := out.Attempt, out.Registration
	a.WrongCode()
	out.Left = identity.WrongCodes - a.Wrong
	if err := u.tx.SaveAttempt(u.ctx, a); err != nil || a.State != identity.Locked {
		return err
	}
	out.Status = Locked
	r.Lock(u.now)
	if err := u.tx.SaveRegistration(u.ctx, r); err != nil {
		return err
	}
	return u.audit("claim.locked", r, map[string]string{"attempt": a.ID})
}

// complete links the registration to the account: everything that was issued
// before is void from the commit on.
func (u *unit) complete(out *Ceremony, account *state.Account, workspace string) error {
	r, a := out.Registration, out.Attempt
	if err := u.settleWorkspace(out, account, workspace); err != nil {
		return err
	}
	r.Claim(account.ID, out.Workspace.ID, u.now)
	if err := u.tx.SaveRegistration(u.ctx, r); err != nil {
		return err
	}
	if _, err := u.tx.RevokeTokens(u.ctx, r.ID, u.now); err != nil {
		return err
	}
	a.State = identity.Completed
	if err := u.tx.SaveAttempt(u.ctx, a); err != nil {
		return err
	}
	if r.ISS != "" {
		if err := u.tx.SaveDelegation(u.ctx, &state.Delegation{ISS: r.ISS, Sub: r.Sub, AccountID: account.ID, CreatedAt: u.now, ReviewedAt: u.now}); err != nil {
			return err
		}
	}
	if err := u.audit("claim.confirmed", r, map[string]string{"attempt": a.ID}); err != nil {
		return err
	}
	return u.Outbox.Put(u.ctx, u.tx, u.now, u.linkedMail(account, out))
}

func (u *unit) settleWorkspace(out *Ceremony, account *state.Account, chosen string) error {
	if out.Workspace != nil {
		return u.tx.ClaimWorkspace(u.ctx, out.Workspace.ID, account.ID, u.now)
	}
	for _, w := range out.Choices {
		if w.Slug == chosen {
			_, err := u.access(account.ID, w.Slug, identity.Owner)
			out.Workspace = w
			return err
		}
	}
	if chosen != "" {
		return apierr.BadBody("unknown_workspace", "That workspace is not yours.")
	}
	var err error
	out.Workspace, err = u.newWorkspace(account.ID, u.now)
	return err
}

// Deny ends a ceremony on the person's word; no code is needed for that.
func (s *Service) Deny(ctx context.Context, c *Caller, account *state.Account, viewHash []byte) (*Ceremony, error) {
	var out *Ceremony
	err := s.write(ctx, c, func(u *unit) error {
		var err error
		if out, err = u.ceremony(account, viewHash); err != nil || out.Status != Open {
			return err
		}
		out.Status = Denied
		return u.deny(out.Registration, out.Attempt)
	})
	return out, err
}
