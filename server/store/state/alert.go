package state

import (
	"context"
	"errors"
	"time"
)

// A Watch is the schedule and the history of a workspace's live events, which are
// those that were not backfilled.
type Watch struct {
	FirstAt time.Time // of the first live event, to a few minutes
	LastAt  time.Time // of the last live event
	Days    int       // days in UTC with any, of the seven that end with LastAt's
	Since   time.Time // from when on servers looked, without a longer pause
}

const (
	// watchedFor is for how long a workspace is watched after its last live event.
	watchedFor = 9 * 24 * time.Hour
	weekDays   = 7
)

// DueWatches returns workspaces that had live events lately and whose check is due.
func (tx *Tx) DueWatches(ctx context.Context, now time.Time, limit int) ([]string, error) {
	return tx.texts(ctx, `select distinct d.workspace_id from collected_day d join workspace w on w.id = d.workspace_id
		left join alert_watch a on a.workspace_id = d.workspace_id
		where d.day >= $1 and d.live > 0 and (a.next_at is null or a.next_at <= $2) limit $3`, day(now.Add(-watchedFor)), us(now), limit)
}

// ClaimWatch claims the due check of a workspace and schedules the next one. It
// returns nil when another server claimed it first. A check more than pause after
// the previous one resets Watch.Since.
func (tx *Tx) ClaimWatch(ctx context.Context, workspace string, now, next time.Time, pause time.Duration) (*Watch, error) {
	var first, since int64
	err := tx.one(ctx, []any{&first, &since}, `insert into alert_watch (workspace_id, first_at, since, looked_at, next_at)
		values ($1, coalesce((select live_at from collected_day where workspace_id = $1 and live > 0 order by day limit 1), $2), $2, $2, $3)
		on conflict (workspace_id) do update set looked_at = $2, next_at = $3,
			since = case when alert_watch.looked_at < $4 then $2 else alert_watch.since end
		where alert_watch.next_at <= $2 returning first_at, since`, workspace, us(now), us(next), us(now.Add(-pause)))
	if errors.Is(err, ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	w := &Watch{FirstAt: fromUS(first), Since: fromUS(since)}
	var last int64
	if err := tx.one(ctx, []any{&last}, "select coalesce(max(live_at), 0) from collected_day where workspace_id = $1 and live > 0", workspace); err != nil {
		return nil, err
	}
	w.LastAt = fromUS(last)
	return w, tx.one(ctx, []any{&w.Days}, "select count(*) from collected_day where workspace_id = $1 and live > 0 and day > $2 and day <= $3",
		workspace, day(w.LastAt)-weekDays, day(w.LastAt))
}

// An Alert is a notification of an owner.
type Alert struct {
	ID          string
	WorkspaceID string
	What        string
	At          time.Time // when it was found
	Summary     string    // in a sentence
	Body        []byte    // JSON, as webhooks get it
}

// An OpenAlert is an open alert: it is not sent again until it ends.
type OpenAlert struct {
	What, Subject string
	At            time.Time // when it was sent
	SeenAt        time.Time // when its condition last held
}

// AddAlert stores an alert and reports whether it did. It does nothing while the
// alert is open.
func (tx *Tx) AddAlert(ctx context.Context, a *Alert, subject string, seen time.Time) (bool, error) {
	n, err := tx.exec(ctx, "insert into alert_told (workspace_id, what, subject, told_at, seen_at) values ($1, $2, $3, $4, $5) on conflict do nothing",
		a.WorkspaceID, a.What, subject, us(a.At), us(seen))
	if err != nil || n == 0 {
		return false, err
	}
	_, err = tx.exec(ctx, "insert into alert (id, workspace_id, what, found_at, summary, body) values ($1, $2, $3, $4, $5, $6)",
		a.ID, a.WorkspaceID, a.What, us(a.At), a.Summary, string(a.Body))
	return err == nil, err
}

// OpenAlerts returns the open alerts.
func (tx *Tx) OpenAlerts(ctx context.Context, workspace string) ([]OpenAlert, error) {
	var out []OpenAlert
	err := tx.list(ctx, func(row scanner) error {
		var t OpenAlert
		var at, seen int64
		err := row.Scan(&t.What, &t.Subject, &at, &seen)
		t.At, t.SeenAt = fromUS(at), fromUS(seen)
		out = append(out, t)
		return err
	}, "select what, subject, told_at, seen_at from alert_told where workspace_id = $1 order by what, subject", workspace)
	return out, err
}

// ConfirmAlert records that the condition of an open alert still holds.
func (tx *Tx) ConfirmAlert(ctx context.Context, workspace string, t OpenAlert) error {
	_, err := tx.exec(ctx, "update alert_told set seen_at = $4 where workspace_id = $1 and what = $2 and subject = $3 and seen_at < $4",
		workspace, t.What, t.Subject, us(t.SeenAt))
	return err
}

// EndAlert closes an open alert, so that it may be sent again. It does nothing when
// the condition was confirmed after t.SeenAt.
func (tx *Tx) EndAlert(ctx context.Context, workspace string, t OpenAlert) error {
	_, err := tx.exec(ctx, "delete from alert_told where workspace_id = $1 and what = $2 and subject = $3 and seen_at = $4",
		workspace, t.What, t.Subject, us(t.SeenAt))
	return err
}

// Alerts returns the newest alerts of a workspace, newest first.
func (tx *Tx) Alerts(ctx context.Context, workspace string, limit int) ([]Alert, error) {
	var out []Alert
	err := tx.list(ctx, func(row scanner) error {
		a := Alert{WorkspaceID: workspace}
		var at int64
		var body string
		err := row.Scan(&a.ID, &a.What, &at, &a.Summary, &body)
		a.At, a.Body = fromUS(at), []byte(body)
		out = append(out, a)
		return err
	}, "select id, what, found_at, summary, body from alert where workspace_id = $1 order by found_at desc, id desc limit $2", workspace, limit)
	return out, err
}

// AlertMail reports whether the owner of a workspace wants alerts by mail.
func (tx *Tx) AlertMail(ctx context.Context, workspace string) (bool, error) {
	var n int
	err := tx.one(ctx, []any{&n}, "select count(*) from alert_mail_off where workspace_id = $1", workspace)
	return n == 0, err
}

// SetAlertMail stores whether the owner of a workspace wants alerts by mail.
func (tx *Tx) SetAlertMail(ctx context.Context, workspace string, on bool, now time.Time) error {
	query, args := "delete from alert_mail_off where workspace_id = $1", []any{workspace}
	if !on {
		query, args = "insert into alert_mail_off (workspace_id, since) values ($1, $2) on conflict do nothing", append(args, us(now))
	}
	_, err := tx.exec(ctx, query, args...)
	return err
}
