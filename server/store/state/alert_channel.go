package state

import (
	"context"
	"errors"
	"time"
)

// An AlertChannel is a webhook of a workspace.
type AlertChannel struct {
	ID, WorkspaceID string
	URL             string
	Format          string // empty for Standard Webhooks, or FormatSlack
	Secret          string
	OldSecret       string // signs too, until OldUntil
	OldUntil        time.Time
	CreatedAt       time.Time
	FailingSince    time.Time // first failure since the last success; zero without failures
	PausedAt        time.Time // nothing is sent any more
}

// FormatSlack is the format of a webhook that gets {"text": ...}.
const FormatSlack = "slack"

const channelColumns = "id, workspace_id, url_sealed, secret_sealed, old_sealed, old_until, created_at, failing_since, paused_at, format"

// AddChannel stores a webhook.
func (tx *Tx) AddChannel(ctx context.Context, c *AlertChannel) error {
	_, err := tx.exec(ctx, "insert into alert_channel ("+channelColumns+", busy_until) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 0)",
		c.ID, c.WorkspaceID, tx.seal("alert url", c.URL), tx.seal("alert secret", c.Secret), tx.seal("alert secret", c.OldSecret), us(c.OldUntil),
		us(c.CreatedAt), us(c.FailingSince), us(c.PausedAt), c.Format)
	return err
}

// SaveChannel updates a webhook.
func (tx *Tx) SaveChannel(ctx context.Context, c *AlertChannel) error {
	_, err := tx.exec(ctx, "update alert_channel set secret_sealed = $2, old_sealed = $3, old_until = $4, failing_since = $5, paused_at = $6 where id = $1",
		c.ID, tx.seal("alert secret", c.Secret), tx.seal("alert secret", c.OldSecret), us(c.OldUntil), us(c.FailingSince), us(c.PausedAt))
	return err
}

// ChannelWorks notes that a webhook took a request, which ends its pause.
func (tx *Tx) ChannelWorks(ctx context.Context, id string) error {
	_, err := tx.exec(ctx, "update alert_channel set failing_since = 0, paused_at = 0 where id = $1", id)
	return err
}

// FreeChannel ends the lease of ClaimDelivery.
func (tx *Tx) FreeChannel(ctx context.Context, id string) error {
	_, err := tx.exec(ctx, "update alert_channel set busy_until = 0 where id = $1", id)
	return err
}

// DropChannel deletes a webhook of a workspace, or reports ErrNotFound.
func (tx *Tx) DropChannel(ctx context.Context, workspace, id string) error {
	n, err := tx.exec(ctx, "delete from alert_channel where workspace_id = $1 and id = $2", workspace, id)
	if err == nil && n == 0 {
		return ErrNotFound
	}
	return err
}

// Channels returns the webhooks of a workspace, oldest first. In a transaction it
// locks the workspace, so that two requests cannot both take the last place.
func (tx *Tx) Channels(ctx context.Context, workspace string) ([]*AlertChannel, error) {
	if err := tx.LockWorkspace(ctx, workspace); err != nil {
		return nil, err
	}
	var out []*AlertChannel
	err := tx.list(ctx, func(row scanner) error {
		c, err := tx.scanChannel(row.Scan)
		out = append(out, c)
		return err
	}, "select "+channelColumns+" from alert_channel where workspace_id = $1 order by created_at, id", workspace)
	return out, err
}

// Channel returns a webhook of a workspace. A transaction locks it.
func (tx *Tx) Channel(ctx context.Context, workspace, id string) (*AlertChannel, error) {
	return tx.scanChannel(func(dest ...any) error {
		return tx.one(ctx, dest, "select "+channelColumns+" from alert_channel where workspace_id = $1 and id = $2"+tx.lock(), workspace, id)
	})
}

func (tx *Tx) scanChannel(scan func(...any) error) (*AlertChannel, error) {
	var c AlertChannel
	var url, secret, old []byte
	var until, created, failing, paused int64
	if err := scan(&c.ID, &c.WorkspaceID, &url, &secret, &old, &until, &created, &failing, &paused, &c.Format); err != nil {
		return nil, err
	}
	c.OldUntil, c.CreatedAt, c.FailingSince, c.PausedAt = fromUS(until), fromUS(created), fromUS(failing), fromUS(paused)
	for _, s := range []struct {
		column string
		sealed []byte
		into   *string
	}{{"alert url", url, &c.URL}, {"alert secret", secret, &c.Secret}, {"alert secret", old, &c.OldSecret}} {
		var err error
		if *s.into, err = tx.open(s.column, s.sealed); err != nil {
			return nil, err
		}
	}
	return &c, nil
}

// The states of a delivery.
const (
	DeliveryPending = "pending"
	Delivered       = "delivered"
	DeliveryFailed  = "failed" // and is not tried again
)

// A Delivery is an alert on its way to one channel.
type Delivery struct {
	ID, WorkspaceID string
	AlertID         string // empty for a test
	ChannelID       string
	What            string
	Body            []byte
	State           string
	CreatedAt       time.Time
	NextAt          time.Time // of a pending one: when it is tried
	DoneAt          time.Time
	Tries           int
	Status          int           // of the last response; 0 without a response
	Failure         string        // of the last try
	Took            time.Duration // of the last try
}

const deliveryColumns = "id, workspace_id, alert_id, channel_id, what, body, state, created_at, next_at, done_at, tries, status, failure, took"

// AddDelivery stores a delivery.
func (tx *Tx) AddDelivery(ctx context.Context, d *Delivery) error {
	_, err := tx.exec(ctx, "insert into alert_delivery ("+deliveryColumns+") values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)",
		d.ID, d.WorkspaceID, d.AlertID, d.ChannelID, d.What, string(d.Body), d.State, us(d.CreatedAt), us(d.NextAt), us(d.DoneAt), d.Tries, d.Status, d.Failure, d.Took.Microseconds())
	return err
}

// SaveDelivery stores the result of an attempt.
func (tx *Tx) SaveDelivery(ctx context.Context, d *Delivery) error {
	_, err := tx.exec(ctx, "update alert_delivery set state = $2, next_at = $3, done_at = $4, tries = $5, status = $6, failure = $7, took = $8 where id = $1",
		d.ID, d.State, us(d.NextAt), us(d.DoneAt), d.Tries, d.Status, d.Failure, d.Took.Microseconds())
	return err
}

// dueDelivery selects deliveries whose channel is not locked.
const dueDelivery = ` from alert_delivery d join alert_channel c on c.id = d.channel_id
	where d.state = 'pending' and d.next_at <= $1 and c.busy_until <= $1`

// DueDeliveries returns how many deliveries are due now.
func (tx *Tx) DueDeliveries(ctx context.Context, now time.Time) (int, error) {
	var n int
	err := tx.one(ctx, []any{&n}, "select count(*)"+dueDelivery, us(now))
	return n, err
}

// ClaimDelivery claims the delivery that is due longest, with its channel. Until the
// lease ends or FreeChannel is called, no other caller gets a delivery of this
// channel. It returns nil when no delivery is due. A delivery is sent twice when a
// server dies between sending and SaveDelivery.
func (tx *Tx) ClaimDelivery(ctx context.Context, now time.Time, lease time.Duration) (*Delivery, *AlertChannel, error) {
	skip := ""
	if tx.db.Engine() == "postgres" {
		// Lock only the channel: a transaction that locked a delivery first could lose
		// the channel to another one, which then claims a later delivery.
		skip = " for update of c skip locked"
	}
	var id string
	err := tx.one(ctx, []any{&id}, "select d.id"+dueDelivery+" order by d.next_at, d.created_at, d.id limit 1"+skip, us(now))
	if errors.Is(err, ErrNotFound) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	until := us(now.Add(lease))
	d, err := scanDelivery(func(dest ...any) error {
		return tx.one(ctx, dest, "update alert_delivery set tries = tries + 1, next_at = $2 where id = $1 and state = 'pending' and next_at <= $3 returning "+deliveryColumns, id, until, us(now))
	})
	if errors.Is(err, ErrNotFound) { // claimed or abandoned since the first select
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	if _, err := tx.exec(ctx, "update alert_channel set busy_until = $2 where id = $1", d.ChannelID, until); err != nil {
		return nil, nil, err
	}
	c, err := tx.Channel(ctx, d.WorkspaceID, d.ChannelID)
	return d, c, err
}

// EndDeliveries gives up the pending deliveries of a channel.
func (tx *Tx) EndDeliveries(ctx context.Context, channel, why string, now time.Time) error {
	_, err := tx.exec(ctx, "update alert_delivery set state = 'failed', failure = $2, done_at = $3 where channel_id = $1 and state = 'pending'", channel, why, us(now))
	return err
}

// Deliveries returns the newest deliveries of a workspace, newest first.
func (tx *Tx) Deliveries(ctx context.Context, workspace string, limit int) ([]Delivery, error) {
	var out []Delivery
	err := tx.list(ctx, func(row scanner) error {
		d, err := scanDelivery(row.Scan)
		if err == nil {
			out = append(out, *d)
		}
		return err
	}, "select "+deliveryColumns+" from alert_delivery where workspace_id = $1 order by created_at desc, id desc limit $2", workspace, limit)
	return out, err
}

func scanDelivery(scan func(...any) error) (*Delivery, error) {
	var d Delivery
	var body string
	var created, next, done, took int64
	err := scan(&d.ID, &d.WorkspaceID, &d.AlertID, &d.ChannelID, &d.What, &body, &d.State, &created, &next, &done, &d.Tries, &d.Status, &d.Failure, &took)
	d.Body, d.CreatedAt, d.NextAt, d.DoneAt, d.Took = []byte(body), fromUS(created), fromUS(next), fromUS(done), time.Duration(took)*time.Microsecond
	return &d, err
}
