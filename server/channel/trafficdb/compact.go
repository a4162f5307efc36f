package trafficdb

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/firstpick/firstpick/analytics/duck"
)

const (
	compactSuffix = ".compact" // the copy that replaces the file
	erasingSuffix = ".erasing" // there from the first deletion until the file is replaced
)

// A ForeignError means that a file holds the events of another state store.
type ForeignError struct {
	Path        string
	Store, Want string // ids of its store, and of the one that wants to use it
}

// Error implements error.
func (e *ForeignError) Error() string {
	return fmt.Sprintf("%s holds events of another state store (its id is %s, this store is %s): start the server with that store's --state, or use another --data; "+
		"firstpick traffic reindex rebuilds the file from this store", e.Path, e.Store, e.Want)
}

// Claim binds the database to a state store by its id. A database of another store is a
// *ForeignError: RebuildFor replaces it.
func (db *DB) Claim(ctx context.Context, store string) error {
	db.life.Lock()
	defer db.life.Unlock()
	if db.sql == nil {
		return errClosed
	}
	var of string
	if err := db.sql.QueryRowContext(ctx, "select store from traffic.layout").Scan(&of); err != nil {
		return fmt.Errorf("the store of %s: %w", db.file, err)
	}
	if of != "" && of != store {
		return &ForeignError{Path: db.file, Store: of, Want: store}
	}
	if of == "" {
		if _, err := db.sql.ExecContext(ctx, "update traffic.layout set store = ?", store); err != nil {
			return fmt.Errorf("the store of %s: %w", db.file, err)
		}
	}
	db.store = store
	return nil
}

// RebuildFor is Rebuild for a state store, also when the database is another store's.
func (db *DB) RebuildFor(ctx context.Context, store string) error {
	db.loading.Lock()
	defer db.loading.Unlock()
	db.life.Lock()
	db.store = store
	db.life.Unlock()
	return db.rebuild(ctx)
}

// EraseWorkspaces deletes all events of the workspaces that gone reports, and then replaces
// the file by a copy without their bytes. An interrupted call is completed by the next.
func (db *DB) EraseWorkspaces(ctx context.Context, gone func(workspace string) bool) error {
	known, err := db.Workspaces(ctx)
	if err != nil {
		return err
	}
	marker := db.file + erasingSuffix
	_, err = os.Stat(marker)
	erasing := db.file != "" && err == nil
	for _, w := range known {
		if !gone(w) {
			continue
		}
		if !erasing && db.file != "" {
			if err := os.WriteFile(marker, nil, 0o600); err != nil {
				return err
			}
		}
		erasing = true
		if _, err := db.DropBefore(ctx, w, endOfTime); err != nil {
			return err
		}
	}
	if !erasing || db.file == "" {
		return nil
	}
	if err := db.compact(ctx); err != nil {
		return fmt.Errorf("compact %s: %w", db.file, err)
	}
	return ignoreMissing(os.Remove(marker))
}

// endOfTime is later than all events.
var endOfTime = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)

// compact replaces the file by a copy, which has no free parts with deleted rows. Reports
// and the loader wait for it.
func (db *DB) compact(ctx context.Context) error {
	db.loading.Lock()
	defer db.loading.Unlock()
	db.life.Lock()
	defer db.life.Unlock()
	if db.sql == nil {
		return errClosed
	}
	fresh := db.file + compactSuffix
	if err := errors.Join(ignoreMissing(os.Remove(fresh)), ignoreMissing(os.Remove(fresh+".wal"))); err != nil {
		return err
	}
	for _, statement := range []string{
		"checkpoint traffic",
		"attach " + duck.Quote(fresh) + " as fresh (storage_version 'v1.2.0')",
		"copy from database traffic to fresh",
		"checkpoint fresh",
		"detach fresh",
	} {
		if _, err := db.sql.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	ctx = context.WithoutCancel(ctx) // from here on the database is closed until it is attached again
	err := errors.Join(db.sql.Close(), ignoreMissing(os.Remove(db.file+".wal")))
	db.sql = nil
	if err == nil {
		err = os.Rename(fresh, db.file)
	}
	return errors.Join(err, db.attach(ctx))
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
