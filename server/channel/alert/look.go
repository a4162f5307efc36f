package alert

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/firstpick/firstpick/server/channel/change"
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

// Run evaluates and sends until ctx ends. Ticks come about every ten seconds.
func (s *Service) Run(ctx context.Context, tick <-chan time.Time) {
	looks := make(chan struct{}, 1)
	var sending sync.WaitGroup
	defer sending.Wait()
	sending.Go(func() {
		for {
			sending.Go(func() { // due deliveries do not wait for a slow receiver
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
			if err := errors.Join(s.Look(ctx), s.LookAtPicks(ctx)); err != nil && ctx.Err() == nil {
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

// Look evaluates all workspaces that are due, and stores new alerts. One that fails
// is due again later and does not hold up the others.
func (s *Service) Look(ctx context.Context) error {
	if s.Traffic == nil {
		return nil
	}
	due, err := s.DB.Read().DueWatches(ctx, s.Now(), lookMost)
	if err != nil {
		return err
	}
	return each(ctx, due, s.lookAt)
}

// each looks at workspaces, one after the other. One that fails does not stop the others.
func each(ctx context.Context, workspaces []string, look func(ctx context.Context, workspace string) error) error {
	var errs []error
	for _, w := range workspaces {
		if ctx.Err() != nil {
			break
		}
		errs = append(errs, look(ctx, w))
	}
	return errors.Join(errs...)
}

func (s *Service) lookAt(ctx context.Context, workspace string) error {
	now := s.Now()
	var w *state.Watch
	var stored []state.OpenAlert
	if err := s.DB.Write(ctx, func(tx *state.Tx) error {
		var err error
		if w, err = tx.ClaimWatch(ctx, workspace, now, now.Add(lookEvery), lookPause); err != nil || w == nil {
			return err
		}
		stored, err = tx.OpenAlerts(ctx, workspace)
		return err
	}); err != nil || w == nil {
		return err
	}
	facts := change.Facts{Now: now, FirstAt: w.FirstAt, LastAt: w.LastAt, Days: w.Days, WatchedSince: w.Since}
	var failed error
	if facts.Traffic, failed = s.Traffic(ctx, workspace, w.LastAt); failed != nil {
		facts.Traffic = nil // silence does not need it
	}
	return errors.Join(failed, s.keep(ctx, workspace, now, Compare(facts, opened(stored))))
}

// keep stores a diff: alerts, with a delivery for each channel.
func (s *Service) keep(ctx context.Context, workspace string, now time.Time, r Diff) error {
	if len(r.New)+len(r.Held)+len(r.Over) == 0 {
		return nil
	}
	added := false
	err := s.transact(ctx, func(u *unit) error {
		u.now = now                                 // of the look
		hooks, err := u.tx.Channels(ctx, workspace) // first, for it locks the workspace
		if errors.Is(err, state.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		w, err := u.tx.Workspace(ctx, workspace)
		if err != nil {
			return err
		}
		for _, t := range r.Over {
			if err := u.tx.EndAlert(ctx, workspace, state.OpenAlert{What: t.What, Subject: t.Subject, SeenAt: t.Seen}); err != nil {
				return err
			}
		}
		for _, t := range r.Held {
			if err := u.tx.ConfirmAlert(ctx, workspace, state.OpenAlert{What: t.What, Subject: t.Subject, SeenAt: t.Seen}); err != nil {
				return err
			}
		}
		fresh, err := u.store(w, r.New)
		if err != nil || len(fresh) == 0 {
			return err
		}
		added = true
		return u.addDeliveries(w, hooks, fresh)
	})
	if err == nil && added {
		s.kick()
		s.Kick()
	}
	return err
}

// An event is the body of a webhook.
type event struct {
	Type      string      `json:"type"`
	Timestamp string      `json:"timestamp"`
	Workspace string      `json:"workspace"` // its slug
	Data      change.Data `json:"data"`
}

// An item is an alert with the lines of its mail.
type item struct {
	alert   *state.Alert
	details []string
}

// store stores the conditions that no other server stored, and returns them as alerts.
func (u *unit) store(w *state.Workspace, conditions []change.Condition) ([]item, error) {
	var out []item
	for _, c := range conditions {
		body, err := json.Marshal(event{c.Alert, stamp(u.now), w.Slug, c.Data})
		if err != nil {
			return nil, err
		}
		summary, details := c.Data.Describe()
		a := &state.Alert{ID: u.Secrets.ID("alr_"), WorkspaceID: w.ID, What: c.Alert, At: u.now, Summary: summary, Body: body}
		added, err := u.tx.AddAlert(u.ctx, a, c.Subject, c.Seen)
		if err != nil {
			return nil, err
		}
		if added {
			out = append(out, item{a, details})
		}
	}
	return out, nil
}

// addDeliveries stores a delivery of each alert for each webhook, and puts one mail
// of all of them into the outbox.
func (u *unit) addDeliveries(w *state.Workspace, hooks []*state.AlertChannel, fresh []item) error {
	mailed, err := u.mailAlerts(w, fresh)
	if err != nil {
		return err
	}
	for _, f := range fresh {
		d := state.Delivery{WorkspaceID: w.ID, AlertID: f.alert.ID, What: f.alert.What, Body: f.alert.Body, CreatedAt: u.now, NextAt: u.now}
		for _, h := range hooks {
			if !h.PausedAt.IsZero() {
				continue
			}
			d.ID, d.ChannelID, d.State = u.Secrets.ID("msg_"), h.ID, state.DeliveryPending
			if d.Body, err = u.body(w, h, f); err != nil {
				return err
			}
			if err := u.tx.AddDelivery(u.ctx, &d); err != nil {
				return err
			}
		}
		if mailed { // the outbox sends it
			d.ID, d.ChannelID, d.State, d.DoneAt, d.Tries, d.Body = u.Secrets.ID("msg_"), EmailID, state.Delivered, u.now, 1, f.alert.Body
			if err := u.tx.AddDelivery(u.ctx, &d); err != nil {
				return err
			}
		}
	}
	return nil
}
