package trafficdb

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/firstpick/firstpick/analytics/duck"
)

// runRows is how many rows are sorted at once. Runs of this length serve reports
// as well as a file that is sorted as a whole, and take about a second to make.
const runRows = 500_000

// sortDue sorts when there are rows enough for a run.
func (db *DB) sortDue(ctx context.Context) error {
	db.writing.Lock()
	due := db.loose >= db.run
	db.writing.Unlock()
	if !due {
		return nil
	}
	return db.sort(ctx)
}

// sort moves the unsorted rows to a sorted run. It changes no report. Reports continue;
// writers wait.
func (db *DB) sort(ctx context.Context) error {
	err := db.use(func(pool *sql.DB) error {
		db.writing.Lock()
		defer db.writing.Unlock()
		err := duck.InTx(ctx, pool, func(tx *sql.Tx) error {
			if _, err := tx.ExecContext(ctx, query("sort")); err != nil {
				return err
			}
			_, err := tx.ExecContext(ctx, "delete from traffic.event where not sorted")
			return err
		})
		if err == nil {
			db.loose = 0
		}
		return err
	})
	if err == nil {
		err = db.Checkpoint(ctx) // frees the space of the unsorted rows
	}
	if err != nil {
		return fmt.Errorf("sort %s: %w", db.file, err)
	}
	return nil
}
