package trafficdb

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/firstpick/firstpick/analytics/duck"
)

// layout is the version of the schema. A file of another version is rebuilt.
const layout = 3

const (
	// maxReports is how many reports run at once; others wait. A report uses all
	// cores for a moment, so more would only slow each other and Append.
	maxReports = 2
	// A memory limit keeps reports from starving the server, and a larger log than
	// the usual 16 MB lets most checkpoints happen in idle moments.
	settings = "set memory_limit = '512MB'; set checkpoint_threshold = '64MB'"
)

//go:embed schema.sql
var schemaSQL string

// A LockedError means that another process has the file open.
type LockedError struct {
	Path string
	PID  string // that process; empty where the system does not report it
}

// Error implements error.
func (e *LockedError) Error() string {
	who := "another process"
	if e.PID != "" {
		who += " (PID " + e.PID + ")"
	}
	return who + " has " + e.Path + " open: one process may use it at a time"
}

// A DB is an open file of events. It is safe for concurrent use.
type DB struct {
	file  string
	store string // the id of the state store, once claimed
	// life is held for reading by users of sql, and for writing by Rebuild, Close
	// and Checkpoint, which must be alone.
	life sync.RWMutex
	sql  *sql.DB // nil once closed

	loading sync.Mutex    // one Step, Erase or Rebuild at a time
	writing sync.Mutex    // one transaction that writes at a time
	loose   int64         // rows that are not sorted, about; guarded by writing
	run     int64         // so many are sorted at once: runRows but in tests
	piece   int           // so many are erased at once: pieceErased but in tests
	reports chan struct{} // a place for each report that runs

	idle struct {
		sync.Mutex
		at time.Time // see Idle
	}
	remade string
	// beforeMark is called between append and mark; nil but in tests.
	beforeMark func() error
}

// Open opens the file. It creates a missing file and replaces a damaged one or one of
// another layout: then Mark is 0, and all events must be loaded again. The error is a
// *LockedError when another process uses the file. An empty name is a database in
// memory.
func Open(ctx context.Context, file string) (*DB, error) {
	db := &DB{file: file, run: runRows, piece: pieceErased, reports: make(chan struct{}, maxReports)}
	if err := db.open(ctx); err != nil {
		return nil, err
	}
	return db, nil
}

// Remade returns why Open did not use the existing file; empty when it did.
func (db *DB) Remade() string { return db.remade }

func (db *DB) open(ctx context.Context) error {
	if _, err := os.Stat(db.file); db.file == "" || errors.Is(err, fs.ErrNotExist) {
		if err := db.remove(); err != nil {
			return err
		}
		return db.create(ctx)
	}
	err := db.attach(ctx)
	if err == nil {
		var version int
		err = db.sql.QueryRowContext(ctx, "select version from traffic.layout").Scan(&version)
		if err == nil && version == layout {
			err = db.sql.QueryRowContext(ctx, "select count(*) from traffic.event where not sorted").Scan(&db.loose)
		}
		if err == nil && version == layout {
			return nil
		}
		db.remade = fmt.Sprintf("layout %d, not %d", version, layout)
		_ = db.sql.Close() // it is going to be removed
		db.sql = nil
		if err := ctx.Err(); err != nil {
			return err
		}
	} else {
		if pid, ok := duck.IsLocked(err); ok {
			return &LockedError{Path: db.file, PID: pid}
		}
		if !duck.IsDamaged(err) {
			return err
		}
	}
	if err != nil {
		db.remade = err.Error()
	}
	if err := db.remove(); err != nil {
		return err
	}
	return db.create(ctx)
}

// attach attaches the file to an empty database in memory, so that the file holds only
// our tables.
func (db *DB) attach(ctx context.Context) error {
	pool, err := duck.Open(ctx, "", embed.FS{})
	if err != nil {
		return err
	}
	pool.SetMaxOpenConns(maxReports + 2) // one to write, one for the mark
	pool.SetMaxIdleConns(maxReports + 2)
	statement := "attach ':memory:' as traffic"
	if db.file != "" {
		statement = "set temp_directory = " + duck.Quote(db.file+".tmp") + "; attach " + duck.Quote(db.file) + " as traffic (storage_version 'v1.2.0')"
	}
	if _, err := pool.ExecContext(ctx, settings+"; "+statement); err != nil {
		_ = pool.Close() // the first error is the one to return
		return fmt.Errorf("open %s: %w", db.file, err)
	}
	db.sql = pool
	return nil
}

// create makes the tables in a new file. The checkpoint keeps their definitions
// out of the log, whose replay has had faults.
func (db *DB) create(ctx context.Context) error {
	if err := db.attach(ctx); err != nil {
		return err
	}
	err := duck.InTx(ctx, db.sql, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, schemaSQL); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "insert into traffic.layout values (?, ?)", layout, db.store); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, "insert into traffic.mark values (0, timestamp '1970-01-01')")
		return err
	})
	if err == nil {
		_, err = db.sql.ExecContext(ctx, "checkpoint traffic")
	}
	if err != nil {
		_ = db.sql.Close() // the first error is the one to return
		db.sql = nil
		return fmt.Errorf("make %s: %w", db.file, err)
	}
	return nil
}

func (db *DB) remove() error {
	if db.file == "" {
		return nil
	}
	for _, path := range []string{db.file, db.file + ".wal", db.file + compactSuffix, db.file + compactSuffix + ".wal", db.file + erasingSuffix} {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// Close closes the file. It waits for running queries.
func (db *DB) Close() error {
	db.life.Lock()
	defer db.life.Unlock()
	if db.sql == nil {
		return nil
	}
	err := db.sql.Close()
	db.sql = nil
	return err
}

// Rebuild empties the database by replacing the file: Mark is 0 after it. It
// waits for reports that run, and those that come wait for it.
func (db *DB) Rebuild(ctx context.Context) error {
	db.loading.Lock()
	defer db.loading.Unlock()
	return db.rebuild(ctx)
}

// rebuild is Rebuild with loading held.
func (db *DB) rebuild(ctx context.Context) error {
	db.life.Lock()
	defer db.life.Unlock()
	if db.sql == nil {
		return errClosed
	}
	err := db.sql.Close()
	db.sql = nil
	db.loose = 0
	db.Idle(time.Time{})
	return errors.Join(err, db.remove(), db.create(ctx))
}

// Checkpoint moves the log into the file. Call it when idle: it waits for running
// reports, because DuckDB refuses it during a query, and blocks new ones.
func (db *DB) Checkpoint(ctx context.Context) error {
	db.life.Lock()
	defer db.life.Unlock()
	if db.sql == nil {
		return errClosed
	}
	if _, err := db.sql.ExecContext(ctx, "checkpoint traffic"); err != nil {
		return fmt.Errorf("checkpoint %s: %w", db.file, err)
	}
	return nil
}

var errClosed = errors.New("the traffic database is closed")

// use calls fn with the pool, which stays open until fn returns.
func (db *DB) use(fn func(*sql.DB) error) error {
	db.life.RLock()
	defer db.life.RUnlock()
	if db.sql == nil {
		return errClosed
	}
	return fn(db.sql)
}

// report is use for a report, when its turn has come.
func (db *DB) report(ctx context.Context, fn func(*sql.DB) error) error {
	select {
	case db.reports <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-db.reports }()
	return db.use(fn)
}
