package ship

import (
	"bytes"
	"io"
)

const (
	// maxLine is the longest line that is read, in bytes; longer ones are skipped.
	maxLine    = 64 << 10
	bufferSize = 4 * maxLine
)

// A line is a whole line of a log, without its end. The text is good until the
// next call of next.
type line struct {
	text   []byte
	offset int64 // of its first byte in the unpacked log
	number int64 // from 1
}

// lines reads whole lines of a log that may still grow.
type lines struct {
	r          io.Reader
	buf        []byte
	start, end int   // of what was read and not handed out
	searched   int   // up to here no line ends
	offset     int64 // of buf[start]
	long       bool  // within a line that is too long

	// mark is where the line that follows the last whole one begins, count how many
	// lines are before it. tail is the end of that last line.
	mark    int64
	count   int64
	tail    []byte
	tooLong int64
}

// tailSize is how much of a line its tail is at most.
const tailSize = 256

// newLines reads from r, which is at an offset, after count lines.
func newLines(r io.Reader, offset, count int64) *lines {
	return &lines{r: r, buf: make([]byte, bufferSize), offset: offset, mark: offset, count: count}
}

// next returns the next whole line. ok is false without a complete line; err is
// that of the reader, but for io.EOF.
func (l *lines) next() (_ line, ok bool, err error) {
	for {
		if l.start == l.searched && !l.long {
			l.skipHole()
		}
		if n := bytes.IndexByte(l.buf[l.searched:l.end], '\n'); n >= 0 {
			at := line{text: l.buf[l.start : l.searched+n], offset: l.offset, number: l.count + 1}
			skip := l.long || len(at.text) > maxLine
			l.long = false
			l.advance(l.searched + n + 1)
			l.mark, l.count = l.offset, l.count+1
			l.tail = append(l.tail[:0], at.text[max(0, len(at.text)-tailSize):]...)
			if skip {
				l.tail = l.tail[:0]
				l.tooLong++
				continue
			}
			return at, true, nil
		}
		l.searched = l.end
		if l.long || l.end-l.start > maxLine {
			l.long = true
			l.advance(l.end)
		}
		if more, err := l.fill(); !more {
			return line{}, false, err
		}
	}
}

// skipHole passes over zero bytes at the beginning of a line. A server that does
// not open its log for appending leaves a hole when the log is truncated, as large
// as the log was.
func (l *lines) skipHole() {
	at := l.start
	for at < l.end && l.buf[at] == 0 {
		at++
	}
	if at > l.start {
		l.advance(at)
	}
}

func (l *lines) advance(to int) {
	l.offset += int64(to - l.start)
	l.start, l.searched = to, to
}

// fill reads more. It is called when the buffer has no complete line.
func (l *lines) fill() (bool, error) {
	if l.start > 0 {
		n := copy(l.buf, l.buf[l.start:l.end])
		l.start, l.searched, l.end = 0, n, n
	}
	n, err := l.r.Read(l.buf[l.end:])
	l.end += n
	if n > 0 || err == nil || err == io.EOF { //nolint:errorlint // readers return it as it is
		return n > 0, nil
	}
	return false, err
}

// rest returns the bytes after the last complete line, as the line it is once no more
// can come.
func (l *lines) rest() (line, bool) {
	if l.start == l.end || l.long {
		return line{}, false
	}
	at := line{text: l.buf[l.start:l.end], offset: l.offset, number: l.count + 1}
	l.advance(l.end)
	l.mark, l.count, l.tail = l.offset, l.count+1, l.tail[:0]
	return at, true
}

// read is how many bytes of the log were read, used or not.
func (l *lines) read() int64 { return l.offset + int64(l.end-l.start) }
