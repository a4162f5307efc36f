package bundle

import (
	"fmt"
	"io"

	"github.com/firstpick/firstpick/publish/bundle/format"
)

const (
	maxFrame  = 64 << 20
	maxWindow = 8 << 20
)

// An index is traces.idx. It stays on disk.
type index struct {
	file io.ReaderAt
	size int64
	// traces is the size of traces.zst.
	traces          int64
	frames, entries int64
}

// open reads the header.
func (x *index) open() error {
	var head [format.HeaderSize]byte
	if _, err := x.file.ReadAt(head[:], 0); err != nil {
		return fmt.Errorf("its header: %w", err)
	}
	var err error
	x.frames, x.entries, err = format.DecodeHeader(head[:], x.size)
	return err
}

// frame reads a frame and refuses one that the traces cannot have.
func (x *index) frame(n int64) (f format.Frame, err error) {
	if n < 0 || n >= x.frames {
		return f, fmt.Errorf("frame %d of %d", n, x.frames)
	}
	var buf [format.FrameSize]byte
	if _, err := x.file.ReadAt(buf[:], format.HeaderSize+n*format.FrameSize); err != nil {
		return f, err
	}
	f.Decode(buf[:])
	if traces := uint64(x.traces); f.At > traces || uint64(f.Packed) > traces-f.At || f.Packed > maxFrame+maxFrame/64 || f.Size > maxFrame || f.Lines > format.FrameLines { //nolint:gosec // a size
		return f, fmt.Errorf("frame %d cannot be %d bytes at %d, %d unpacked, of %d lines", n, f.Packed, f.At, f.Size, f.Lines)
	}
	return f, nil
}
