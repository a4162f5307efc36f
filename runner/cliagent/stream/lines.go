package stream

import (
	"bufio"
	"errors"
	"io"
)

// Lines calls fn with every line of r without its newline; off is where the line
// begins, in bytes. The last line need not end with a newline. A line longer
// than limit is skipped: fn gets its offset, with cut and no text.
// The text may be used during the call only.
//
// It returns r's error, nil at its end. Memory is bounded by limit.
func Lines(r io.Reader, limit int, fn func(off int64, line []byte, cut bool)) error {
	b := bufio.NewReaderSize(r, 64<<10)
	var (
		off  int64  // of the line
		size int64  // of the line so far, with its newline
		long []byte // the line so far, where it does not fit the reader
		cut  bool
	)
	for {
		part, err := b.ReadSlice('\n')
		size += int64(len(part))
		ended := err == nil
		if ended {
			part = part[:len(part)-1]
		}
		switch {
		case cut:
		case len(long)+len(part) > limit:
			cut, long = true, nil
		case len(long) > 0 || errors.Is(err, bufio.ErrBufferFull):
			long = append(long, part...)
			part = long
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if cut {
			part = nil
		}
		if ended || size > 0 {
			fn(off, part, cut)
		}
		if err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		off += size
		size, cut, long = 0, false, long[:0]
		if cap(long) > 1<<20 {
			long = nil
		}
	}
}
