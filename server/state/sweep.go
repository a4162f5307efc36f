package state

import (
	"context"
	"time"
)

// How long ended rows are kept.
const (
	keepTokens     = 24 * time.Hour
	keepSignIns    = 24 * time.Hour
	keepEnded      = 7 * 24 * time.Hour // claim tokens answer 410 so long
	keepAudit      = 400 * 24 * time.Hour
	sessionMaxLife = 24 * time.Hour
)

// Sweep deletes what nobody can ask for any more. Nothing depends on it but the
// room it frees. It returns how many rows went.
func (tx *Tx) Sweep(ctx context.Context, now time.Time) (int64, error) {
	ago := func(d time.Duration) int64 { return us(now.Add(-d)) }
	var total int64
	for _, s := range []struct {
		query string
		until int64
	}{
		{"delete from access_token where expires_at < $1", ago(keepTokens)},
		{"delete from replay where expires_at < $1", us(now)},
		{"delete from counter where expires_at < $1", us(now)},
		{"delete from sign_in where expires_at < $1", ago(keepSignIns)},
		{"delete from session where created_at < $1", ago(sessionMaxLife)},
		{"delete from audit where happened_at < $1", ago(keepAudit)},
		{"delete from subject_revocation where revoked_at < $1", ago(keepEnded)}, // no assertion of then is accepted any more
		{"delete from workspace where claimed_at = 0 and claim_expires < $1", ago(keepEnded)},
		{"delete from registration where claimed_at = 0 and claim_expires < $1", ago(keepEnded)},
	} {
		n, err := tx.exec(ctx, s.query, s.until)
		if err != nil {
			return 0, err
		}
		total += n
	}
	return total, nil
}
