package journal

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/firstpick/firstpick/runner/filelock"
)

// ErrClosed is returned by Append and Put after Close.
var ErrClosed = errors.New("journal: closed")

// ErrBusy means that another process has the run open for appending.
var ErrBusy = errors.New("is being written by another process")

// A Journal is a run that is open for appending. Its methods may be called by
// many goroutines.
type Journal struct {
	run     Run
	table   *crc32.Table
	lock    *os.File
	records *segments
	raw     *rawWriter
}

// Create makes a run and opens it. The id must be new.
func Create(root string, r Run) (*Journal, error) {
	if err := makeRun(root, r); err != nil {
		return nil, fmt.Errorf("create run: %w", err)
	}
	return Open(root, r.ID)
}

// Open opens a run for appending and removes a torn last line. It returns
// os.ErrNotExist for a missing run, and ErrBusy if another process appends to it.
func Open(root, id string) (*Journal, error) {
	run, err := ReadRun(root, id)
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(root, id)
	lock, err := lockDir(dir, id)
	if err != nil {
		return nil, err
	}
	end, err := Scan(root, id, Offset{}, func(Record, Offset) error { return nil })
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	records, err := openSegments(id, dir, segmentPath, max(1, end.Segment), end.Byte)
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return &Journal{run: run, table: newTable(), lock: lock, records: records, raw: newRawWriter(id, dir)}, nil
}

// lockDir acquires the run's lock, which the system releases when the process ends in
// any way.
func lockDir(dir, id string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", id, err)
	}
	if err := filelock.TryLock(f); err != nil {
		pid, _ := io.ReadAll(io.LimitReader(f, 20))
		_ = f.Close()
		if !errors.Is(err, filelock.ErrHeld) {
			return nil, fmt.Errorf("run %s: %w", id, err)
		}
		return nil, fmt.Errorf("run %s %w (PID %s); wait for it or stop it", id, ErrBusy, strings.TrimSpace(string(pid)))
	}
	_ = f.Truncate(0)
	_, _ = f.WriteAt([]byte(strconv.Itoa(os.Getpid())), 0) // for the message above only
	return f, nil
}

// Run returns the run's plan.
func (j *Journal) Run() Run { return j.run }

// Append adds records and returns when they are on disk, all or none. After a failed
// write every later Append fails: records after a gap could not be read.
func (j *Journal) Append(ctx context.Context, records ...Record) error {
	var lines []byte
	var err error
	for i := range records {
		if lines, err = encode(lines, j.table, &records[i]); err != nil {
			return err
		}
	}
	_, err = j.records.append(ctx, lines)
	return err
}

// Close waits for pending appends and releases the run.
func (j *Journal) Close() error {
	open, err := j.records.close()
	if !open {
		return nil
	}
	return errors.Join(err, j.raw.close(), j.lock.Close())
}
