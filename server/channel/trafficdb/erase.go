package trafficdb

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"time"

	"github.com/firstpick/firstpick/analytics/duck"
)

// pieceErased is how many events one transaction removes at most.
const pieceErased = 100_000

// Erase deletes the events of a workspace that carry one of the visitors or
// identities, and returns how many. Delete them from the state store first: then
// they do not come back, not even from a batch that is just being loaded. No
// query finds them any more, but free parts of the file may still hold their bytes
// until Rebuild.
func (db *DB) Erase(ctx context.Context, workspace string, visitors, identities []string) (int64, error) {
	n, err := db.erase(ctx, func(tx *sql.Tx) (int64, error) {
		return affected(tx.ExecContext(ctx, query("erase"), workspace, list(visitors), list(identities)))
	})
	return n, db.erased(ctx, workspace, n, err)
}

// DropBefore is Erase for the events received before a time. It releases the write lock
// after every 100,000 events.
func (db *DB) DropBefore(ctx context.Context, workspace string, before time.Time) (n int64, err error) {
	for more := int64(db.piece); more == int64(db.piece) && err == nil; n += more {
		more, err = db.erase(ctx, func(tx *sql.Tx) (int64, error) {
			return affected(tx.ExecContext(ctx, query("drop_before"), workspace, micro(before), db.piece))
		})
	}
	return n, db.erased(ctx, workspace, n, err)
}

// erase runs a transaction that deletes.
func (db *DB) erase(ctx context.Context, fn func(*sql.Tx) (int64, error)) (n int64, err error) {
	db.loading.Lock()
	defer db.loading.Unlock()
	err = db.use(func(pool *sql.DB) error {
		db.writing.Lock()
		defer db.writing.Unlock()
		return duck.InTx(ctx, pool, func(tx *sql.Tx) error {
			n, err = fn(tx)
			return err
		})
	})
	if err != nil {
		return 0, err
	}
	return n, nil
}

// erased ends an erasure of n events, however it went.
func (db *DB) erased(ctx context.Context, workspace string, n int64, err error) error {
	if err == nil && n > 0 {
		err = db.Checkpoint(ctx) // the log still holds the appended rows
	}
	if err != nil {
		return fmt.Errorf("erase in %s: %w", workspace, err)
	}
	return nil
}

func eraseSeqs(ctx context.Context, tx *sql.Tx, workspace string, seqs []int64) (int64, error) {
	if len(seqs) == 0 {
		return 0, nil
	}
	text := make([]byte, 0, 8*len(seqs))
	for i, seq := range seqs {
		if i > 0 {
			text = append(text, ',')
		}
		text = strconv.AppendInt(text, seq, 10)
	}
	return affected(tx.ExecContext(ctx, query("erase_seqs"), workspace, string(text)))
}

func affected(r sql.Result, err error) (int64, error) {
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}
