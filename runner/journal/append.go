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
	"sync"
	"syscall"
)

// queueLength is how many appends may wait for the next fsync.
const queueLength = 1024

// ErrClosed is returned by Append after Close.
var ErrClosed = errors.New("journal: closed")

// A Journal is a run that is open for appending. Its methods may be called by
// many goroutines.
type Journal struct {
	run   Run
	dir   string
	table *crc32.Table
	lock  *os.File

	mu     sync.RWMutex // held to send, so that Close can wait for senders
	closed bool
	queue  chan appendRequest
	done   chan struct{}

	// Below: of the writing goroutine alone.
	segment *os.File
	number  int
	size    int64
	failed  error
}

type appendRequest struct {
	lines []byte
	ack   chan error
}

// Create makes a run and opens it. The id must be new.
func Create(root string, r Run) (*Journal, error) {
	if err := makeRun(root, r); err != nil {
		return nil, fmt.Errorf("create run: %w", err)
	}
	return Open(root, r.ID)
}

// Open opens a run for appending and takes a torn last line away. A run that
// does not exist is os.ErrNotExist; one that another process appends to is
// refused.
func Open(root, id string) (*Journal, error) {
	run, err := ReadRun(root, id)
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(root, id)
	j := &Journal{run: run, dir: dir, table: newTable(), queue: make(chan appendRequest, queueLength), done: make(chan struct{})}
	if j.lock, err = lockDir(dir, id); err != nil {
		return nil, err
	}
	if err := j.openSegment(root); err != nil {
		return nil, errors.Join(err, j.lock.Close())
	}
	go j.write()
	return j, nil
}

// lockDir takes the run's lock, which the system gives back when the process
// ends, however it ends.
func lockDir(dir, id string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", id, err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		pid, _ := io.ReadAll(io.LimitReader(f, 20))
		_ = f.Close()
		return nil, fmt.Errorf("run %s is being written by another process (PID %s); wait for it or stop it", id, strings.TrimSpace(string(pid)))
	}
	_ = f.Truncate(0)
	_, _ = f.WriteAt([]byte(strconv.Itoa(os.Getpid())), 0) // for the message above only
	return f, nil
}

// openSegment finds the end of the journal and cuts what lies behind it.
func (j *Journal) openSegment(root string) error {
	end, err := Scan(root, j.run.ID, Offset{}, func(Record, Offset) error { return nil })
	if err != nil {
		return err
	}
	j.number = max(1, end.Segment)
	path := segmentPath(j.dir, j.number)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Seek(end.Byte, io.SeekStart)
	if err = errors.Join(f.Truncate(end.Byte), err, f.Sync(), syncDir(j.dir)); err != nil {
		return errors.Join(err, f.Close())
	}
	j.segment, j.size = f, end.Byte
	return nil
}

// Run returns what the run set out to do.
func (j *Journal) Run() Run { return j.run }

// Append adds records and returns when they are on disk, all of them or none.
// After a write that failed every later Append fails: what is behind a hole
// could not be read.
func (j *Journal) Append(ctx context.Context, records ...Record) error {
	var lines []byte
	var err error
	for i := range records {
		if lines, err = encode(lines, j.table, &records[i]); err != nil {
			return err
		}
	}
	req := appendRequest{lines, make(chan error, 1)}
	if err := j.send(ctx, req); err != nil {
		return err
	}
	return <-req.ack // not ctx: the records may already be on their way to disk
}

func (j *Journal) send(ctx context.Context, req appendRequest) error {
	j.mu.RLock()
	defer j.mu.RUnlock()
	if j.closed {
		return ErrClosed
	}
	select {
	case j.queue <- req:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Close waits for appends under way and gives the run back.
func (j *Journal) Close() error {
	j.mu.Lock()
	if j.closed {
		j.mu.Unlock()
		return nil
	}
	j.closed = true
	close(j.queue)
	j.mu.Unlock()
	<-j.done
	return errors.Join(j.segment.Close(), j.lock.Close())
}

// write is the only writer: it takes what has queued up, writes it at once,
// syncs once and tells everybody.
func (j *Journal) write() {
	defer close(j.done)
	var buf []byte
	var acks []chan error
	for req := range j.queue {
		buf, acks = append(buf[:0], req.lines...), append(acks[:0], req.ack)
		for len(buf) < maxLine && len(j.queue) > 0 {
			next, ok := <-j.queue
			if !ok {
				break
			}
			buf, acks = append(buf, next.lines...), append(acks, next.ack)
		}
		err := j.commit(buf)
		for _, ack := range acks {
			ack <- err
		}
	}
}

func (j *Journal) commit(buf []byte) error {
	if j.failed != nil {
		return j.failed
	}
	if j.size > segmentMax {
		j.failed = j.roll()
	}
	if j.failed == nil {
		j.failed = j.put(buf)
	}
	return j.failed
}

func (j *Journal) put(buf []byte) error {
	n, err := j.segment.Write(buf)
	if err == nil {
		err = j.segment.Sync()
	}
	if err != nil {
		if n > 0 { // leave no half record behind; opening would cut it as well
			_ = j.segment.Truncate(j.size)
		}
		return fmt.Errorf("run %s: the journal cannot be written: %w; make room and resume", j.run.ID, err)
	}
	j.size += int64(n)
	return nil
}

func (j *Journal) roll() error {
	f, err := os.OpenFile(segmentPath(j.dir, j.number+1), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return fmt.Errorf("run %s: new segment: %w", j.run.ID, err)
	}
	if err := errors.Join(syncDir(j.dir), j.segment.Close()); err != nil {
		return errors.Join(err, f.Close())
	}
	j.segment, j.number, j.size = f, j.number+1, 0
	return nil
}
