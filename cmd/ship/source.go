package ship

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// maxHead is how much of its first line identifies a log, in bytes.
const maxHead = 4096

// A source is one log from its first line to its last, under whatever name.
type source struct {
	path   string   // when it was opened
	file   *os.File // nil when there is a pump
	pump   *pump    // of stdin
	packed bool
	final  bool // it will not grow
	lines  *lines
	headAt int64  // where its first line begins: not at 0 after a hole
	head   []byte // nil until the first line is whole
	mark   *mark  // nil as long as head
	format Format
	broken bool      // it cannot be read further
	ended  bool      // all that was there has been read once
	grew   time.Time // when something was read last
}

// errTaken means that another source reads the log, under another name.
var errTaken = errors.New("the log is read under another name already")

// openSource opens a log. Where to begin is found out when its first line is
// there.
func openSource(path string) (*source, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, fmt.Errorf("%s is a folder: name the files in it", path)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a file: pipe it to stdin, and read -", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	s := &source{path: path, file: f, lines: newLines(f, 0, 0)}
	var magic [2]byte
	if n, _ := f.ReadAt(magic[:], 0); n == 2 && magic == [2]byte{0x1f, 0x8b} {
		s.packed, s.final = true, true
	} else if strings.HasSuffix(path, ".gz") {
		return nil, errors.Join(fmt.Errorf("%s is not gzip", path), f.Close())
	}
	return s, nil
}

// identify finds out which log it is, by its first line, and goes to its mark. It
// fails with errTaken when another source reads it.
func (s *source) identify(st *state) error {
	r, err := s.reader()
	if err != nil {
		return err
	}
	head, at, err := readHead(r, s.packed)
	if err != nil || head == nil {
		return err
	}
	s.headAt = at
	if err := s.know(head, st); err != nil {
		return err
	}
	return s.seek()
}

// reader returns the unpacked log from its beginning.
func (s *source) reader() (io.Reader, error) {
	if _, err := s.file.Seek(0, io.SeekStart); err != nil || !s.packed {
		return s.file, err
	}
	z, err := gzip.NewReader(s.file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.path, err)
	}
	return z, nil
}

// readHead returns the identity of a log: its first line without its end, or the
// beginning of it; nil if that is not there yet. A hole before it, of at bytes,
// does not count.
func readHead(r io.Reader, final bool) (head []byte, at int64, err error) {
	l := newLines(r, 0, 0)
	for l.end-l.start < maxHead && bytes.IndexByte(l.buf[l.start:l.end], '\n') < 0 {
		more, err := l.fill()
		if err != nil {
			return nil, 0, err
		}
		if !more {
			break
		}
		l.skipHole()
	}
	head = l.buf[l.start:l.end]
	if end := bytes.IndexByte(head, '\n'); end >= 0 {
		return head[:min(end, maxHead)], l.offset, nil
	}
	if len(head) >= maxHead || final && len(head) > 0 {
		return head[:min(len(head), maxHead)], l.offset, nil
	}
	return nil, 0, nil
}

// know finds the mark of a log by its head, or makes one.
func (s *source) know(head []byte, st *state) error {
	sum := sha256.Sum256(head)
	for _, m := range st.marks {
		if !bytes.Equal(m.Head, sum[:]) {
			continue
		}
		same, err := s.follows(m)
		if err != nil {
			return err
		}
		switch {
		case m.open == nil && same:
			s.use(head, m)
			return nil
		case m.open != nil && (same && m.Offset > 0 || s.is(m.open)):
			return errTaken
		}
	}
	m := &mark{Path: absolute(s.path), Head: sum[:]}
	st.marks = append(st.marks, m)
	s.use(head, m)
	return nil
}

// is reports whether two sources have the same file.
func (s *source) is(other *source) bool {
	a, err := s.file.Stat()
	b, err2 := other.file.Stat()
	return err == nil && err2 == nil && os.SameFile(a, b)
}

// absolute returns a path that means the same in another folder.
func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

func (s *source) use(head []byte, m *mark) {
	s.head, s.mark = bytes.Clone(head), m
	m.open = s
}

// follows reports whether the content before a mark in this log is the content that was
// there when the mark was set. Two logs may have the same first line.
func (s *source) follows(m *mark) (bool, error) {
	want := append(bytes.Clone(m.Tail), '\n')
	if m.Offset < int64(len(want)) || len(m.Tail) == 0 {
		want = nil
	}
	got := make([]byte, len(want))
	if !s.packed {
		info, err := s.file.Stat()
		if err != nil || info.Size() < m.Offset {
			return false, err
		}
		_, err = s.file.ReadAt(got, m.Offset-int64(len(got)))
		return bytes.Equal(got, want), err
	}
	r, err := s.reader()
	if err != nil {
		return false, err
	}
	n, err := io.CopyN(io.Discard, r, m.Offset-int64(len(got)))
	if err == nil {
		_, err = io.ReadFull(r, got)
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return n == m.Offset && len(got) == 0, nil
	}
	return bytes.Equal(got, want), err
}

// seek goes to the mark.
func (s *source) seek() error {
	r, err := s.reader()
	if err != nil {
		return err
	}
	if s.packed {
		_, err = io.CopyN(io.Discard, r, s.mark.Offset)
	} else {
		_, err = s.file.Seek(s.mark.Offset, io.SeekStart)
		r = unchanged{s}
	}
	s.lines = newLines(r, s.mark.Offset, s.mark.Line)
	return err
}

// unchanged reads a log as long as it is the same one. A log that is emptied and
// rewritten while it is read has other lines at the same place.
type unchanged struct{ *source }

// Read checks after reading: lines read before the log changed are valid.
func (u unchanged) Read(buf []byte) (int, error) {
	n, err := u.file.Read(buf)
	if n == 0 {
		return n, err
	}
	same, headErr := u.sameHead()
	if headErr != nil {
		return 0, headErr
	}
	if !same {
		return 0, io.EOF // replaced reports it
	}
	return n, err
}

// newStream returns a source other than a file, such as stdin.
func newStream(r io.Reader) *source {
	p := &pump{chunks: make(chan []byte, 4), stop: make(chan struct{})}
	go p.run(r)
	return &source{path: "-", final: true, pump: p, lines: newLines(p, 0, 0)}
}

// A pump reads a source that may block, such as a pipe, in a goroutine. Its reader
// gets the available bytes.
type pump struct {
	chunks chan []byte // closed at the end
	stop   chan struct{}
	rest   []byte
	ended  bool
	err    error // why, but for io.EOF; of run until chunks is closed
}

func (p *pump) run(r io.Reader) {
	defer close(p.chunks)
	for {
		buf := make([]byte, maxLine)
		n, err := r.Read(buf)
		if n > 0 {
			select {
			case p.chunks <- buf[:n]:
			case <-p.stop:
				return
			}
		}
		if err != nil {
			if !errors.Is(err, io.EOF) {
				p.err = err
			}
			return
		}
	}
}

// Read returns io.EOF when there is nothing now.
func (p *pump) Read(buf []byte) (int, error) {
	if len(p.rest) == 0 {
		select {
		case chunk, more := <-p.chunks:
			if !more {
				p.ended = true
				return 0, cmp.Or(p.err, io.EOF)
			}
			p.rest = chunk
		default:
			return 0, io.EOF
		}
	}
	n := copy(buf, p.rest)
	p.rest = p.rest[n:]
	return n, nil
}

// next returns the next line. ok is false at the end of the available lines.
func (s *source) next(st *state, now time.Time) (_ line, ok bool, err error) {
	if s.head == nil && s.pump == nil {
		err = s.identify(st)
	}
	var at line
	if err == nil && (s.head != nil || s.pump != nil) {
		at, ok, err = s.lines.next()
	}
	if errors.Is(err, errTaken) {
		return line{}, false, err
	}
	if err != nil {
		return line{}, false, fmt.Errorf("%s, after line %d: %w", s.path, s.lines.count, err)
	}
	over := s.pump == nil || s.pump.ended
	if !ok && over && (s.packed || s.pump != nil) {
		at, ok = s.lines.rest()
	}
	if !ok {
		s.ended = over
		return line{}, false, nil
	}
	if s.grew = now; s.head == nil { // of stdin
		s.head = bytes.Clone(at.text[:min(len(at.text), maxHead)])
	}
	return at, true, nil
}

// setMark notes that all lines that were handed out are taken care of.
func (s *source) setMark(now time.Time) {
	done := s.final && s.ended && !s.broken
	if m := s.mark; m != nil && (m.Offset != s.lines.mark || m.Done != done) {
		m.Offset, m.Line, m.Tail, m.Seen, m.Done = s.lines.mark, s.lines.count, bytes.Clone(s.lines.tail), now.UTC(), done
		if !s.grew.IsZero() {
			m.Seen = s.grew.UTC()
		}
	}
}

// replaced reports whether the file was truncated, or truncated and rewritten,
// since it was read.
func (s *source) replaced() (bool, error) {
	info, err := s.file.Stat()
	if err != nil {
		return false, err
	}
	if info.Size() < s.lines.read() {
		return true, nil
	}
	same, err := s.sameHead()
	return !same, err
}

// sameHead reports whether the log begins as it did.
func (s *source) sameHead() (bool, error) {
	head := make([]byte, len(s.head))
	_, err := s.file.ReadAt(head, s.headAt)
	if errors.Is(err, io.EOF) { // truncated meanwhile
		return false, nil
	}
	return bytes.Equal(head, s.head), err
}

func (s *source) close() {
	if s.mark != nil {
		s.mark.open = nil
	}
	if s.pump != nil {
		close(s.pump.stop)
		return
	}
	_ = s.file.Close() // only read
}
