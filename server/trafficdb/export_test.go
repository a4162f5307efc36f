package trafficdb

import (
	"context"
	"database/sql"
)

// FailBeforeMark makes Append fail, or die, after it appended and before it
// moved the mark.
func (db *DB) FailBeforeMark(fn func() error) { db.beforeMark = fn }

// Exec runs a statement, to fill a database for a benchmark.
func (db *DB) Exec(ctx context.Context, statement string) error {
	return db.use(func(pool *sql.DB) error {
		_, err := pool.ExecContext(ctx, statement)
		return err
	})
}
