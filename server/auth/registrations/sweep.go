package registrations

import (
	"context"
	"time"
)

// sweepBatch bounds the expiries that one transaction notes.
const sweepBatch = 500

// Sweep does the housekeeping: it marks expired registrations, makes due what a clock set
// too far ahead, deletes expired rows, and rotates signing keys by age.
func (s *Service) Sweep(ctx context.Context) error {
	now := s.Now()
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
	if n, err := s.DB.Rewind(ctx, now); err != nil {
		return err
	} else if n > 0 {
		s.Log.Warn("a clock was ahead: leases, checks and retries that it set far ahead are due now", "rows", n)
	}
	if _, err := s.DB.Sweep(ctx, now); err != nil {
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
	for {
		if err := s.Sweep(ctx); err != nil && ctx.Err() == nil {
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
