package ship

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

// flush sends pending events, or buffers them, and then stores the
// marks. When it returns without having done so, ctx has ended.
func (s *shipper) flush(ctx context.Context) error {
	for len(s.pending) > 0 && ctx.Err() == nil {
		if s.ready() && len(s.spool.names) == 0 {
			if err := s.sendPart(ctx); err != nil {
				return err
			}
			continue
		}
		if !s.Once && !s.spool.full() {
			if err := s.keep(); err != nil {
				return err
			}
			continue
		}
		if err := s.drain(ctx); err != nil { // reading waits
			return err
		}
		if !s.ready() {
			if err := s.patient(); err != nil {
				return err
			}
			s.Progress(s.stats)
			_ = s.Sleep(ctx, pollEvery) // the loop sees that ctx ended
		}
	}
	if len(s.pending) > 0 {
		return nil
	}
	return s.save()
}

// ready reports whether the time to send has come.
func (s *shipper) ready() bool { return !s.Now().Before(s.retryAt) }

// patient fails when one that reads once has waited long enough.
func (s *shipper) patient() error {
	if !s.Once || s.away.IsZero() {
		return nil
	}
	if now := s.Now(); now.Sub(s.away) >= retryFor || s.retryAt.Sub(now) > retryFor {
		return fmt.Errorf("%w: %s", ErrAway, s.stats.Waiting)
	}
	return nil
}

// save stores how far logs were read.
func (s *shipper) save() error {
	now := s.Now()
	for _, f := range s.followers {
		for _, src := range f.sources() {
			src.setMark(now)
		}
	}
	s.saved = now
	return s.state.save()
}

// part returns how many of the events at the front go into one request.
func part(list []entry) int {
	n, size := 0, 0
	for n < len(list) && n < batchEvents && list[n].Backfill == list[0].Backfill {
		if size += len(list[n].Event) + 1; n > 0 && size > batchBytes {
			break
		}
		n++
	}
	return n
}

// sendPart sends the first pending events. If the service is down, they stay.
func (s *shipper) sendPart(ctx context.Context) error {
	n := part(s.pending)
	if ok, err := s.send(ctx, s.pending[:n]); !ok {
		return err
	}
	s.pending = slices.Delete(s.pending, 0, n)
	return nil
}

// keep buffers the first pending events.
func (s *shipper) keep() error {
	n := part(s.pending)
	if err := s.spool.put(s.pending[:n]); err != nil {
		return fmt.Errorf("buffer: %w", err)
	}
	s.stats.Spooled = s.spool.wait
	s.pending = slices.Delete(s.pending, 0, n)
	return nil
}

// drain sends buffered events, as long as the service accepts them.
func (s *shipper) drain(ctx context.Context) error {
	for len(s.spool.names) > 0 && s.ready() && ctx.Err() == nil {
		batch, err := s.spool.oldest()
		if err != nil {
			return err
		}
		if ok, err := s.send(ctx, batch); !ok {
			return err
		}
		if err := s.spool.drop(len(batch)); err != nil {
			return fmt.Errorf("buffer: %w", err)
		}
		s.stats.Spooled = s.spool.wait
		s.Progress(s.stats)
	}
	if s.Once && len(s.spool.names) > 0 {
		return s.patient()
	}
	return nil
}

// send sends events in one request. It returns true when the service has answered
// for each of them; false without error when it is away.
func (s *shipper) send(ctx context.Context, batch []entry) (bool, error) {
	r, err := s.client.send(ctx, batch)
	var away *awayError
	switch {
	case errors.As(err, &away):
		if ctx.Err() == nil {
			s.wentAway(away)
		}
		return false, nil
	case errors.Is(err, errTooBig) && len(batch) > 1:
		if ok, err := s.send(ctx, batch[:len(batch)/2]); !ok {
			return false, err
		}
		return s.send(ctx, batch[len(batch)/2:])
	case errors.Is(err, errTooBig):
		return true, s.reject([]rejected{{batch[0], "too_large", err.Error()}})
	case err != nil:
		return false, err
	}
	if !s.away.IsZero() {
		s.Say("the service takes events again")
	}
	s.away, s.retryAt, s.backoff, s.stats.Waiting = time.Time{}, time.Time{}, firstBackoff, ""
	if r.Accepted != nil {
		s.stats.Sent += *r.Accepted
	}
	s.stats.Duplicates += r.Duplicates
	return true, s.refusals(batch, r)
}

// refusals handles the rejected events of a batch.
func (s *shipper) refusals(batch []entry, r *receipt) error {
	var list []rejected
	for _, e := range r.Errors {
		if e.Index < 0 || e.Index >= len(batch) {
			continue
		}
		if e.Code == "ts_too_old" { // the clocks differ, or it waited in the buffer
			s.stats.Old++
			continue
		}
		list = append(list, rejected{batch[e.Index], e.Code, e.Message})
	}
	return s.reject(list)
}

// reject counts refused events, shows some, and keeps all.
func (s *shipper) reject(list []rejected) error {
	if len(list) == 0 {
		return nil
	}
	s.stats.Rejected += int64(len(list))
	for _, r := range list {
		s.sample("rejected", r.Where, r.Message)
	}
	return s.spool.reject(list)
}

// wentAway notes that the service is away, and when to try again.
func (s *shipper) wentAway(e *awayError) {
	now := s.Now()
	if s.away.IsZero() {
		s.away = now
		s.Say("the service takes no events now, and is asked again: " + e.why)
	}
	pause := s.backoff/2 + rand.N(s.backoff) //nolint:gosec // spreads clients in time
	s.backoff = min(2*s.backoff, maxBackoff)
	s.retryAt = now.Add(max(pause, min(e.wait, maxRetry)))
	s.stats.Waiting = e.why
}

// last sends or buffers the lines read before an interrupt.
func (s *shipper) last(ctx context.Context) error {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), lastMoment)
	defer stop()
	for len(s.pending) > 0 && len(s.spool.names) == 0 && s.away.IsZero() && ctx.Err() == nil {
		if err := s.sendPart(ctx); err != nil {
			return err
		}
	}
	for len(s.pending) > 0 && !s.Once && !s.spool.full() {
		if err := s.keep(); err != nil {
			return err
		}
	}
	if len(s.pending) > 0 {
		return nil // the logs have it
	}
	return s.save()
}
