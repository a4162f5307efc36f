package evalclient

import (
	"bufio"
	"bytes"
	"io"
	"strconv"
	"strings"
	"time"
)

const (
	maxLine = 1 << 20
	maxData = 4 << 20
)

// A message is one event of a stream as the HTML standard defines it.
type message struct {
	id   string // the last that the stream had
	data []byte
}

// A stream reads server-sent events.
type stream struct {
	lines *bufio.Scanner
	id    string
	// retry is how long the server wants a client to wait before it reads on; 0 where
	// it did not say.
	retry time.Duration
}

func newStream(r io.Reader) *stream {
	s := &stream{lines: bufio.NewScanner(r)}
	s.lines.Buffer(nil, maxLine)
	s.lines.Split(lineSplitter())
	return s
}

// next returns the next message with data. A stream that ends inside a message ends
// before it: io.EOF.
func (s *stream) next() (message, error) {
	var data []byte
	found := false
	for first := true; s.lines.Scan(); first = false {
		line := s.lines.Text()
		if first {
			line = strings.TrimPrefix(line, "\ufeff")
		}
		if line == "" {
			if found {
				return message{s.id, bytes.TrimSuffix(data, []byte("\n"))}, nil
			}
			continue
		}
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch name {
		case "data":
			found = true
			if data = append(append(data, value...), '\n'); len(data) > maxData {
				return message{}, bufio.ErrTooLong
			}
		case "id":
			if !strings.Contains(value, "\x00") {
				s.id = value
			}
		case "retry":
			if ms, err := strconv.ParseUint(value, 10, 31); err == nil {
				s.retry = time.Duration(ms) * time.Millisecond
			}
		}
	}
	if err := s.lines.Err(); err != nil {
		return message{}, err
	}
	return message{}, io.EOF
}

// lineSplitter splits at \n, \r and \r\n, and does not wait for the byte after a \r. An
// unterminated line is dropped.
func lineSplitter() bufio.SplitFunc {
	afterCR := false
	return func(data []byte, atEOF bool) (int, []byte, error) {
		skip := 0
		if afterCR && len(data) > 0 {
			afterCR = false
			if data[0] == '\n' {
				skip = 1
			}
		}
		i := bytes.IndexAny(data[skip:], "\r\n")
		switch {
		case i >= 0:
			afterCR = data[skip+i] == '\r'
			return skip + i + 1, data[skip : skip+i], nil
		case atEOF:
			return len(data), nil, nil
		default:
			return skip, nil, nil
		}
	}
}
