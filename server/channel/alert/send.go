package alert

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	"github.com/firstpick/firstpick/server/channel/change"
	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/kit/safehttp"
	"github.com/firstpick/firstpick/server/store/state"
)

const (
	senders    = 8           // deliveries under way at once, each to another webhook
	callLease  = time.Minute // in which one server alone tries a delivery
	ignoreBody = 64 << 10    // bytes of an answer that are read, for the connection's sake

	retryFirst = 10 * time.Second // pause after the first failure; it doubles
	retryMost  = 4 * time.Hour
	// retryAfterMost limits a receiver's Retry-After.
	retryAfterMost = 6 * time.Hour
	giveUpAfter    = 24 * time.Hour
	pauseAfter     = 5 * 24 * time.Hour // of failures without a success between
)

// Send tries the due deliveries with the free senders, and returns when all are tried.
// It may be called concurrently: a slow receiver blocks one sender.
func (s *Service) Send(ctx context.Context) error {
	due, err := s.DB.Read().DueDeliveries(ctx, s.Now())
	if err != nil {
		return err
	}
	errs := make([]error, min(due, senders))
	var all sync.WaitGroup
	for i := range errs {
		select {
		case s.senders <- struct{}{}:
		default:
			continue // the others go on until nothing is due
		}
		all.Go(func() {
			defer func() { <-s.senders }()
			for more := true; more && errs[i] == nil && ctx.Err() == nil; {
				more, errs[i] = s.sendOne(ctx)
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// sendOne tries the delivery that is due longest, and returns false without one.
func (s *Service) sendOne(ctx context.Context) (bool, error) {
	var d *state.Delivery
	var h *state.AlertChannel
	err := s.DB.Write(ctx, func(tx *state.Tx) error {
		var err error
		d, h, err = tx.ClaimDelivery(ctx, s.Now(), callLease)
		return err
	})
	if err != nil || d == nil {
		return false, err
	}
	a := s.call(ctx, h, d)
	if ctx.Err() != nil && !a.ok() {
		return false, nil // the server stops: when the lease is over, it is sent again
	}
	return true, s.conclude(context.WithoutCancel(ctx), d, a)
}

// An answer is how a call ended.
type answer struct {
	status     int // 0 without a response
	failure    string
	retryAfter time.Duration
	took       time.Duration
}

func (a answer) ok() bool { return a.failure == "" }

// call sends a delivery. The URL is in no error: it may hold a token.
func (s *Service) call(ctx context.Context, h *state.AlertChannel, d *state.Delivery) answer {
	began := s.Now()
	secrets := []string{h.Secret}
	if h.OldSecret != "" && began.Before(h.OldUntil) {
		secrets = append(secrets, h.OldSecret)
	}
	signature, err := sign(d.ID, began, d.Body, secrets...)
	if err != nil {
		return answer{failure: err.Error()}
	}
	ctx, cancel := context.WithTimeout(ctx, CallTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, h.URL, bytes.NewReader(d.Body))
	if err != nil {
		return answer{failure: "the URL cannot be called"}
	}
	req.Header = http.Header{
		"Content-Type": {"application/json"}, "User-Agent": {"firstpick-webhook/1"},
		"Webhook-Id": {d.ID}, "Webhook-Timestamp": {strconv.FormatInt(began.Unix(), 10)}, "Webhook-Signature": {signature},
	}
	res, err := s.HTTP.Do(req)
	if err != nil {
		if outer := (*url.Error)(nil); errors.As(err, &outer) { // for the operator; the outer error holds the address
			s.Log.Info("calling a webhook failed", "workspace", h.WorkspaceID, "webhook", h.ID, "err", outer.Err)
		}
		return answer{failure: reason(err), took: s.Now().Sub(began)}
	}
	_, _ = io.CopyN(io.Discard, res.Body, ignoreBody) // the status is the answer
	_ = res.Body.Close()
	a := answer{status: res.StatusCode, took: s.Now().Sub(began)}
	switch {
	case a.status >= 200 && a.status < 300:
	case a.status >= 300 && a.status < 400:
		a.failure = fmt.Sprintf("the receiver returned %d: redirects are not followed; enter their target", a.status)
	default:
		a.failure = fmt.Sprintf("the receiver returned %d", a.status)
		a.retryAfter = retryAfter(res.Header.Get("Retry-After"), began)
	}
	return a
}

// reason returns why a call failed, for the workspace. All connection failures are one:
// their details would reveal names and addresses of the server's network.
func reason(err error) string {
	var outer *url.Error
	var certificate *tls.CertificateVerificationError
	switch {
	case errors.As(err, &outer) && outer.Timeout():
		return fmt.Sprintf("the receiver did not respond within %v", CallTimeout)
	case errors.Is(err, safehttp.ErrPort):
		return "the port is not allowed for webhooks"
	case errors.As(err, &certificate): // of a public address that answered
		return "the certificate of the receiver is invalid"
	}
	return "could not connect: the URL must be an HTTPS server on the public internet"
}

// retryAfter reads seconds or a date.
func retryAfter(header string, now time.Time) time.Duration {
	wait := time.Duration(0)
	if n, err := strconv.Atoi(header); err == nil {
		wait = min(time.Duration(n), retryAfterMost/time.Second) * time.Second
	} else if at, err := http.ParseTime(header); err == nil {
		wait = at.Sub(now)
	}
	return min(max(wait, 0), retryAfterMost)
}

// backoff returns the pause after a number of tries: it doubles, give or take a
// quarter, so that deliveries which failed together do not come back together.
func (s *Service) backoff(tries int) time.Duration {
	pause := min(retryFirst<<min(tries-1, 20), retryMost)
	return time.Duration(float64(pause) * (0.75 + s.Jitter()/2))
}

// conclude stores the result of a call.
func (s *Service) conclude(ctx context.Context, d *state.Delivery, a answer) error {
	mailed := false
	err := s.transact(ctx, func(u *unit) error {
		h, err := u.tx.Channel(ctx, d.WorkspaceID, d.ChannelID)
		if errors.Is(err, state.ErrNotFound) {
			return nil // removed since, with its deliveries
		}
		if err != nil {
			return err
		}
		d := *d // fn may run again
		d.Status, d.Failure, d.Took, d.State, d.DoneAt = a.status, a.failure, a.took, state.DeliveryFailed, u.now
		if a.ok() {
			d.State = state.Delivered
			if err := u.tx.ChannelWorks(ctx, h.ID); err != nil {
				return err
			}
			return u.free(&d)
		}
		if h.FailingSince.IsZero() {
			h.FailingSince = u.now
		}
		next := u.now.Add(max(s.backoff(d.Tries), a.retryAfter))
		switch {
		case a.status == http.StatusGone:
			if err := u.tx.SaveDelivery(ctx, &d); err != nil {
				return err
			}
			mailed = true
			return u.removeGone(h)
		case u.now.Sub(h.FailingSince) >= pauseAfter && h.PausedAt.IsZero():
			h.PausedAt, mailed = u.now, true
			if err := u.pause(h); err != nil {
				return err
			}
		case !next.After(d.CreatedAt.Add(giveUpAfter)):
			d.State, d.NextAt, d.DoneAt = state.DeliveryPending, next, time.Time{}
		}
		if err := u.tx.SaveChannel(ctx, h); err != nil {
			return err
		}
		return u.free(&d)
	})
	if err == nil && mailed {
		s.Kick()
	}
	return err
}

// free stores a delivery and lets the next one go to its channel.
func (u *unit) free(d *state.Delivery) error {
	if err := u.tx.SaveDelivery(u.ctx, d); err != nil {
		return err
	}
	return u.tx.FreeChannel(u.ctx, d.ChannelID)
}

// pause stops deliveries to a webhook and notifies the owner.
func (u *unit) pause(h *state.AlertChannel) error {
	if err := u.tx.EndDeliveries(u.ctx, h.ID, "the webhook is paused", u.now); err != nil {
		return err
	}
	if err := u.audit(h.WorkspaceID, "", "alert.webhook_paused", h.ID); err != nil {
		return err
	}
	return u.notifyOf(h, "A webhook is paused", "It has failed for five days, so nothing is sent to it any more. Send it a test from the settings when it works again: a test that succeeds ends the pause.")
}

// removeGone removes a webhook that answered 410 and notifies the owner.
func (u *unit) removeGone(h *state.AlertChannel) error {
	if err := u.remove(h.WorkspaceID, "", h.ID, "the webhook is gone"); err != nil {
		return err
	}
	return u.notifyOf(h, "A webhook was removed", "It returned 410 Gone, so it was removed.")
}

// notifyOf mails the owner about a webhook.
func (u *unit) notifyOf(h *state.AlertChannel, subject, reason string) error {
	w, err := u.tx.Workspace(u.ctx, h.WorkspaceID)
	if err != nil {
		return err
	}
	address, err := url.Parse(h.URL)
	if err != nil {
		return err
	}
	_, err = u.mailOwner(w, subject, []string{reason, "Webhook: " + h.ID + " at " + change.Clean(address.Host), ""})
	return err
}

// Test sends a test now, by mail or to a webhook, and returns its outcome; it is
// tried once. One that succeeds ends the pause of a webhook.
func (s *Service) Test(ctx context.Context, workspace, channel string) (Delivery, error) {
	var d state.Delivery
	var h *state.AlertChannel
	err := s.write(ctx, func(u *unit) (err error) {
		d, h, err = u.addTest(workspace, channel)
		return err
	})
	if err != nil {
		return Delivery{}, err
	}
	if h == nil {
		s.Kick()
		return d, nil
	}
	a := s.call(ctx, h, &d)
	d.Status, d.Failure, d.Took = a.status, a.failure, a.took
	if a.ok() {
		d.State = state.Delivered
	}
	ctx = context.WithoutCancel(ctx) // the outcome is stored even if the caller went away
	return d, s.write(ctx, func(u *unit) error {
		if err := u.tx.SaveDelivery(ctx, &d); err != nil || !a.ok() {
			return err
		}
		return u.tx.ChannelWorks(ctx, channel)
	})
}

// addTest stores a test and puts it into the outbox, or returns the webhook to call.
func (u *unit) addTest(workspace, channel string) (d state.Delivery, h *state.AlertChannel, err error) {
	w, err := u.tx.Workspace(u.ctx, workspace)
	if err != nil {
		return d, nil, err
	}
	if err := u.limitTests(workspace); err != nil {
		return d, nil, err
	}
	data := TestData{Message: "This is a test of your alerts."}
	body, err := json.Marshal(event{Test, stamp(u.now), w.Slug, data})
	if err != nil {
		return d, nil, err
	}
	if channel != EmailID {
		if h, err = u.tx.Channel(u.ctx, workspace, channel); err != nil {
			return d, nil, err
		}
		if h.Format == FormatSlack {
			if body, err = slackBody(label(w)+data.Message, u.page(w)); err != nil {
				return d, nil, err
			}
		}
	}
	d = state.Delivery{
		ID: u.Secrets.ID("msg_"), WorkspaceID: workspace, ChannelID: channel, What: Test, Body: body, State: state.DeliveryFailed,
		CreatedAt: u.now, DoneAt: u.now, Tries: 1, Failure: "the server stopped before the response",
	}
	if h != nil {
		return d, h, u.tx.AddDelivery(u.ctx, &d)
	}
	sent, err := u.mailOwner(w, "A test", []string{data.Message, ""})
	if err != nil {
		return d, nil, err
	}
	if !sent {
		return d, nil, apierr.BadBody("no_address", "The workspace has no owner with a verified e-mail address.")
	}
	d.State, d.Failure = state.Delivered, ""
	return d, nil, u.tx.AddDelivery(u.ctx, &d)
}

func (u *unit) limitTests(workspace string) error {
	made, err := u.tx.Count(u.ctx, "alert tests "+workspace, time.Hour, u.now)
	if err != nil || made.Estimate() <= testsPerHour {
		return err
	}
	e := apierr.RateLimited(int((made.Window - made.Into) / time.Second))
	e.Description = "Too many tests. Wait for the time in Retry-After."
	return e
}
