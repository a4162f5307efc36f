package registrations

import (
	"context"
	"time"

	"github.com/firstpick/firstpick/server/store/identity"
	"github.com/firstpick/firstpick/server/store/quota"
	"github.com/firstpick/firstpick/server/store/state"
)

// A unit is one transaction of a Service, for a caller; nil for an operator. It carries
// its context, against the usual advice, because it never outlives the function that
// write calls with it; passing ctx, tx, now and caller to every helper hid the
// parameters that differ.
type unit struct {
	*Service
	ctx    context.Context
	tx     *state.Tx
	now    time.Time
	caller *Caller
}

// write runs fn in a transaction and returns an *apierr.Error.
func (s *Service) write(ctx context.Context, c *Caller, fn func(u *unit) error) error {
	return s.DB.APIError(s.transact(ctx, c, fn))
}

// transact is write for operators and background work: it returns the errors of the
// store. fn may run again.
func (s *Service) transact(ctx context.Context, c *Caller, fn func(u *unit) error) error {
	now := s.Now()
	return s.DB.Write(ctx, func(tx *state.Tx) error { return fn(&unit{s, ctx, tx, now, c}) })
}

// take counts uses against the caller's limits, and fails when one is exceeded.
func (u *unit) take(uses ...quota.Use) error {
	return u.Limits.Take(u.ctx, u.tx, u.now, &u.caller.Seen, uses...)
}

func (u *unit) ceiling(uses ...quota.Use) error {
	return u.Limits.Ceiling(u.ctx, u.tx, u.now, &u.caller.Seen, u.caller.block(), uses...)
}

// audit appends an entry about a registration.
func (u *unit) audit(event string, r *identity.Registration, detail map[string]string) error {
	e := state.AuditEntry{
		ID: u.Secrets.ID("aud_"), At: u.now, Event: event, RegistrationID: r.ID, WorkspaceID: r.WorkspaceID, AccountID: r.AccountID, ISS: r.ISS, Detail: detail,
	}
	if r.Platform != "" || r.Context != "" {
		if e.Detail == nil {
			e.Detail = map[string]string{}
		}
		e.Detail["agent_platform"], e.Detail["agent_context_id"] = r.Platform, r.Context
	}
	if u.caller != nil && u.caller.IP.IsValid() {
		e.IP = u.caller.ip()
	}
	return u.tx.Audit(u.ctx, e)
}
