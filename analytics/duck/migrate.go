package duck

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"
	"slices"
)

// migrate applies the *.sql files of schema in the order of their names, each
// in a transaction of its own together with its line in the ledger.
func migrate(ctx context.Context, db *sql.DB, schema fs.FS) error {
	const ledger = `create table if not exists migration (name text primary key, applied_at timestamptz default now())`
	if _, err := db.ExecContext(ctx, ledger); err != nil {
		return fmt.Errorf("migration ledger: %w", err)
	}
	names, err := fs.Glob(schema, "*.sql")
	if err != nil {
		return err
	}
	slices.Sort(names)
	if err := refuseNewer(ctx, db, names); err != nil {
		return err
	}
	for _, name := range names {
		if err := InTx(ctx, db, func(tx *sql.Tx) error { return apply(ctx, tx, schema, name) }); err != nil {
			return fmt.Errorf("migrate %s: %w", name, err)
		}
	}
	return nil
}

// refuseNewer keeps an older program from writing to a file whose tables it
// does not know.
func refuseNewer(ctx context.Context, db *sql.DB, names []string) error {
	var newest string
	if err := db.QueryRowContext(ctx, `select coalesce(max(name), '') from migration`).Scan(&newest); err != nil {
		return err
	}
	if newest != "" && !slices.Contains(names, newest) {
		return fmt.Errorf("written by a newer firstpick (it has migration %s); update firstpick", newest)
	}
	return nil
}

func apply(ctx context.Context, tx *sql.Tx, schema fs.FS, name string) error {
	var seen bool
	if err := tx.QueryRowContext(ctx, `select exists (from migration where name = ?)`, name).Scan(&seen); err != nil || seen {
		return err
	}
	stmts, err := fs.ReadFile(schema, name)
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, string(stmts)); err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `insert into migration (name) values (?)`, name)
	return err
}
