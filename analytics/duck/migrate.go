package duck

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// migrate applies the *.sql files of schema that the ledger does not have, in the order of
// their names: to a new file together, to an older one each in a transaction of its own,
// because DuckDB does not change the rows of a table that the same transaction altered.
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
	var seen string
	if err := db.QueryRowContext(ctx, `select coalesce(string_agg(name, ',' order by name), '') from migration`).Scan(&seen); err != nil {
		return err
	}
	applied := strings.Split(seen, ",")
	if newest := applied[len(applied)-1]; newest != "" && !slices.Contains(names, newest) {
		return fmt.Errorf("written by a newer firstpick (it has migration %s); update firstpick", newest)
	}
	names = slices.DeleteFunc(names, func(name string) bool { return slices.Contains(applied, name) })
	together := 1
	if seen == "" {
		together = len(names)
	}
	for group := range slices.Chunk(names, max(together, 1)) {
		if err := InTx(ctx, db, func(tx *sql.Tx) error { return apply(ctx, tx, schema, group) }); err != nil {
			return err
		}
	}
	return nil
}

func apply(ctx context.Context, tx *sql.Tx, schema fs.FS, names []string) error {
	for _, name := range names {
		stmts, err := fs.ReadFile(schema, name)
		if err == nil {
			_, err = tx.ExecContext(ctx, string(stmts))
		}
		if err == nil {
			_, err = tx.ExecContext(ctx, `insert into migration (name) values (?)`, name)
		}
		if err != nil {
			return fmt.Errorf("migrate %s: %w", name, err)
		}
	}
	return nil
}
