package trafficdb

import (
	"context"
	"database/sql"
	"time"
)

// Health is whether events come and are counted.
type Health struct {
	FirstAt        time.Time // when the earliest event happened; zero without events
	LastAt         time.Time // when the latest event happened; zero without events
	LastReceivedAt time.Time // when the latest event was received; zero without events
	Last24h        int64     // events received within the 24 hours before now
	// CompleteThrough is the time up to which acknowledged events are in the
	// reports, of whatever workspace.
	CompleteThrough time.Time
}

// Health returns how a workspace's events come in.
func (db *DB) Health(ctx context.Context, workspace string, now time.Time) (Health, error) {
	_, through, err := db.mark(ctx)
	if err != nil {
		return Health{}, err
	}
	db.idle.Lock()
	if db.idle.at.After(through) {
		through = db.idle.at
	}
	db.idle.Unlock()
	all, err := ask(ctx, db, "health", func(rows *sql.Rows) (Health, error) {
		var h Health
		var first, last, received sql.NullTime
		err := rows.Scan(&first, &last, &received, &h.Last24h)
		h.FirstAt, h.LastAt, h.LastReceivedAt = first.Time, last.Time, received.Time
		return h, err
	}, workspace, micro(now.Add(-24*time.Hour)), micro(now))
	if err != nil {
		return Health{}, err
	}
	all[0].CompleteThrough = through.UTC()
	return all[0], nil
}
