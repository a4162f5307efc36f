package trafficdb

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"iter"
	"math"
	"strings"
	"time"

	"github.com/firstpick/firstpick/analytics/duck"
	"github.com/firstpick/firstpick/server/channel/event"
)

// A Row is an event and its sequence number in the state store.
type Row struct {
	Seq       int64 // 1 and up, unique, in the order of commits
	Workspace string
	event.Record
}

// Mark returns the sequence number up to which events are loaded; 0 without events.
func (db *DB) Mark(ctx context.Context) (int64, error) {
	seq, _, err := db.mark(ctx)
	return seq, err
}

func (db *DB) mark(ctx context.Context) (seq int64, through time.Time, err error) {
	err = db.use(func(pool *sql.DB) error {
		return pool.QueryRowContext(ctx, "select seq, through from traffic.mark").Scan(&seq, &through)
	})
	if err != nil {
		return 0, time.Time{}, fmt.Errorf("mark of %s: %w", db.file, err)
	}
	return seq, through, nil
}

// Append adds rows, in the order of their numbers, and moves the mark, in one
// transaction. Rows at or before the present mark, or after the new one, are an error:
// they would be counted twice.
func (db *DB) Append(ctx context.Context, rows []Row, mark int64) error {
	return db.load(ctx, batch{rows: rows, mark: mark})
}

// A batch is one transaction of a Loader.
type batch struct {
	rows []Row
	mark int64
	// erased are the numbers of rows to remove that are there already, by workspace.
	erased map[string][]int64
}

func (db *DB) load(ctx context.Context, b batch) error {
	through, err := check(b.rows, b.mark)
	if err != nil {
		return err
	}
	err = db.use(func(pool *sql.DB) error {
		db.writing.Lock()
		defer db.writing.Unlock()
		err := duck.InBatch(ctx, pool, func(tx *duck.Tx) error { return db.append(ctx, tx, b, through) })
		if err == nil {
			db.loose += int64(len(b.rows))
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("append to %s: %w", db.file, err)
	}
	return nil
}

// check returns the latest time at which one of the rows was received.
func check(rows []Row, mark int64) (through time.Time, err error) {
	last := int64(0)
	for i := range rows {
		if seq := rows[i].Seq; seq <= last || seq > mark {
			return through, fmt.Errorf("append event %d after %d, mark %d: not in order", seq, last, mark)
		}
		last = rows[i].Seq
		if at := micro(rows[i].ReceivedAt); at.After(through) {
			through = at
		}
	}
	return through, nil
}

func (db *DB) append(ctx context.Context, tx *duck.Tx, b batch, through time.Time) error {
	var before int64
	if err := tx.QueryRowContext(ctx, "select seq from traffic.mark").Scan(&before); err != nil {
		return err
	}
	if b.mark < before || len(b.rows) > 0 && b.rows[0].Seq <= before {
		return fmt.Errorf("events up to %d are loaded already", before)
	}
	for workspace, seqs := range b.erased {
		if _, err := eraseSeqs(ctx, tx.Tx, workspace, seqs); err != nil {
			return err
		}
	}
	if len(b.rows) > 0 {
		// The appender finds tables of the present database only.
		if _, err := tx.ExecContext(ctx, "use traffic"); err != nil {
			return err
		}
		if err := tx.Append(ctx, "event", values(b.rows)); err != nil {
			return err
		}
	}
	if db.beforeMark != nil {
		if err := db.beforeMark(); err != nil {
			return err
		}
	}
	_, err := tx.ExecContext(ctx, "update traffic.mark set seq = ?, through = greatest(through, ?)", b.mark, through)
	return err
}

// values lays rows out in the order of the table's columns.
func values(rows []Row) iter.Seq[[]driver.Value] {
	return func(yield func([]driver.Value) bool) {
		var line []driver.Value
		for i := range rows {
			line = line[:0]
			for _, field := range fields(&rows[i]) {
				line = append(line, stored(field))
			}
			line = append(line, false) // not sorted
			if !yield(line) {
				return
			}
		}
	}
}

// fields returns pointers to the fields of a row in the order of the table's
// columns, of which sorted is the last one and no field.
func fields(r *Row) [columns]any {
	return [columns]any{
		&r.Seq, &r.Workspace, &r.ID, (*string)(&r.Type), &r.At, &r.ReceivedAt, &r.Backfill, &r.Visitor, &r.Identity,
		&r.Host, &r.Path, &r.Method, &r.Status, &r.ContentType, &r.DurationMS, &r.Bytes, &r.Markdown, &r.UserAgent,
		&r.Network, &r.Referrer, &r.Via, &r.UTMSource, &r.Source, &r.Claimed, &r.SelfReport,
		&r.MCPMethod, &r.MCPTool, &r.MCPClient, &r.MCPVersion,
		&r.Agent, &r.Family, &r.Operator, &r.Class, &r.Verdict, &r.Evidence,
		&r.Kind, &r.Value, &r.Currency, &r.OrderID, &r.RefundOf,
	}
}

// columns is how many columns table event has, but for sorted.
const columns = 40

// stored returns a field as the appender takes it. It takes any value: one that
// the database refused would stop the loading of all that come after it.
func stored(field any) driver.Value {
	switch v := field.(type) {
	case *string:
		return strings.ToValidUTF8(*v, "\uFFFD")
	case *int:
		return int32(max(min(*v, math.MaxInt32), math.MinInt32))
	case *int64:
		return *v
	case *bool:
		return *v
	case *time.Time:
		return micro(*v)
	}
	panic(fmt.Sprintf("no column holds a %T", field)) // a field of this package that has another type
}

// micro is t as the database keeps it, in its range.
func micro(t time.Time) time.Time {
	const least, most = -62_135_596_800_000_000, 253_402_300_799_999_999 // years 1 and 9999
	return time.UnixMicro(max(min(t.UnixMicro(), most), least)).UTC()
}
