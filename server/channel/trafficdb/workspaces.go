package trafficdb

import (
	"context"
	"database/sql"
)

// Workspaces returns the workspaces that have events, in order.
func (db *DB) Workspaces(ctx context.Context) ([]string, error) {
	return ask(ctx, db, "workspaces", func(rows *sql.Rows) (string, error) {
		var w string
		err := rows.Scan(&w)
		return w, err
	})
}
