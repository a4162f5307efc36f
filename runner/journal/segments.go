package journal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
)

const (
	// queueLength is how many appends may wait for the next fsync, batchMax the
	// bytes after which no more are written with it.
	queueLength = 1024
	batchMax    = 4 << 20
	segmentMax  = 256 << 20 // bytes after which a new segment begins
)

// Segments are numbered append-only files. Appends during an fsync share the next one.
type segments struct {
	run, dir string
	path     func(dir string, n int) string

	mu     sync.RWMutex // held to send, so that close can wait for senders
	closed bool
	queue  chan appendRequest
	done   chan struct{}

	// Below: of the writing goroutine alone.
	sync   func(*os.File) error // (*os.File).Sync; tests count the calls
	file   *os.File
	number int
	size   int64
	failed error
}

type appendRequest struct {
	data []byte
	ack  chan appended
}

// appended is the offset of an append, or its error.
type appended struct {
	at  Offset
	err error
}

// openSegments continues in segment number at byte end and truncates the rest.
func openSegments(run, dir string, path func(string, int) string, number int, end int64) (*segments, error) {
	f, err := os.OpenFile(path(dir, number), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	_, err = f.Seek(end, io.SeekStart)
	if err = errors.Join(f.Truncate(end), err, f.Sync(), syncDir(dir)); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	s := &segments{run: run, dir: dir, path: path, sync: (*os.File).Sync, file: f, number: number, size: end}
	s.queue, s.done = make(chan appendRequest, queueLength), make(chan struct{})
	go s.write()
	return s, nil
}

// append returns the offset of the data once all of it is on disk.
func (s *segments) append(ctx context.Context, data []byte) (Offset, error) {
	req := appendRequest{data, make(chan appended, 1)}
	if err := s.send(ctx, req); err != nil {
		return Offset{}, err
	}
	a := <-req.ack // not ctx: the data may already be on its way to disk
	return a.at, a.err
}

func (s *segments) send(ctx context.Context, req appendRequest) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return ErrClosed
	}
	select {
	case s.queue <- req:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// close waits for pending appends. It reports whether it was open.
func (s *segments) close() (open bool, err error) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return false, nil
	}
	s.closed = true
	close(s.queue)
	s.mu.Unlock()
	<-s.done
	return true, s.file.Close()
}

// write is the only writer: it writes all queued data at once, syncs once and notifies
// the callers.
func (s *segments) write() {
	defer close(s.done)
	var buf []byte
	var batch []appendRequest
	for req := range s.queue {
		data := req.data // alone it is not copied
		batch = append(batch[:0], req)
		for len(data) < batchMax && len(s.queue) > 0 {
			next, ok := <-s.queue
			if !ok {
				break
			}
			if len(batch) == 1 {
				buf = append(buf[:0], data...)
			}
			buf = append(buf, next.data...)
			data, batch = buf, append(batch, next)
		}
		at, err := s.commit(data)
		for _, r := range batch {
			r.ack <- appended{at, err}
			at.Byte += int64(len(r.data))
		}
		if cap(buf) > batchMax {
			buf = nil
		}
	}
}

// commit returns where buf begins.
func (s *segments) commit(buf []byte) (Offset, error) {
	if s.failed == nil && s.size > segmentMax {
		s.failed = s.roll()
	}
	at := Offset{Segment: s.number, Byte: s.size}
	if s.failed == nil {
		s.failed = s.put(buf)
	}
	return at, s.failed
}

func (s *segments) put(buf []byte) error {
	n, err := s.file.Write(buf)
	if err == nil {
		err = s.sync(s.file)
	}
	if err != nil {
		if n > 0 { // leave no half record behind; opening would cut it as well
			_ = s.file.Truncate(s.size)
		}
		return fmt.Errorf("run %s: writing the journal failed: %w; free some disk space and resume", s.run, err)
	}
	s.size += int64(n)
	return nil
}

func (s *segments) roll() error {
	f, err := os.OpenFile(s.path(s.dir, s.number+1), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return fmt.Errorf("run %s: new segment: %w", s.run, err)
	}
	if err := errors.Join(syncDir(s.dir), s.file.Close()); err != nil {
		return errors.Join(err, f.Close())
	}
	s.file, s.number, s.size = f, s.number+1, 0
	return nil
}
