// Package alert notifies owners of workspaces, by mail and by signed webhooks, of
// the conditions that package change detects.
//
// Compare is pure: it compares conditions with open alerts. Look evaluates facts and
// stores new alerts, with a delivery for each channel, in one transaction. Send sends
// deliveries, each at least once. Any number of servers may do both.
package alert

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/firstpick/firstpick/server/channel/change"
	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/kit/mail"
	"github.com/firstpick/firstpick/server/kit/secret"
	"github.com/firstpick/firstpick/server/store/state"
)

// A Config holds the dependencies of a Service. All fields but Traffic, Picks, Visits,
// Picture, Private and Ports are required.
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
	// Traffic returns the recent traffic of a workspace whose last live event was at
	// last; nil while the reports lag. A server without reports has no Traffic: it sends
	// alerts, and other servers check for them.
	Traffic func(ctx context.Context, workspace string, last time.Time) (*change.Traffic, error)
	// Picks returns what is measured of the tool of a workspace. Without it nothing about
	// picks is sent.
	Picks PicksFunc
	// Visits counts the visits of agents for digests; nil leaves them out.
	Visits func(ctx context.Context, workspace string, from, to time.Time) (int64, error)
	// Picture draws a PNG for digests; nil sends them without.
	Picture func(small, title, foot string, bars []Bar) ([]byte, error)
}

// A Service manages channels, and finds and sends alerts.
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
	Format    string // of a webhook: FormatStandard or FormatSlack
	State     string // on, off, failing or paused
	CreatedAt time.Time
	// FailingSince is when the failures since the last success began; PausedAt when
	// there were too many of them. A successful Test ends the pause.
	FailingSince, PausedAt time.Time
	// OldSecretUntil is until when the secret before the rotation signs too.
	OldSecretUntil time.Time
}

// An Alert was sent to its owner. Its Body is the JSON that webhooks get.
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
	c := Channel{ID: h.ID, Kind: "webhook", URL: h.URL, Format: h.Format, State: "on", CreatedAt: h.CreatedAt, FailingSince: h.FailingSince, PausedAt: h.PausedAt}
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

// AddWebhook adds a webhook for a member, whose account is by, and returns its signing
// secret, which no other method returns. Format is one of the Format constants. It fails with an *apierr.Error that explains an invalid address.
func (s *Service) AddWebhook(ctx context.Context, workspace, by, address, format string) (*Channel, string, error) {
	address, err := s.checkURL(address)
	if err != nil {
		return nil, "", err
	}
	if err := checkFormat(format); err != nil {
		return nil, "", err
	}
	h := &state.AlertChannel{ID: s.Secrets.ID("whk_"), WorkspaceID: workspace, URL: address, Format: format, Secret: newSecret(s.Secrets.Rand), CreatedAt: s.Now()}
	err = s.change(ctx, workspace, by, func(u *unit) error {
		others, err := u.tx.Channels(ctx, workspace)
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
		if err := u.tx.AddChannel(ctx, h); err != nil {
			return err
		}
		return u.audit(workspace, by, "alert.webhook_added", h.ID)
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

// RemoveChannel removes a webhook and its queued deliveries.
func (s *Service) RemoveChannel(ctx context.Context, workspace, by, id string) error {
	return s.change(ctx, workspace, by, func(u *unit) error { return u.remove(workspace, by, id, "it was removed") })
}

func (u *unit) remove(workspace, by, id, reason string) error {
	if err := u.tx.DropChannel(u.ctx, workspace, id); err != nil {
		return err
	}
	if err := u.tx.EndDeliveries(u.ctx, id, reason, u.now); err != nil {
		return err
	}
	return u.audit(workspace, by, "alert.webhook_removed", id)
}

// Rotate gives a webhook a new secret, which is in this answer alone. For a day
// requests carry signatures by both.
func (s *Service) Rotate(ctx context.Context, workspace, by, id string) (string, error) {
	fresh := newSecret(s.Secrets.Rand)
	err := s.change(ctx, workspace, by, func(u *unit) error {
		h, err := u.tx.Channel(ctx, workspace, id)
		if err != nil {
			return err
		}
		h.OldSecret, h.OldUntil, h.Secret = h.Secret, u.now.Add(rotateFor), fresh
		if err := u.tx.SaveChannel(ctx, h); err != nil {
			return err
		}
		return u.audit(workspace, by, "alert.webhook_rotated", id)
	})
	if err != nil {
		return "", err
	}
	return fresh, nil
}

// SetEmail turns mail about alerts to the owner of a workspace on or off.
func (s *Service) SetEmail(ctx context.Context, workspace, by string, on bool) error {
	return s.change(ctx, workspace, by, func(u *unit) error {
		if err := u.tx.SetAlertMail(ctx, workspace, on, u.now); err != nil {
			return err
		}
		return u.audit(workspace, by, map[bool]string{true: "alert.email_on", false: "alert.email_off"}[on], EmailID)
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
