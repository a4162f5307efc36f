// Package state stores the durable state of the server: accounts, sessions,
// workspaces, registrations, claims, tokens, keys, used token ids, the audit log.
// It runs on SQLite (embedded) and PostgreSQL with the same schema and the same
// queries. Nothing is decided here: the rules are in package identity, the uses
// in package agents.
//
// Secrets are stored as hashes, addresses sealed; the master key is not in the
// store (package secret).
package state

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/firstpick/firstpick/server/kit/secret"
)

// ErrNotFound means that no row matches.
var ErrNotFound = errors.New("not found")

// A DB is an open store. Its methods may be called by many goroutines.
type DB struct {
	vault  *secret.Vault
	read   *sql.DB
	eng    engine
	closed atomic.Bool
	// troubles counts the writes that failed for the store's sake.
	troubles atomic.Int64
	// id is the store's; origins are those of the stores that it was restored from.
	id      string
	origins []string
	// bearer is the statement of the most common read, prepared once.
	bearer *sql.Stmt
}

// An engine has the differences between the two stores.
type engine interface {
	// write runs fn in a transaction that is durable when write returns nil. The
	// statements of fn run under the context it is given, not under the caller's.
	write(ctx context.Context, fn func(ctx context.Context, q querier) error) error
	// bulk is write for a transaction that may take minutes; fn runs once.
	bulk(ctx context.Context, fn func(ctx context.Context, q querier) error) error
	// forUpdate is the suffix of a select that locks its row until commit.
	forUpdate() string
	// isDown reports whether an error is a failure of the store, not of the caller.
	isDown(err error) bool
	// scrub removes the bytes of deleted rows from the file of the store.
	scrub(ctx context.Context) error
	name() string
	close() error
}

// A querier runs statements; a transaction or a pool.
type querier interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// Open opens a store and brings its schema up to date. Address is
// sqlite:///FILE or postgres://... It fails when the store was written by a newer
// program or sealed with another master key.
func Open(ctx context.Context, address string, vault *secret.Vault) (*DB, error) {
	scheme, _, _ := strings.Cut(address, "://")
	var db *DB
	var err error
	switch scheme {
	case "sqlite":
		db, err = openSQLite(ctx, address)
	case "postgres", "postgresql":
		db, err = openPostgres(ctx, address)
	default:
		return nil, fmt.Errorf("state: %q is neither sqlite:///FILE nor postgres://HOST/DATABASE", redact(address))
	}
	if err != nil {
		return nil, fmt.Errorf("state %s: %w", redact(address), err)
	}
	db.vault = vault
	if err := db.prepare(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("state %s: %w", redact(address), err), db.Close())
	}
	return db, nil
}

func (db *DB) prepare(ctx context.Context) error {
	if err := db.migrate(ctx); err != nil {
		return err
	}
	if err := db.checkMaster(ctx); err != nil {
		return err
	}
	if err := db.identify(ctx); err != nil {
		return err
	}
	var err error
	db.bearer, err = db.read.PrepareContext(ctx, bearerSQL)
	return err
}

// redact takes the password out of an address.
func redact(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "(not an address)"
	}
	return u.Redacted()
}

// Close closes the store; writes that were accepted are finished first.
func (db *DB) Close() error {
	db.closed.Store(true)
	var err error
	if db.bearer != nil {
		err = db.bearer.Close()
	}
	// The writer goes last: only it may fold SQLite's log into the file.
	return errors.Join(err, db.read.Close(), db.eng.close())
}

// Engine returns "sqlite" or "postgres".
func (db *DB) Engine() string { return db.eng.name() }

// IsDown reports whether err is a temporary failure of the store: no connection,
// no room, busy.
func (db *DB) IsDown(err error) bool {
	return db.closed.Load() || errors.Is(err, context.DeadlineExceeded) || db.eng.isDown(err)
}

// Ping checks that the store responds.
func (db *DB) Ping(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, pingTimeout)
	defer cancel()
	var one int
	return db.read.QueryRowContext(ctx, "select 1").Scan(&one)
}

// CheckWrite makes one small write, to see whether the store takes any. It changes
// nothing: a row is written as it is.
func (db *DB) CheckWrite(ctx context.Context) error {
	return db.Write(ctx, func(tx *Tx) error {
		_, err := tx.exec(ctx, "update setting set value = value where name = $1", "master")
		return err
	})
}

// Troubles returns how many writes failed for a reason that IsDown names, since the
// store was opened.
func (db *DB) Troubles() int64 { return db.troubles.Load() }

func (db *DB) count(err error) error {
	if err != nil && db.IsDown(err) {
		db.troubles.Add(1)
	}
	return err
}

// Write runs fn in one transaction: all its changes are durable when Write returns
// nil, else all are rolled back. fn may run more than once, must wait only for the
// store, and must not use tx after it returns.
func (db *DB) Write(ctx context.Context, fn func(tx *Tx) error) error {
	return db.count(db.eng.write(ctx, db.inTx(fn)))
}

// bulk is Write for a transaction of minutes. fn runs once.
func (db *DB) bulk(ctx context.Context, fn func(tx *Tx) error) error {
	return db.count(db.eng.bulk(ctx, db.inTx(fn)))
}

func (db *DB) inTx(fn func(tx *Tx) error) func(context.Context, querier) error {
	return func(ctx context.Context, q querier) error { return fn(&Tx{q: q, db: db, ctx: ctx, writes: true}) }
}

// Scrub removes the bytes of deleted rows from the file of a SQLite store and from its
// log: it rewrites the file, and writers wait. PostgreSQL reuses their room by itself.
func (db *DB) Scrub(ctx context.Context) error { return db.count(db.eng.scrub(ctx)) }

// readTimeout bounds a single read: a store that hangs must not hold those who ask.
const (
	readTimeout = 5 * time.Second
	pingTimeout = 2 * time.Second
)

// Read returns a Tx for single reads outside a transaction.
func (db *DB) Read() *Tx { return &Tx{q: db.read, db: db} }

// A Tx reads and writes rows. The methods of one aggregate are in one file.
type Tx struct {
	q      querier
	db     *DB
	ctx    context.Context // the transaction's; nil outside of one
	writes bool
}

// within returns the context that a statement runs under. In a transaction it is
// the transaction's: a client that disconnects must not interrupt a commit.
func (tx *Tx) within(ctx context.Context) (context.Context, context.CancelFunc) {
	if tx.ctx != nil {
		return tx.ctx, func() {}
	}
	return context.WithTimeout(ctx, readTimeout)
}

// lock is the suffix of a select that locks its row until commit. It is empty outside
// a transaction.
func (tx *Tx) lock() string {
	if tx.writes {
		return tx.db.eng.forUpdate()
	}
	return ""
}

func (tx *Tx) exec(ctx context.Context, query string, args ...any) (int64, error) {
	ctx, cancel := tx.within(ctx)
	defer cancel()
	res, err := tx.q.ExecContext(ctx, query, args...)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// one scans a single row; no row is ErrNotFound.
func (tx *Tx) one(ctx context.Context, dest []any, query string, args ...any) error {
	ctx, cancel := tx.within(ctx)
	defer cancel()
	err := tx.q.QueryRowContext(ctx, query, args...).Scan(dest...)
	if errors.Is(err, sql.ErrNoRows) {
		return ErrNotFound
	}
	return err
}

// A scanner is a row.
type scanner interface{ Scan(dest ...any) error }

// list calls scan for every row.
func (tx *Tx) list(ctx context.Context, scan func(row scanner) error, query string, args ...any) error {
	ctx, cancel := tx.within(ctx)
	defer cancel()
	rows, err := tx.q.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// texts returns the only column of a query's rows.
func (tx *Tx) texts(ctx context.Context, query string, args ...any) ([]string, error) {
	var out []string
	err := tx.list(ctx, func(row scanner) error {
		var text string
		err := row.Scan(&text)
		out = append(out, text)
		return err
	}, query, args...)
	return out, err
}

// us is a time as it is stored.
func us(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

func fromUS(v int64) time.Time {
	if v == 0 {
		return time.Time{}
	}
	return time.UnixMicro(v).UTC()
}

func flag(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// bytes turns nil into an empty value: no column may be null.
func bytes(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// seal and open guard the columns named *_sealed; mac makes those named *_mac.
func (tx *Tx) seal(column, plain string) []byte {
	return bytes(tx.db.vault.Seal(column, []byte(plain)))
}

func (tx *Tx) open(column string, sealed []byte) (string, error) {
	plain, err := tx.db.vault.Open(column, sealed)
	if err != nil {
		return "", fmt.Errorf("%s: %w", column, err)
	}
	return string(plain), nil
}

func (tx *Tx) mac(purpose, value string) []byte {
	if value == "" {
		return []byte{}
	}
	return tx.db.vault.MAC(purpose, value)
}
