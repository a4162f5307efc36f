package trialstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
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

// The limits of OpenUntrusted.
const (
	maxUntrusted    = 5_000_000 // trials
	maxText         = 1 << 30   // bytes of all columns together: a trial has some 150
	maxFooter       = 4 << 20   // bytes: a row group takes some 2 KiB and has up to 122,880 trials
	untrustedMemory = "2GB"
)

// ErrRows means that a file does not have as many trials as it should.
var ErrRows = errors.New("another number of trials")

// OpenParquet returns a store in memory over a file that WriteParquet wrote.
// Cells, Categories and Runs work on it; transcripts are not in it.
func OpenParquet(ctx context.Context, path string) (*Store, error) {
	s, err := openParquet(ctx, path, func(*Store, string) error { return nil })
	if err != nil {
		return nil, err
	}
	return s.withRuns(ctx)
}

// OpenUntrusted is OpenParquet for a file that anybody may have written. The file must have
// the given number of trials, at most 5 million, which is read from its footer: a file of few
// bytes can hold any number of equal rows. The error is ErrRows if it does not. Its texts have
// at most 1 GiB together, as queries return them. Queries fail that need more than 2 GB of
// memory in the database.
func OpenUntrusted(ctx context.Context, path string, trials int) (*Store, error) {
	if trials > maxUntrusted {
		return nil, fmt.Errorf("%d trials; at most %d are checked", trials, maxUntrusted)
	}
	if err := checkFooter(path); err != nil {
		return nil, err
	}
	s, err := openParquet(ctx, path, func(s *Store, quoted string) error {
		if _, err := s.db.ExecContext(ctx, "set memory_limit = '"+untrustedMemory+"'"); err != nil {
			return err
		}
		var listed, inGroups int64
		if err := s.db.QueryRowContext(ctx, strings.ReplaceAll(query("parquet_count"), "@path", quoted)).Scan(&listed, &inGroups); err != nil {
			return err
		}
		if listed != int64(trials) || inGroups != int64(trials) {
			return fmt.Errorf("%w: %d, want %d", ErrRows, inGroups, trials)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var text int64
	if err = s.db.QueryRowContext(ctx, query("parquet_text")).Scan(&text); err == nil && text > maxText {
		err = fmt.Errorf("%d bytes of text; at most %d are read", text, maxText)
	}
	if err != nil {
		return nil, errors.Join(s.fail("check", err), s.Close())
	}
	return s.withRuns(ctx)
}

// withRuns counts the runs of a file once.
func (s *Store) withRuns(ctx context.Context) (_ *Store, err error) {
	if s.parquet, err = s.runRows(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// checkFooter refuses a large footer: it is held in memory, outside of the database's limit.
func checkFooter(path string) (err error) {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	tail := make([]byte, 8)
	if _, err := f.Seek(-int64(len(tail)), io.SeekEnd); err != nil {
		return fmt.Errorf("too short for a Parquet file: %w", err)
	}
	if _, err := io.ReadFull(f, tail); err != nil {
		return err
	}
	if n := binary.LittleEndian.Uint32(tail); n > maxFooter {
		return fmt.Errorf("a footer of %d bytes; at most %d are read", n, maxFooter)
	}
	return nil
}

func openParquet(ctx context.Context, path string, check func(s *Store, quoted string) error) (*Store, error) {
	if _, err := os.Stat(path); err != nil {
		return nil, err
	}
	s, err := Open(ctx, "")
	if err != nil {
		return nil, err
	}
	quoted := strings.ReplaceAll(path, "'", "''")
	err = check(s, quoted)
	if err == nil {
		_, err = s.db.ExecContext(ctx, strings.ReplaceAll(query("parquet_view"), "@path", quoted))
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("read %s: %w", path, err), s.Close())
	}
	s.path = path
	return s, nil
}
