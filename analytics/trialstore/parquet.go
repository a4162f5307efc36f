package trialstore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/firstpick/firstpick/analytics/duck"
)

// WriteParquet writes the runs' trials to a new Parquet file, sorted by
// category and trial id. No runs means the current ones. The file holds no run
// id and no transcript, and the same trials give the same bytes however they
// were loaded.
func (s *Store) WriteParquet(ctx context.Context, path string, runs []string) error {
	ids, err := s.chosen(ctx, runs)
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
	_, err = s.db.ExecContext(ctx, copyTo)
	_, resetErr := s.db.ExecContext(context.WithoutCancel(ctx), "reset threads")
	if err := errors.Join(err, resetErr); err != nil {
		return s.fail("write "+path, err)
	}
	return nil
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
