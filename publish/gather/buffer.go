package gather

import (
	"bufio"
	"encoding/json"
	"os"
	"slices"

	"github.com/firstpick/firstpick/publish/content"
)

// A buffer stores records on disk in journal order until they are written in plan
// order: a run's transcripts do not fit in memory.
type buffer struct {
	f   *os.File
	w   *bufio.Writer
	at  int64
	buf []byte // the last read
}

// A span is a location in a buffer.
type span struct {
	at int64
	n  int
}

func newBuffer(path string) (*buffer, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	return &buffer{f: f, w: bufio.NewWriterSize(f, 256<<10)}, nil
}

// put appends v as JSON and returns its span.
func (b *buffer) put(v any) (span, error) {
	data, err := content.JSON(v)
	if err != nil {
		return span{}, err
	}
	at := span{b.at, len(data)}
	b.at += int64(len(data))
	_, err = b.w.Write(data)
	return at, err
}

// get decodes into v the value that put stored. Call flush first.
func (b *buffer) get(at span, v any) error {
	b.buf = slices.Grow(b.buf[:0], at.n)[:at.n]
	if _, err := b.f.ReadAt(b.buf, at.at); err != nil {
		return err
	}
	return json.Unmarshal(b.buf, v)
}

func (b *buffer) flush() error { return b.w.Flush() }

func (b *buffer) close() { _ = b.f.Close() } // the caller removes the folder
