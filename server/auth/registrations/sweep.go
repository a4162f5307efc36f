package registrations

import (
	"context"
	"time"

	"github.com/firstpick/firstpick/server/store/state"
)

const (
	sweepBatch = 500 // expiries that one transaction notes
	// sweepStep bounds what a clock that is set ahead can delete in the minute
	// between two turns: other servers may still use it.
	sweepStep = 10 * time.Minute
)

// Sweep does the housekeeping: it marks expired registrations, makes due what a clock set
// too far ahead, deletes the rows that had expired at until, and rotates signing keys by age.
func (s *Service) Sweep(ctx context.Context, until time.Time) error {
	if err := s.transact(ctx, nil, func(u *unit) error {
		ended, err := u.tx.ExpiredRegistrations(ctx, u.now, sweepBatch)
		if err != nil {
			return err
		}
		for _, r := range ended {
			if err := u.audit("registration.expired", r, nil); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		return err
	}
	if n, err := s.DB.Rewind(ctx, s.Now()); err != nil {
		return err
	} else if n > 0 {
		s.Log.Warn("a clock was ahead: leases, checks and retries that it set far ahead are due now", "rows", n)
	}
	if _, err := s.DB.Sweep(ctx, until); err != nil {
		return err
	}
	if _, err := s.Ring.RotateOld(ctx); err != nil {
		return err
	}
	return s.Ring.DropRetired(ctx)
}

// Run does the housekeeping and sends mail until ctx ends. Ticks come about once
// a minute.
func (s *Service) Run(ctx context.Context, tick <-chan time.Time) {
	mailTick := make(chan time.Time)
	done := make(chan struct{})
	go func() { defer close(done); s.Outbox.Run(ctx, mailTick) }()
	defer func() { <-done }()
	until := s.lastAudit(ctx)
	for {
		if until = until.Add(sweepStep); until.After(s.Now()) {
			until = s.Now()
		}
		if err := s.Sweep(ctx, until); err != nil && ctx.Err() == nil {
			s.Log.Warn("housekeeping failed; it will be retried", "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case now := <-tick:
			select {
			case mailTick <- now:
			default: // it is sending
			}
		}
	}
}

// lastAudit returns the time of the newest audit entry, or now without one. Unlike the clock
// of this process it does not jump.
func (s *Service) lastAudit(ctx context.Context) time.Time {
	newest, err := s.DB.Read().AuditLog(ctx, state.AuditFilter{Limit: 1})
	if err != nil || len(newest) == 0 {
		return s.Now()
	}
	return newest[0].At
}
