package duck

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// A Find is a column of a table that holds a searched text.
type Find struct {
	Table, Column, Text string
	Rows                int64
}

// Search looks for texts in all text columns of a database file, in any case. The bytes of
// the file are no proof of their absence: DuckDB compresses strings.
func Search(ctx context.Context, path string, texts []string) (out []Find, err error) {
	db, err := OpenReadOnly(ctx, path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	rows, err := db.QueryContext(ctx, "select table_name, column_name from duckdb_columns() where not internal and data_type not in ('BIGINT', 'INTEGER', 'DOUBLE', 'BOOLEAN', 'TIMESTAMP') order by all")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	var columns []Find
	for rows.Next() {
		var f Find
		if err := rows.Scan(&f.Table, &f.Column); err != nil {
			return nil, err
		}
		columns = append(columns, f)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	for _, f := range columns {
		for _, f.Text = range texts {
			query := fmt.Sprintf("select count(*) from %s where contains(lower(cast(%s as varchar)), lower(?))", identifier(f.Table), identifier(f.Column))
			if err := db.QueryRowContext(ctx, query, f.Text).Scan(&f.Rows); err != nil {
				return nil, fmt.Errorf("search %s.%s: %w", f.Table, f.Column, err)
			}
			if f.Rows > 0 {
				out = append(out, f)
			}
		}
	}
	return out, nil
}

func identifier(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
