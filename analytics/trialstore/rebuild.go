package trialstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/firstpick/firstpick/analytics/duck"
)

// Rebuild rebuilds the file at path from the journals and replaces the old
// one, which may be damaged. No process may have the old one open: that is
// a *LockedError. Until the new file is whole the old one stays as it is.
func Rebuild(ctx context.Context, path, runsRoot string) (Loaded, error) {
	if err := refuseLocked(ctx, path); err != nil {
		return Loaded{}, err
	}
	fresh := path + ".rebuild"
	if err := removeFile(fresh); err != nil {
		return Loaded{}, err
	}
	s, err := Open(ctx, fresh)
	if err != nil {
		return Loaded{}, err
	}
	sum, loadErr := s.Sync(ctx, runsRoot)
	if loadErr != nil {
		return sum, errors.Join(loadErr, s.Close(), removeFile(fresh))
	}
	// Without a checkpoint a part of the data would stay in the write-ahead log.
	_, err = s.db.ExecContext(ctx, "checkpoint")
	if err := errors.Join(err, s.Close()); err != nil {
		return sum, errors.Join(fmt.Errorf("rebuild %s: %w", path, err), removeFile(fresh))
	}
	// The old log would be replayed into the new file.
	if err := os.Remove(path + ".wal"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return sum, errors.Join(err, removeFile(fresh))
	}
	return sum, os.Rename(fresh, path)
}

func refuseLocked(ctx context.Context, path string) error {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	db, err := duck.OpenReadOnly(ctx, path)
	if err == nil {
		return db.Close()
	}
	var locked *LockedError
	if err := explain(path, err); errors.As(err, &locked) {
		return err
	}
	return nil // damaged is what a rebuild is for
}

func removeFile(path string) error {
	for _, p := range []string{path, path + ".wal"} {
		if err := os.Remove(p); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
