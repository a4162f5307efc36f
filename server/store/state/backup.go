package state

import (
	"bufio"
	"context"
	"crypto/hmac"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// tables are all tables that a backup holds, parents before children. Counters
// of rate limits are left out.
var tables = []string{
	"account", "workspace", "member", "invitation", "registration", "attempt", "access_token", "delegation", "replay", "subject_revocation",
	"collector_key", "session", "sign_in", "sign_in_identity", "issuer", "signing_key", "outbox", "audit",
	"collected_event", "collected_order", "collected_day", "collected_seq",
	"site_check", "alert_watch", "alert", "alert_told", "alert_channel", "alert_mail_off", "alert_delivery", "pick_watch",
	"workspace_catalog", "eval", "eval_version", "eval_run", "eval_turn", "eval_run_event", "eval_schedule", "eval_schedule_tick", "eval_upload", "eval_key", "provider_key", "billing_event", "billing_subscription",
	"erasure",
}

// A backup is lines of JSON under zstd: a header, rows, and an end that counts
// them, so that a file cut short is known as such.
type backupHeader struct {
	Format string `json:"format"`
	Schema int    `json:"schema"`
	Master []byte `json:"master"` // keyed hash: the backup needs the same master key
	// Stores are the ids of the store and of those that it was restored from.
	Stores []string `json:"stores,omitempty"`
}

type backupRow struct {
	Table  string `json:"t"`
	Values []any  `json:"v"`
}

type backupEnd struct {
	Rows int64 `json:"rows"`
}

const backupFormat = "firstpick-state"

// binary marks bytes among the values.
type binary struct {
	B []byte `json:"b"`
}

// Backup writes all rows, as they are at one moment, and returns their number.
func (db *DB) Backup(ctx context.Context, w io.Writer) (int64, error) {
	conn, err := db.read.Conn(ctx)
	if err != nil {
		return 0, err
	}
	defer func() { _ = conn.Close() }()
	begin := "begin"
	if db.Engine() == "postgres" {
		begin = "begin isolation level repeatable read read only"
	}
	if _, err := conn.ExecContext(ctx, begin); err != nil {
		return 0, err
	}
	defer func() { _, _ = conn.ExecContext(context.WithoutCancel(ctx), "rollback") }()
	z, err := zstd.NewWriter(w)
	if err != nil {
		return 0, err
	}
	n, err := db.writeRows(ctx, &Tx{q: conn, db: db, ctx: ctx}, json.NewEncoder(z))
	return n, errors.Join(err, z.Close())
}

func (db *DB) writeRows(ctx context.Context, tx *Tx, enc *json.Encoder) (int64, error) {
	schema, err := tx.schemaVersion(ctx)
	if err != nil {
		return 0, err
	}
	if err := enc.Encode(backupHeader{backupFormat, schema, db.vault.MAC("master check"), append([]string{db.id}, db.origins...)}); err != nil {
		return 0, err
	}
	var n int64
	for _, table := range tables {
		columns, err := tx.columns(ctx, table)
		if err != nil {
			return n, err
		}
		err = tx.list(ctx, func(row scanner) error {
			values, dest := make([]any, len(columns)), make([]any, len(columns))
			for i := range values {
				dest[i] = &values[i]
			}
			if err := row.Scan(dest...); err != nil {
				return err
			}
			for i, v := range values {
				if b, ok := v.([]byte); ok {
					values[i] = binary{bytes(b)}
				}
			}
			n++
			return enc.Encode(backupRow{table, values})
		}, "select "+strings.Join(columns, ", ")+" from "+table)
		if err != nil {
			return n, fmt.Errorf("table %s: %w", table, err)
		}
	}
	return n, enc.Encode(backupEnd{n})
}

// columns returns the names of a table's columns, in alphabetical order, so that
// both engines write and read the same.
func (tx *Tx) columns(ctx context.Context, table string) ([]string, error) {
	query := "select name from pragma_table_info($1) order by name"
	if tx.db.Engine() == "postgres" {
		query = "select column_name from information_schema.columns where table_schema = current_schema() and table_name = $1 order by column_name collate \"C\""
	}
	return tx.texts(ctx, query, table)
}

// maxBackupLine limits the length of a row. It is far above any row, so that every
// backup can be restored.
const maxBackupLine = 1 << 30

// Restore fills a store that has no rows from a backup, in one transaction, and
// returns the number of rows. Its schema must be this program's.
func (db *DB) Restore(ctx context.Context, r io.Reader) (int64, error) {
	z, err := zstd.NewReader(r)
	if err != nil {
		return 0, err
	}
	defer z.Close()
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, maxBackupLine)
	var n int64
	err = db.bulk(ctx, func(tx *Tx) error {
		if err := tx.refuseUnlessEmpty(ctx); err != nil {
			return err
		}
		if err := db.checkHeader(ctx, tx, lines); err != nil {
			return err
		}
		n = 0
		columns := map[string][]string{}
		for lines.Scan() {
			var row backupRow
			dec := json.NewDecoder(strings.NewReader(lines.Text()))
			dec.UseNumber()
			if err := dec.Decode(&row); err != nil {
				return fmt.Errorf("line %d: %w", n+2, err)
			}
			if row.Table == "" {
				return finish(lines, n)
			}
			if err := tx.restoreRow(ctx, columns, row); err != nil {
				return fmt.Errorf("line %d: %w", n+2, err)
			}
			n++
		}
		return errors.Join(lines.Err(), errors.New("the backup is cut short"))
	})
	if err != nil {
		return n, err
	}
	return n, db.identify(ctx)
}

// finish compares the count of the last line, and reads to the end of the file:
// there is the checksum over all of it.
func finish(lines *bufio.Scanner, n int64) error {
	var end backupEnd
	if err := json.Unmarshal(lines.Bytes(), &end); err != nil || end.Rows != n {
		return errors.New("the backup does not hold the rows that it counts")
	}
	if lines.Scan() {
		return errors.New("the backup goes on after its end")
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("the backup is damaged: %w", err)
	}
	return nil
}

func (db *DB) checkHeader(ctx context.Context, tx *Tx, lines *bufio.Scanner) error {
	var h backupHeader
	if !lines.Scan() || json.Unmarshal(lines.Bytes(), &h) != nil || h.Format != backupFormat {
		return errors.Join(lines.Err(), errors.New("not a backup of a state store"))
	}
	have, err := tx.schemaVersion(ctx)
	if err != nil {
		return err
	}
	if h.Schema != have {
		return fmt.Errorf("the backup has schema %d and this program %d; restore it with the program that wrote it", h.Schema, have)
	}
	if !hmac.Equal(h.Master, db.vault.MAC("master check")) {
		return ErrMaster
	}
	return tx.setOrigins(ctx, h.Stores)
}

// given are tables of which a new store has a row already.
var given = []string{"signing_key", "collected_seq", "eval_turn"}

// refuseUnlessEmpty fails when the store is in use. It deletes the rows that every new
// store has.
func (tx *Tx) refuseUnlessEmpty(ctx context.Context) error {
	for _, table := range tables {
		if slices.Contains(given, table) {
			if _, err := tx.exec(ctx, "delete from "+table); err != nil {
				return err
			}
			continue
		}
		var n int64
		if err := tx.one(ctx, []any{&n}, "select count(*) from "+table); err != nil {
			return err
		}
		if n > 0 {
			return fmt.Errorf("the store is in use: table %s has %d rows; restore into a new one", table, n)
		}
	}
	return nil
}

func (tx *Tx) restoreRow(ctx context.Context, known map[string][]string, row backupRow) error {
	columns := known[row.Table]
	if columns == nil {
		listed := false
		for _, t := range tables {
			listed = listed || t == row.Table
		}
		if !listed {
			return fmt.Errorf("unknown table %q", row.Table)
		}
		var err error
		if columns, err = tx.columns(ctx, row.Table); err != nil {
			return err
		}
		known[row.Table] = columns
	}
	if len(columns) != len(row.Values) {
		return fmt.Errorf("table %s has %d columns, the row %d values", row.Table, len(columns), len(row.Values))
	}
	marks, args := make([]string, len(columns)), make([]any, len(columns))
	for i, v := range row.Values {
		marks[i] = "$" + strconv.Itoa(i+1)
		var err error
		if args[i], err = restored(v); err != nil {
			return err
		}
	}
	_, err := tx.exec(ctx, "insert into "+row.Table+" ("+strings.Join(columns, ", ")+") values ("+strings.Join(marks, ", ")+")", args...)
	return err
}

func restored(v any) (any, error) {
	switch v := v.(type) {
	case json.Number:
		return v.Int64()
	case string:
		return v, nil
	case map[string]any:
		text, ok := v["b"].(string)
		if !ok && v["b"] != nil {
			return nil, errors.New("bytes must be a base64 string")
		}
		var b []byte
		err := json.Unmarshal([]byte(strconv.Quote(text)), &b)
		return bytes(b), err
	default:
		return nil, fmt.Errorf("a value of type %T", v)
	}
}
