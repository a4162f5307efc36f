package duck

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"iter"

	"github.com/duckdb/duckdb-go/v2"
)

// InTx runs fn in a transaction and commits it if fn returns nil. fn must close
// its rows before the next statement and must not use db: there is one
// connection.
func InTx(ctx context.Context, db *sql.DB, fn func(*sql.Tx) error) error {
	return InBatch(ctx, db, func(tx *Tx) error { return fn(tx.Tx) })
}

// A Tx is a transaction that can also append rows in bulk.
type Tx struct {
	*sql.Tx
	conn *sql.Conn
}

// InBatch is InTx for a function that appends.
func InBatch(ctx context.Context, db *sql.DB, fn func(*Tx) error) (err error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return fmt.Errorf("connection: %w", err)
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	// The transaction does not follow ctx by itself: database/sql would roll
	// back in the background, and an append after that would commit on its own.
	inner, err := conn.BeginTx(context.WithoutCancel(ctx), nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	committed := false
	defer func() {
		if !committed {
			_ = inner.Rollback() // the first error is the one worth reporting
		}
	}()
	if err := fn(&Tx{Tx: inner, conn: conn}); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	committed = true
	if err := inner.Commit(); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	return nil
}

// Append adds rows to table as they are: each holds every column in the
// table's order. It is some hundred times faster than single inserts.
func (t *Tx) Append(ctx context.Context, table string, rows iter.Seq[[]driver.Value]) error {
	return t.fill(ctx, table, rows, func(c driver.Conn) (*duckdb.Appender, error) {
		return duckdb.NewAppenderFromConn(c, "", table)
	})
}

// AppendThrough runs query over rows in bulk. The query sees them as table
// `appended_data` with columns col1, col2, ..., typed like the named columns of
// table in the table's order (all of them where columns is empty). A query may
// run more than once, each time over a part of the rows.
func (t *Tx) AppendThrough(ctx context.Context, query, table string, columns []string, rows iter.Seq[[]driver.Value]) error {
	return t.fill(ctx, table, rows, func(c driver.Conn) (*duckdb.Appender, error) {
		return duckdb.NewTableAppender(c, query, "", "", table, columns)
	})
}

func (t *Tx) fill(ctx context.Context, table string, rows iter.Seq[[]driver.Value], make func(driver.Conn) (*duckdb.Appender, error)) error {
	err := t.conn.Raw(func(c any) error {
		dc, ok := c.(driver.Conn)
		if !ok {
			return fmt.Errorf("connection is a %T", c)
		}
		a, err := make(dc)
		if err != nil {
			return err
		}
		for row := range rows {
			if err := a.AppendRow(row...); err != nil {
				return errors.Join(err, a.Clear(), a.CloseWithCancel(ctx))
			}
		}
		return a.CloseWithCancel(ctx)
	})
	if err != nil {
		return fmt.Errorf("append to %s: %w", table, err)
	}
	return nil
}
