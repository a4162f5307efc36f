package bundle

import (
	"bufio"
	"encoding/json"
	"os"
	"slices"

	"github.com/firstpick/firstpick/publish/content"
)

// A spool holds what the journal has in the order of answers until it is written in
// the order of the plan: a run's transcripts do not fit in memory.
type spool struct {
	f   *os.File
	w   *bufio.Writer
	at  int64
	buf []byte // of what was read last
}

// A span is a place in a spool.
type span struct {
	at int64
	n  int
}

func newSpool(path string) (*spool, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	return &spool{f: f, w: bufio.NewWriterSize(f, 256<<10)}, nil
}

// put keeps v as JSON.
func (s *spool) put(v any) (span, error) {
	data, err := content.JSON(v)
	if err != nil {
		return span{}, err
	}
	kept := span{s.at, len(data)}
	s.at += int64(len(data))
	_, err = s.w.Write(data)
	return kept, err
}

// get reads into v what put kept. Flush comes before it.
func (s *spool) get(at span, v any) error {
	s.buf = slices.Grow(s.buf[:0], at.n)[:at.n]
	if _, err := s.f.ReadAt(s.buf, at.at); err != nil {
		return err
	}
	return json.Unmarshal(s.buf, v)
}

func (s *spool) flush() error { return s.w.Flush() }

func (s *spool) close() { _ = s.f.Close() } // the folder goes with it
