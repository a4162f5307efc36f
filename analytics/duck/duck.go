// Package duck opens and migrates DuckDB files. It is the only package that
// imports the driver, so the driver's rules are kept in one place:
//
//   - One process may hold a file open for writing, and then no other process
//     may open it at all. Readers get files without writers.
//   - Two transactions that update one row conflict, and the later one fails.
//     A writable database is therefore given exactly one connection.
//   - A transaction that saw an error commits "successfully" and writes
//     nothing. InTx and InBatch never commit after an error.
//   - Re-opening a path in one process returns the instance that is already
//     open, even when another file was renamed over it. Files that are swapped
//     have names of their own.
package duck

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"
	"net/url"
	"strings"

	_ "github.com/duckdb/duckdb-go/v2" // the driver
)

// Open opens path for reading and writing, creating it if needed, and applies
// the migrations in schema that it has not seen. An empty path is a database in
// memory. The error is a *OpenError that distinguishes a locked file from a damaged
// one.
func Open(ctx context.Context, path string, schema fs.FS) (*sql.DB, error) {
	options := url.Values{}
	if path != "" {
		// Older storage has no zstd for text, and text is most of a trial file.
		options.Set("storage_compatibility_version", "v1.2.0")
	} else {
		// By default a memory database spills into the working directory.
		options.Set("temp_directory", "")
	}
	db, err := open(ctx, path, options)
	if err != nil {
		return nil, err
	}
	if err := migrate(ctx, db, schema); err != nil {
		return nil, openError(path, closeAfter(db, err))
	}
	return db, nil
}

// OpenReadOnly opens a file without writers. Many processes may do so at
// once.
func OpenReadOnly(ctx context.Context, path string) (*sql.DB, error) {
	return open(ctx, path, url.Values{"access_mode": {"read_only"}})
}

func open(ctx context.Context, path string, options url.Values) (*sql.DB, error) {
	if strings.ContainsAny(path, "?") {
		return nil, fmt.Errorf("open %s: a database path may not contain a question mark; choose another data directory", path)
	}
	// Extensions are code from the network: nothing here needs one.
	options.Set("autoinstall_known_extensions", "false")
	options.Set("autoload_known_extensions", "false")
	options.Set("allow_community_extensions", "false")
	db, err := sql.Open("duckdb", path+"?"+options.Encode())
	if err != nil {
		return nil, openError(path, err)
	}
	db.SetMaxOpenConns(1)
	if path == "" {
		// The memory lives as long as its one connection.
		db.SetMaxIdleConns(1)
		db.SetConnMaxLifetime(0)
	}
	if err := db.PingContext(ctx); err != nil {
		return nil, openError(path, closeAfter(db, err))
	}
	return db, nil
}

func closeAfter(db *sql.DB, err error) error {
	_ = db.Close() // the first error is the one worth reporting
	return err
}

// Quote returns s as an SQL string literal, for the statements that take no
// parameters.
func Quote(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
