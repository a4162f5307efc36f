package journal

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A DamageError is a record that is there and cannot be read.
type DamageError struct {
	Path   string
	Byte   int64
	Reason string
	// Last means that no record follows: truncating the file there loses only that
	// record.
	Last bool
}

func (e *DamageError) Error() string {
	s := fmt.Sprintf("%s: byte %d: %s; restore the file from a backup, or move the run to another folder", e.Path, e.Byte, e.Reason)
	if e.Last {
		s += fmt.Sprintf("; without a backup, `truncate -s %d %s` and `firstpick runs rebuild` drop only this last record", e.Byte, e.Path)
	}
	return s
}

// Scan calls fn for every record after from, with the offset after it, and returns the
// offset after the last record that fn accepted. It stops at fn's first error. fn may
// retain the record.
func Scan(root, id string, from Offset, fn func(Record, Offset) error) (Offset, error) {
	return scanLines(root, id, from, func(body []byte, next Offset) (string, error) {
		var r Record
		if err := json.Unmarshal(body, &r); err != nil {
			return "malformed record: " + err.Error(), nil //nolint:nilerr // returned as the reason
		}
		return "", fn(r, next)
	})
}

// Verify reads a whole run and returns the first damage, a *DamageError. It checks
// frames and checksums and decodes nothing, so that it is fast.
func Verify(root, id string) error {
	if _, err := ReadRun(root, id); err != nil {
		return err
	}
	_, err := scanLines(root, id, Offset{}, func([]byte, Offset) (string, error) { return "", nil })
	return err
}

// A visitor receives the body of a line, which it must not retain, and the offset after
// it. It returns why the body is malformed, or its own error.
type visitor func(body []byte, next Offset) (reason string, err error)

func scanLines(root, id string, from Offset, visit visitor) (Offset, error) {
	dir, err := runDir(root, id)
	if err != nil {
		return from, err
	}
	segments, err := segmentsOf(dir)
	if err != nil {
		return from, err
	}
	if err := unbroken(dir, segments, from); err != nil {
		return from, err
	}
	at := from
	for i, n := range segments {
		if n < from.Segment {
			continue
		}
		if n > at.Segment {
			at = Offset{Segment: n}
		}
		s := scanner{path: segmentPath(dir, n), last: i == len(segments)-1, table: newTable()}
		if at, err = s.scan(at, visit); err != nil {
			return at, err
		}
	}
	return at, nil
}

// ReadAt returns the record that begins at a place.
func (j *Journal) ReadAt(at Offset) (Record, error) {
	path := segmentPath(j.records.dir, max(1, at.Segment))
	f, err := os.Open(path)
	if err != nil {
		return Record{}, err
	}
	defer func() { _ = f.Close() }()
	if _, err := f.Seek(at.Byte, io.SeekStart); err != nil {
		return Record{}, err
	}
	var long []byte
	line, err := readLine(bufio.NewReaderSize(f, 1<<20), &long)
	if err != nil {
		return Record{}, &DamageError{Path: path, Byte: at.Byte, Reason: err.Error()}
	}
	var r Record
	if reason := decode(j.table, line[:len(line)-1], &r); reason != "" {
		return Record{}, &DamageError{Path: path, Byte: at.Byte, Reason: reason}
	}
	return r, nil
}

// unbroken checks that the segments are numbered from 1 without a gap and reach
// as far as was read before: a lost file is lost answers.
func unbroken(dir string, segments []int, from Offset) error {
	for i, n := range segments {
		if n != i+1 {
			return &DamageError{Path: segmentPath(dir, i+1), Reason: "missing segment"}
		}
	}
	if from.Segment > max(1, len(segments)) || (from.Byte > 0 && from.Segment > len(segments)) {
		return &DamageError{Path: segmentPath(dir, from.Segment), Reason: "missing segment, although it was read before"}
	}
	return nil
}

// segmentsOf returns the numbers of the segments in order.
func segmentsOf(dir string) ([]int, error) { return numbered(dir, "journal-", ".ndjson") }

func segmentPath(dir string, n int) string {
	return filepath.Join(dir, fmt.Sprintf("journal-%06d.ndjson", n))
}

// numbered returns the numbers of the files that are named so, in order.
func numbered(dir, prefix, suffix string) ([]int, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var out []int
	for _, e := range entries {
		num, named := strings.CutPrefix(e.Name(), prefix)
		num, ok := strings.CutSuffix(num, suffix)
		if !named || !ok {
			continue
		}
		if n, err := strconv.Atoi(num); err == nil && n > 0 {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	return out, nil
}

type scanner struct {
	path  string
	last  bool
	table *crc32.Table
}

func (s *scanner) scan(at Offset, visit visitor) (Offset, error) {
	f, err := os.Open(s.path)
	if err != nil {
		return at, err
	}
	defer func() { _ = f.Close() }()
	if info, err := f.Stat(); err != nil {
		return at, err
	} else if info.Size() < at.Byte {
		return at, &DamageError{Path: s.path, Byte: info.Size(), Reason: fmt.Sprintf("truncated before byte %d, which was read before", at.Byte)}
	}
	if _, err := f.Seek(at.Byte, io.SeekStart); err != nil {
		return at, err
	}
	in := bufio.NewReaderSize(f, 64<<10)
	var long []byte
	for {
		line, err := readLine(in, &long)
		if errors.Is(err, io.EOF) {
			return at, s.torn(at, len(line))
		}
		if err != nil {
			return at, &DamageError{Path: s.path, Byte: at.Byte, Reason: err.Error()}
		}
		next := Offset{Segment: at.Segment, Byte: at.Byte + int64(len(line))}
		body, reason := unframe(s.table, line[:len(line)-1])
		if reason == "" {
			if reason, err = visit(body, next); err != nil {
				return at, err // not accepted: a later scan repeats it
			}
		}
		if reason != "" { // a line with its newline is complete: an interrupted append has none
			return at, &DamageError{s.path, at.Byte, reason, s.last && s.nothingFollows(in)}
		}
		at = next
	}
}

// torn decides about n bytes without a newline at the end of a segment: in the last
// one they are an interrupted append.
func (s *scanner) torn(at Offset, n int) error {
	if n > 0 && !s.last {
		return &DamageError{Path: s.path, Byte: at.Byte, Reason: "the segment is truncated within a record"}
	}
	return nil
}

func (s *scanner) nothingFollows(in *bufio.Reader) bool {
	_, err := in.Peek(1)
	return errors.Is(err, io.EOF)
}

// readLine returns a line with its newline, or io.EOF with the rest.
func readLine(in *bufio.Reader, long *[]byte) ([]byte, error) {
	line, err := in.ReadSlice('\n')
	if err == nil {
		return line, nil
	}
	*long = append((*long)[:0], line...)
	for errors.Is(err, bufio.ErrBufferFull) {
		if len(*long) > maxLine+sumDigits+2 {
			return nil, errors.New("line too long")
		}
		line, err = in.ReadSlice('\n')
		*long = append(*long, line...)
	}
	return *long, err
}
