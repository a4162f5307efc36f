package trialstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/analytics/duck"
)

// A Publisher returns the pick and the shortlist of an outcome as they are published.
type Publisher func(outcome, picked string, shortlist []string) (string, []string)

// WriteParquet writes the runs' trials to a new Parquet file, sorted by
// category and trial id. No runs means the current ones. The file holds no run
// id and no transcript, and the same trials give the same bytes however they
// were loaded. A nil publisher leaves the names as they are.
func (s *Store) WriteParquet(ctx context.Context, path string, runs []string, public Publisher) error {
	ids, err := s.chosen(ctx, runs)
	if err != nil {
		return err
	}
	changed, err := s.changedNames(ctx, ids, public)
	if err != nil {
		return err
	}
	// COPY takes no parameters, so both values are spelled into the statement.
	rows := strings.ReplaceAll(query("parquet_rows"), "$1", duck.Quote(ids))
	copyTo := "copy (" + rows + ") to " + duck.Quote(path) + " (format parquet, compression zstd, row_group_size 122880)"
	// Row groups are cut differently by a different number of threads.
	if _, err := s.db.ExecContext(ctx, "set threads = 1"); err != nil {
		return s.fail("write "+path, err)
	}
	err = duck.InBatch(ctx, s.db, func(tx *duck.Tx) error {
		if _, err := tx.ExecContext(ctx, query("public_names")); err != nil {
			return err
		}
		if err := tx.Append(ctx, "public_name", slices.Values(changed)); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, copyTo+"; drop table public_name")
		return err
	})
	_, resetErr := s.db.ExecContext(context.WithoutCancel(ctx), "reset threads")
	if err := errors.Join(err, resetErr); err != nil {
		return s.fail("write "+path, err)
	}
	return nil
}

// changedNames returns the rows of public_name: outcomes with names that are published in
// another form.
func (s *Store) changedNames(ctx context.Context, ids string, public Publisher) (changed [][]driver.Value, err error) {
	if public == nil {
		return nil, nil
	}
	_, err = collect(ctx, s, "names", func(rows *sql.Rows) (struct{}, error) {
		var outcome, picked, list string
		if err := rows.Scan(&outcome, &picked, &list); err != nil {
			return struct{}{}, err
		}
		publicPick, names := public(outcome, picked, splitList(list))
		if publicList := joinList(names); publicPick != picked || publicList != list {
			changed = append(changed, []driver.Value{outcome, picked, list, publicPick, publicList})
		}
		return struct{}{}, nil
	}, ids)
	return changed, err
}

// OpenParquet returns a store in memory over a file that WriteParquet wrote.
// Cells, Categories and Runs work on it; transcripts are not in it.
func OpenParquet(ctx context.Context, path string) (*Store, error) {
	if _, err := os.Stat(path); err != nil {
		return nil, err
	}
	s, err := Open(ctx, "")
	if err != nil {
		return nil, err
	}
	quoted := strings.ReplaceAll(path, "'", "''")
	if _, err := s.db.ExecContext(ctx, strings.ReplaceAll(query("parquet_view"), "@path", quoted)); err != nil {
		return nil, errors.Join(fmt.Errorf("read %s: %w", path, err), s.Close())
	}
	s.path = path
	return s, nil
}
