// Package alert tells owners of workspaces, by mail and by signed webhooks, what
// they would want to know without looking: an agent that was never here, a burst
// of visits under false names, pages that agents miss, silence.
//
// Find has the rules; it is pure. Look puts facts to it and stores what is new,
// with a delivery for each channel, in one transaction. Send brings deliveries
// out, each at least once. Any number of servers may do both.
package alert

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/kit/mail"
	"github.com/firstpick/firstpick/server/kit/secret"
	"github.com/firstpick/firstpick/server/store/state"
)

// A Config is what a Service needs. All fields but Traffic, Private and Ports are
// required.
type Config struct {
	DB      *state.DB
	Secrets secret.Source
	Log     *slog.Logger
	Now     func() time.Time
	BaseURL string
	// Mail puts a mail into the outbox; Kick makes the outbox look.
	Mail func(ctx context.Context, tx *state.Tx, now time.Time, m mail.Message) error
	Kick func()
	// HTTP calls webhooks. It follows no redirect, bounds a call to CallTimeout, and
	// reaches no private address unless Private.
	HTTP    *http.Client
	Private bool
	// Ports are those that the address of a webhook may have; empty for any.
	Ports []uint16
	// Jitter returns a number in [0, 1).
	Jitter func() float64
	// Traffic returns what the reports tell of a workspace whose last live event
	// came at last; nil while they are behind. A server without reports has no
	// Traffic: it sends, and leaves looking to others.
	Traffic func(ctx context.Context, workspace string, last time.Time) (*Traffic, error)
}

// A Service has the uses of alerts.
type Service struct {
	Config
	wake    chan struct{}
	senders chan struct{} // a place for each delivery that is under way
}

// New returns a Service.
func New(cfg Config) *Service {
	return &Service{cfg, make(chan struct{}, 1), make(chan struct{}, senders)}
}

// CallTimeout is how long a webhook may take to answer.
const CallTimeout = 10 * time.Second

const (
	maxWebhooks  = 5 // of a workspace
	maxURL       = 2048
	rotateFor    = 24 * time.Hour // in which the secret before signs too
	testsPerHour = 30             // of a workspace
	maxRows      = 1000
)

// EmailID is the id of the channel that every workspace has: mail to its owner.
const EmailID = "email"

// A Channel is a way to an owner.
type Channel struct {
	ID        string
	Kind      string // email or webhook
	URL       string // of a webhook
	State     string // on, off, failing or paused
	CreatedAt time.Time
	// FailingSince is when the failures since the last success began; PausedAt when
	// there were too many of them. A successful Test ends the pause.
	FailingSince, PausedAt time.Time
	// OldSecretUntil is until when the secret before the rotation signs too.
	OldSecretUntil time.Time
}

// An Alert is one that was told. Its Body is the JSON that webhooks get.
type Alert = state.Alert

// A Delivery is an alert, or a test, on its way to a channel. One by mail counts
// as delivered when it is in the outbox.
type Delivery = state.Delivery

// Channels returns the channels of a workspace: mail, then its webhooks.
func (s *Service) Channels(ctx context.Context, workspace string) ([]Channel, error) {
	on, err := s.DB.Read().AlertMail(ctx, workspace)
	if err != nil {
		return nil, s.fail(err)
	}
	hooks, err := s.DB.Read().Channels(ctx, workspace)
	if err != nil {
		return nil, s.fail(err)
	}
	out := []Channel{{ID: EmailID, Kind: "email", State: map[bool]string{true: "on", false: "off"}[on]}}
	for _, h := range hooks {
		out = append(out, s.channel(h))
	}
	return out, nil
}

func (s *Service) channel(h *state.AlertChannel) Channel {
	c := Channel{ID: h.ID, Kind: "webhook", URL: h.URL, State: "on", CreatedAt: h.CreatedAt, FailingSince: h.FailingSince, PausedAt: h.PausedAt}
	switch {
	case !h.PausedAt.IsZero():
		c.State = "paused"
	case !h.FailingSince.IsZero():
		c.State = "failing"
	}
	if s.Now().Before(h.OldUntil) {
		c.OldSecretUntil = h.OldUntil
	}
	return c
}

// AddWebhook adds a webhook. The secret that it is signed with is in this answer
// alone. It fails with an *apierr.Error that says what is wrong with the address.
func (s *Service) AddWebhook(ctx context.Context, workspace, address string) (*Channel, string, error) {
	address, err := s.checkURL(address)
	if err != nil {
		return nil, "", err
	}
	now := s.Now()
	h := &state.AlertChannel{ID: s.Secrets.ID("whk_"), WorkspaceID: workspace, URL: address, Secret: newSecret(s.Secrets.Rand), CreatedAt: now}
	err = s.write(ctx, func(tx *state.Tx) error {
		others, err := tx.Channels(ctx, workspace)
		if err != nil {
			return err
		}
		for _, o := range others {
			if o.URL == address {
				return apierr.BadBody("duplicate_url", "The workspace already has this webhook.")
			}
		}
		if len(others) >= maxWebhooks {
			return apierr.BadBody("too_many_webhooks", "A workspace can have at most five webhooks. Remove one first.")
		}
		if err := tx.AddChannel(ctx, h); err != nil {
			return err
		}
		return s.audit(ctx, tx, now, workspace, "alert.webhook_added", h.ID)
	})
	if err != nil {
		return nil, "", err
	}
	c := s.channel(h)
	return &c, h.Secret, nil
}

// checkURL returns the address as it is stored. Where a name leads is found out
// at each call, by the client.
func (s *Service) checkURL(address string) (string, error) {
	bad := func(why string) (string, error) { return "", apierr.BadBody("invalid_url", why) }
	u, err := url.Parse(strings.TrimSpace(address))
	switch {
	case err != nil || u.Hostname() == "" || u.Opaque != "":
		return bad("The webhook must be a URL such as https://acme.dev/hooks/firstpick.")
	case u.Scheme != "https":
		return bad("The URL of a webhook must begin with https.")
	case u.User != nil:
		return bad("The URL must not contain a user name or password. Requests are signed; put a token into the path if the receiver needs one.")
	case len(address) > maxURL:
		return bad("The URL must not be longer than 2048 bytes.")
	}
	u.Fragment = ""
	if s.Private {
		return u.String(), nil
	}
	if port, err := strconv.ParseUint(cmp.Or(u.Port(), "443"), 10, 16); err != nil || len(s.Ports) > 0 && !slices.Contains(s.Ports, uint16(port)) {
		return bad("The port of a webhook must be 443 or one that the operator of this service allows (call-ports).")
	}
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	ip, err := netip.ParseAddr(host)
	switch {
	case err == nil && (!ip.Unmap().IsGlobalUnicast() || ip.Unmap().IsPrivate()), err != nil && !strings.Contains(host, "."):
		return bad("The webhook must be on the public internet.")
	}
	return u.String(), nil
}

// RemoveChannel removes a webhook. What is on its way to it is given up.
func (s *Service) RemoveChannel(ctx context.Context, workspace, id string) error {
	return s.write(ctx, func(tx *state.Tx) error { return s.remove(ctx, tx, workspace, id, "it was removed") })
}

func (s *Service) remove(ctx context.Context, tx *state.Tx, workspace, id, why string) error {
	if err := tx.DropChannel(ctx, workspace, id); err != nil {
		return err
	}
	now := s.Now()
	if err := tx.EndDeliveries(ctx, id, why, now); err != nil {
		return err
	}
	return s.audit(ctx, tx, now, workspace, "alert.webhook_removed", id)
}

// Rotate gives a webhook a new secret, which is in this answer alone. For a day
// requests carry signatures by both.
func (s *Service) Rotate(ctx context.Context, workspace, id string) (string, error) {
	fresh := newSecret(s.Secrets.Rand)
	err := s.write(ctx, func(tx *state.Tx) error {
		h, err := tx.Channel(ctx, workspace, id)
		if err != nil {
			return err
		}
		now := s.Now()
		h.OldSecret, h.OldUntil, h.Secret = h.Secret, now.Add(rotateFor), fresh
		if err := tx.SaveChannel(ctx, h); err != nil {
			return err
		}
		return s.audit(ctx, tx, now, workspace, "alert.webhook_rotated", id)
	})
	if err != nil {
		return "", err
	}
	return fresh, nil
}

// SetEmail says whether the owner of a workspace gets alerts by mail.
func (s *Service) SetEmail(ctx context.Context, workspace string, on bool) error {
	return s.write(ctx, func(tx *state.Tx) error {
		now := s.Now()
		if err := tx.SetAlertMail(ctx, workspace, on, now); err != nil {
			return err
		}
		return s.audit(ctx, tx, now, workspace, map[bool]string{true: "alert.email_on", false: "alert.email_off"}[on], EmailID)
	})
}

// Recent returns the newest alerts of a workspace, newest first.
func (s *Service) Recent(ctx context.Context, workspace string, n int) ([]Alert, error) {
	out, err := s.DB.Read().Alerts(ctx, workspace, min(n, maxRows))
	return out, s.fail(err)
}

// Deliveries returns the newest deliveries of a workspace, newest first. They are
// kept for 30 days.
func (s *Service) Deliveries(ctx context.Context, workspace string, n int) ([]Delivery, error) {
	out, err := s.DB.Read().Deliveries(ctx, workspace, min(n, maxRows))
	return out, s.fail(err)
}

func (s *Service) audit(ctx context.Context, tx *state.Tx, now time.Time, workspace, event, channel string) error {
	return tx.Audit(ctx, state.AuditEntry{
		ID: s.Secrets.ID("aud_"), At: now, Event: event, WorkspaceID: workspace, Detail: map[string]string{"channel": channel},
	})
}

func (s *Service) write(ctx context.Context, fn func(tx *state.Tx) error) error {
	return s.fail(s.DB.Write(ctx, fn))
}

// fail turns an error of the store into what the caller is told.
func (s *Service) fail(err error) error {
	var known *apierr.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &known):
		return known
	case errors.Is(err, state.ErrNotFound):
		return &apierr.Error{Status: http.StatusNotFound, Code: "not_found", Description: "The workspace has no such webhook."}
	case errors.Is(err, context.Canceled):
		return apierr.Gone(err)
	case s.DB.IsDown(err):
		return apierr.StoreDown(err)
	default:
		return apierr.Internal(err)
	}
}
