package alert

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/firstpick/firstpick/server/store/state"
)

const (
	// lookEvery is how often each workspace is looked at.
	lookEvery = 5 * time.Minute
	// lookPause is after how long without a look the time is not counted as watched.
	lookPause = 30 * time.Minute
	// lookMost bounds the workspaces of one round.
	lookMost = 500
)

// Run looks and sends until ctx ends. Ticks come about every ten seconds.
func (s *Service) Run(ctx context.Context, tick <-chan time.Time) {
	looks := make(chan struct{}, 1)
	var sending sync.WaitGroup
	defer sending.Wait()
	sending.Go(func() {
		for {
			sending.Go(func() { // what comes due does not wait for a slow receiver
				if err := s.Send(ctx); err != nil && ctx.Err() == nil {
					s.Log.Warn("alerts were not sent; retrying", "err", err)
				}
			})
			select {
			case <-ctx.Done():
				return
			case <-s.wake:
			}
		}
	})
	sending.Go(func() {
		for {
			if err := s.Look(ctx); err != nil && ctx.Err() == nil {
				s.Log.Warn("a check for alerts failed; retrying", "err", err)
			}
			select {
			case <-ctx.Done():
				return
			case <-looks:
			}
		}
	})
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick:
			s.kick()
			select {
			case looks <- struct{}{}:
			default: // it is looking
			}
		}
	}
}

// kick makes Run send.
func (s *Service) kick() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// Look looks at all workspaces that are due, and stores what is new. One that
// fails is due again later and keeps no other from its turn.
func (s *Service) Look(ctx context.Context) error {
	if s.Traffic == nil {
		return nil
	}
	due, err := s.DB.Read().DueWatches(ctx, s.Now(), lookMost)
	if err != nil {
		return err
	}
	var errs []error
	for _, workspace := range due {
		if ctx.Err() != nil {
			break
		}
		errs = append(errs, s.lookAt(ctx, workspace))
	}
	return errors.Join(errs...)
}

func (s *Service) lookAt(ctx context.Context, workspace string) error {
	now := s.Now()
	var w *state.Watch
	var stored []state.Told
	if err := s.DB.Write(ctx, func(tx *state.Tx) error {
		var err error
		if w, err = tx.TakeWatch(ctx, workspace, now, now.Add(lookEvery), lookPause); err != nil || w == nil {
			return err
		}
		stored, err = tx.ToldAlerts(ctx, workspace)
		return err
	}); err != nil || w == nil {
		return err
	}
	facts := Facts{FirstAt: w.FirstAt, LastAt: w.LastAt, Days: w.Days, Since: w.Since}
	var failed error
	if facts.Traffic, failed = s.Traffic(ctx, workspace, w.LastAt); failed != nil {
		facts.Traffic = nil // silence does not need it
	}
	told := make([]Told, len(stored))
	for i, t := range stored {
		told[i] = Told{What: t.What, Subject: t.Subject, At: t.At, Seen: t.SeenAt}
	}
	return errors.Join(failed, s.keep(ctx, workspace, now, Find(now, facts, told)))
}

// keep stores a result: alerts, with a delivery for each channel.
func (s *Service) keep(ctx context.Context, workspace string, now time.Time, r Result) error {
	if len(r.New)+len(r.Still)+len(r.Over) == 0 {
		return nil
	}
	told := false
	err := s.DB.Write(ctx, func(tx *state.Tx) error {
		hooks, err := tx.Channels(ctx, workspace) // first, for it locks the workspace
		if errors.Is(err, state.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		w, err := tx.Workspace(ctx, workspace)
		if err != nil {
			return err
		}
		for _, t := range r.Over {
			if err := tx.EndAlert(ctx, workspace, state.Told{What: t.What, Subject: t.Subject, SeenAt: t.Seen}); err != nil {
				return err
			}
		}
		for _, t := range r.Still {
			if err := tx.SeeAlert(ctx, workspace, state.Told{What: t.What, Subject: t.Subject, SeenAt: t.Seen}); err != nil {
				return err
			}
		}
		fresh, err := s.store(ctx, tx, now, w, r.New)
		if err != nil || len(fresh) == 0 {
			return err
		}
		told = true
		return s.address(ctx, tx, now, w, hooks, fresh)
	})
	if err == nil && told {
		s.kick()
		s.Kick()
	}
	return err
}

// An event is what a webhook gets.
type event struct {
	Type      string `json:"type"`
	Timestamp string `json:"timestamp"`
	Workspace string `json:"workspace"` // its slug
	Data      Data   `json:"data"`
}

// An item is an alert with the lines of its mail.
type item struct {
	alert   *state.Alert
	details []string
}

// store stores findings that nobody told, and returns them as alerts.
func (s *Service) store(ctx context.Context, tx *state.Tx, now time.Time, w *state.Workspace, findings []Finding) ([]item, error) {
	var out []item
	for _, f := range findings {
		body, err := json.Marshal(event{f.What, stamp(now), w.Slug, f.Data})
		if err != nil {
			return nil, err
		}
		summary, details := f.Data.tell()
		a := &state.Alert{ID: s.Secrets.ID("alr_"), WorkspaceID: w.ID, What: f.What, At: now, Summary: summary, Body: body}
		added, err := tx.AddAlert(ctx, a, f.Subject, f.Seen)
		if err != nil {
			return nil, err
		}
		if added {
			out = append(out, item{a, details})
		}
	}
	return out, nil
}

// address stores a delivery of each alert for each webhook, and puts one mail of
// all of them into the outbox.
func (s *Service) address(ctx context.Context, tx *state.Tx, now time.Time, w *state.Workspace, hooks []*state.AlertChannel, fresh []item) error {
	mailed, err := s.mailAlerts(ctx, tx, now, w, fresh)
	if err != nil {
		return err
	}
	for _, f := range fresh {
		d := state.Delivery{WorkspaceID: w.ID, AlertID: f.alert.ID, What: f.alert.What, Body: f.alert.Body, CreatedAt: now, NextAt: now}
		for _, h := range hooks {
			if !h.PausedAt.IsZero() {
				continue
			}
			d.ID, d.ChannelID, d.State = s.Secrets.ID("msg_"), h.ID, state.DeliveryPending
			if err := tx.AddDelivery(ctx, &d); err != nil {
				return err
			}
		}
		if mailed { // what becomes of it is the outbox's business
			d.ID, d.ChannelID, d.State, d.DoneAt, d.Tries = s.Secrets.ID("msg_"), EmailID, state.Delivered, now, 1
			if err := tx.AddDelivery(ctx, &d); err != nil {
				return err
			}
		}
	}
	return nil
}
