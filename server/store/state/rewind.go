package state

import (
	"context"
	"fmt"
	"time"
)

// farAhead is further ahead than any lease or retry is set.
const farAhead = 48 * time.Hour

// Rewind makes what waits for a time that is too far ahead due now: it was stored while a
// clock was ahead, and would hold up leases, checks and mails until that clock's time. It
// returns the number of rows. The worker with such a lease renews it, or finds that it is
// lost. Schedules rewind by themselves.
func (db *DB) Rewind(ctx context.Context, now time.Time) (int64, error) {
	var total int64
	for _, s := range []struct{ table, column, where string }{
		{"eval_run", "lease_until", "ended_at = 0 and"},
		{"pick_watch", "next_at", ""},
		{"alert_watch", "next_at", ""},
		{"alert_delivery", "next_at", "state = 'pending' and"},
		{"alert_channel", "busy_until", ""},
		{"outbox", "next_at", ""},
	} {
		if err := db.Write(ctx, func(tx *Tx) error {
			n, err := tx.exec(ctx, fmt.Sprintf("update %[1]s set %[2]s = 0 where %[3]s %[2]s > $1", s.table, s.column, s.where), us(now.Add(farAhead)))
			total += n
			return err
		}); err != nil {
			return total, fmt.Errorf("rewind %s: %w", s.table, err)
		}
	}
	return total, nil
}
