package statetest

import (
	"context"
	"database/sql"
	"fmt"
	"testing" //nolint:depguard // a package of tests
	"time"
)

// Watch connects to the database at an address of PostgreSQL, to see its transactions from outside.
func Watch(t testing.TB, address string) *sql.DB {
	t.Helper()
	db, err := sql.Open("pgx", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// maxBlocked is how long UntilBlocked waits.
const maxBlocked = 20 * time.Second

// UntilBlocked returns when n transactions of the database wait for another's lock, or over.
func UntilBlocked(watch *sql.DB, n int, over func() bool) error {
	ctx, cancel := context.WithTimeout(context.Background(), maxBlocked)
	defer cancel()
	for waiting := 0; waiting < n && !over(); {
		if err := watch.QueryRowContext(ctx, "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'").Scan(&waiting); err != nil {
			return fmt.Errorf("%d transactions are to wait: %w", n, err)
		}
	}
	return nil
}
