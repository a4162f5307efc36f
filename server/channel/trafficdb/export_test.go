package trafficdb

import (
	"context"
	"database/sql"

	"github.com/firstpick/firstpick/server/channel/change"
)

// Facts returns the facts that changes are detected from.
func (db *DB) Facts(ctx context.Context, workspace string, w Window) (change.Facts, error) {
	return db.facts(ctx, workspace, w)
}

// FailBeforeMark makes Append fail, or die, after it appended and before it
// moved the mark.
func (db *DB) FailBeforeMark(fn func() error) { db.beforeMark = fn }

// SetRun sets how many rows a Loader sorts at once.
func (db *DB) SetRun(n int64) { db.run = n }

// SetPiece sets how many rows one transaction erases.
func (db *DB) SetPiece(n int) { db.piece = n }

// Threads returns how many threads DuckDB has.
func (db *DB) Threads(ctx context.Context) (n int, err error) {
	err = db.use(func(pool *sql.DB) error {
		return pool.QueryRowContext(ctx, "select current_setting('threads')").Scan(&n)
	})
	return n, err
}

// Sort sorts what is not.
func (db *DB) Sort(ctx context.Context) error { return db.sort(ctx) }

// Exec runs a statement, to fill a database for a benchmark.
func (db *DB) Exec(ctx context.Context, statement string) error {
	return db.use(func(pool *sql.DB) error {
		_, err := pool.ExecContext(ctx, statement)
		return err
	})
}
