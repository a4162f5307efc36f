// Package trialstore keeps the trials of all runs in one DuckDB file, for
// questions that the journals cannot answer quickly. The journals are the
// truth: the file is loaded from them, holds nothing else, and can be rebuilt
// from them at any time.
//
// Loading is idempotent. How far a journal has been read is written in the
// transaction that contains the records, so a process that is killed leaves
// neither gaps nor doubles.
package trialstore

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"

	"github.com/firstpick/firstpick/analytics/duck"
)

//go:embed schema/*.sql query/*.sql
var sqlFiles embed.FS

// ErrNotFound says that no run or trial has the wanted id.
var ErrNotFound = errors.New("not found")

// ErrAmbiguous says that an id's beginning fits several trials.
var ErrAmbiguous = errors.New("ambiguous")

// A LockedError says that another process has the file open.
type LockedError struct {
	Path string
	// PID is that process; empty if the system does not report it.
	PID string
}

// Error implements error.
func (e *LockedError) Error() string {
	who := "another firstpick process"
	if e.PID != "" {
		who += " (PID " + e.PID + ")"
	}
	return who + " has " + e.Path + " open; try again when it ends"
}

// A DamagedError says that the file cannot be read. Nothing is lost: the runs'
// journals hold all of it.
type DamagedError struct {
	Path string
	Err  error
}

// Error implements error.
func (e *DamagedError) Error() string {
	return e.Path + " is damaged; run `firstpick runs rebuild` to rebuild it from the journals (" + e.Err.Error() + ")"
}

// Unwrap returns the database's error.
func (e *DamagedError) Unwrap() error { return e.Err }

// A Store is an open file of trials. It is safe for concurrent use, but has one
// connection: questions wait for one another.
type Store struct {
	db       *sql.DB
	path     string
	replaced bool

	parquet []RunRow // the runs of a file that OpenParquet opened: it does not change

	mu       sync.Mutex
	underWay []string // ids of runs
}

// Open opens the file at path, creating it if needed. An empty path is a store
// in memory. A file whose creation never finished, on a full disk for example, is
// replaced: it never held a trial. Errors are *LockedError and *DamagedError where they
// apply.
func Open(ctx context.Context, path string) (*Store, error) {
	schema, err := fs.Sub(sqlFiles, "schema")
	if err != nil {
		return nil, err
	}
	db, err := duck.Open(ctx, path, schema)
	replaced := duck.IsDamaged(err) && duck.IsUnfinished(path)
	if replaced {
		if err := removeFile(path); err != nil {
			return nil, err
		}
		db, err = duck.Open(ctx, path, schema)
	}
	if err != nil {
		return nil, explain(path, err)
	}
	return &Store{db: db, path: path, replaced: replaced}, nil
}

// Replaced reports whether Open met a file whose creation never finished.
func (s *Store) Replaced() bool { return s.replaced }

// Close closes the file.
func (s *Store) Close() error { return s.db.Close() }

func explain(path string, err error) error {
	if pid, ok := duck.IsLocked(err); ok {
		return &LockedError{Path: path, PID: pid}
	}
	if duck.IsDamaged(err) {
		return &DamagedError{Path: path, Err: err}
	}
	if strings.Contains(err.Error(), "Permission denied") {
		return &fs.PathError{Op: "open", Path: path, Err: fs.ErrPermission}
	}
	return err
}

// fail adds the query to an error of the database.
func (s *Store) fail(what string, err error) error {
	return fmt.Errorf("%s: %w", what, explain(s.path, err))
}

func query(name string) string {
	text, err := sqlFiles.ReadFile("query/" + name + ".sql")
	if err != nil {
		panic(err) // a name in this package that is not a file in it
	}
	return string(text)
}

// collect runs a query and returns the scanned rows. All rows are
// read and closed before it returns: there is one connection.
func collect[T any](ctx context.Context, s *Store, name string, scan func(*sql.Rows) (T, error), args ...any) ([]T, error) {
	return collectFrom(ctx, s, s.db, name, scan, args...)
}

// A querier is a database or a transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

func collectFrom[T any](ctx context.Context, s *Store, q querier, name string, scan func(*sql.Rows) (T, error), args ...any) (_ []T, err error) {
	rows, err := q.QueryContext(ctx, query(name), args...)
	if err != nil {
		return nil, s.fail(name, err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	var all []T
	for rows.Next() {
		v, err := scan(rows)
		if err != nil {
			return nil, s.fail(name, err)
		}
		all = append(all, v)
	}
	if err := rows.Err(); err != nil {
		return nil, s.fail(name, err)
	}
	return all, nil
}
