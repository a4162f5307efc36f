package trafficdb

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/firstpick/firstpick/analytics/duck"
)

// Raw returns the events of a workspace in the order of their numbers, those that
// are loaded when it begins. They are read in blocks, so that a slow reader blocks no
// other query. It ends after an error.
func (db *DB) Raw(ctx context.Context, workspace string, w Window) iter.Seq2[Row, error] {
	return db.rows(ctx, "rows", w, workspace)
}

// Subject returns all events of a workspace that carry one of the visitors or
// identities, as Raw does. Events of the same person under names that are not
// given are not found.
func (db *DB) Subject(ctx context.Context, workspace string, visitors, identities []string) iter.Seq2[Row, error] {
	return db.rows(ctx, "subject", always(), workspace, list(visitors), list(identities))
}

func list(names []string) []any {
	out := make([]any, len(names))
	for i, n := range names {
		out[i] = n
	}
	return out
}

const (
	pieceRows = 10_000 // of one query at most
	// A query covers a range of numbers, which grows while it finds little.
	leastRange, mostRange = 20_000, 50_000_000
)

func (db *DB) rows(ctx context.Context, name string, w Window, workspace string, more ...any) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		last, err := db.Mark(ctx)
		if err != nil {
			yield(Row{}, err)
			return
		}
		size := int64(leastRange)
		for from := int64(0); from < last; {
			to := min(from+size, last)
			rows, err := ask(ctx, db, name, scanRow, append(w.args(workspace, from, to, pieceRows), more...)...)
			if err != nil {
				yield(Row{}, err)
				return
			}
			for _, r := range rows {
				if !yield(r, nil) {
					return
				}
			}
			from = to
			switch {
			case len(rows) == pieceRows:
				from = rows[len(rows)-1].Seq
				size = max(size/2, leastRange)
			case len(rows) < pieceRows/4:
				size = min(size*2, mostRange)
			}
		}
	}
}

func scanRow(rows *sql.Rows) (Row, error) {
	var r Row
	to := fields(&r)
	err := rows.Scan(to[:]...)
	r.At, r.ReceivedAt = r.At.UTC(), r.ReceivedAt.UTC()
	return r, err
}

// Parquet writes the events of a workspace to out as a Parquet file, in the order
// of their numbers. It first writes a temporary file next to the database.
func (db *DB) Parquet(ctx context.Context, workspace string, w Window, out io.Writer) error {
	dir := "" // the system's, for a database in memory
	if db.file != "" {
		dir = filepath.Dir(db.file)
	}
	temp, err := os.CreateTemp(dir, "export-*.parquet")
	if err != nil {
		return err
	}
	defer func() {
		_ = temp.Close() // it was only read
		_ = os.Remove(temp.Name())
	}()
	// COPY takes no parameters, so they are spelled into the statement.
	rows := strings.NewReplacer("$1", duck.Quote(workspace), "$2", instant(w.From), "$3", instant(w.To)).Replace(query("parquet"))
	err = db.report(ctx, func(pool *sql.DB) error {
		_, err := pool.ExecContext(ctx, "copy ("+rows+") to "+duck.Quote(temp.Name())+" (format parquet, compression zstd)")
		return err
	})
	if err != nil {
		return fmt.Errorf("export of %s: %w", workspace, err)
	}
	// COPY may have put another file in this one's place.
	made, err := os.Open(temp.Name())
	if err != nil {
		return err
	}
	defer func() { _ = made.Close() }() // it was only read
	// The file has no name while it is sent, which may take long: the file of a crashed
	// server would still hold erased events.
	if err := os.Remove(temp.Name()); err != nil {
		return err
	}
	_, err = io.Copy(out, made)
	return err
}

// instant writes a time for a statement.
func instant(t time.Time) string { return fmt.Sprintf("make_timestamp(%d)", micro(t).UnixMicro()) }
