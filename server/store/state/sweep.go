package state

import (
	"context"
	"fmt"
	"time"
)

// The retention of ended rows.
const (
	keepTokens     = 24 * time.Hour
	keepSignIns    = 24 * time.Hour
	keepEnded      = 7 * 24 * time.Hour // claim tokens answer 410 so long
	keepAudit      = 400 * 24 * time.Hour
	keepDeliveries = 30 * 24 * time.Hour
	keepRunEvents  = 7 * 24 * time.Hour // after the run's end
	sessionMaxLife = 24 * time.Hour
)

// sweepBatch limits the deletions of one transaction, because others wait for it.
const sweepBatch = 1000

// Sweep deletes unreachable rows, to free space only. It returns the number of
// deleted rows.
func (db *DB) Sweep(ctx context.Context, now time.Time) (int64, error) {
	ago := func(d time.Duration) int64 { return us(now.Add(-d)) }
	var total int64
	for _, s := range []struct {
		table, key, over string
		until            int64
	}{
		{"access_token", "hash", "expires_at < $1", ago(keepTokens)},
		{"replay", "usage, iss, jti_mac", "expires_at < $1", us(now)},
		{"counter", "name, slot", "expires_at < $1", us(now)},
		{"sign_in", "hash", "expires_at < $1", ago(keepSignIns)},
		{"invitation", "id", "expires_at < $1", ago(keepEnded)},
		{"session", "hash", "created_at < $1", ago(sessionMaxLife)},
		{"audit", "id", "happened_at < $1", ago(keepAudit)},
		{"alert", "id", "found_at < $1", ago(keepAudit)},
		{"alert_delivery", "id", "state <> 'pending' and created_at < $1", ago(keepDeliveries)},
		{"eval_run_event", "run_id, seq", "happened_at < $1 and exists (select 1 from eval_run r where r.id = run_id and r.ended_at > 0 and r.ended_at < $1)", ago(keepRunEvents)},
		{"eval_schedule_tick", "schedule_id, tick_at", "tick_at < $1", ago(keepAudit)},
		{"billing_event", "id", "happened_at < $1", ago(keepAudit)},               // long after anybody sends it again
		{"subject_revocation", "iss, sub_mac", "revoked_at < $1", ago(keepEnded)}, // no assertion of then is accepted any more
		{"workspace", "id", "claimed_at = 0 and claim_expires < $1", ago(keepEnded)},
		{"registration", "id", "claimed_at = 0 and claim_expires < $1", ago(keepEnded)},
	} {
		// PostgreSQL looks again only at the outer condition when a row changed while it waited for the row.
		query := fmt.Sprintf("delete from %[1]s where %[3]s and (%[2]s) in (select %[2]s from %[1]s where %[3]s limit %[4]d)", s.table, s.key, s.over, sweepBatch)
		for n := int64(sweepBatch); n == sweepBatch; {
			if err := db.Write(ctx, func(tx *Tx) error {
				var err error
				n, err = tx.exec(ctx, query, s.until)
				return err
			}); err != nil {
				return total, fmt.Errorf("sweep %s: %w", s.table, err)
			}
			total += n
		}
	}
	return total, nil
}
