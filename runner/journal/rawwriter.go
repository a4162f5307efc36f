package journal

import (
	"os"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// packers is how many answers are packed at a time.
const packers = 2

// A rawWriter creates the raw segments at the first answer, so that a run without
// answers has none.
type rawWriter struct {
	run, dir string
	encoder  func() (*zstd.Encoder, error)

	mu     sync.Mutex
	closed bool
	opened *segments
}

func newRawWriter(run, dir string) *rawWriter {
	return &rawWriter{run: run, dir: dir, encoder: sync.OnceValues(func() (*zstd.Encoder, error) {
		return zstd.NewWriter(nil, zstd.WithEncoderConcurrency(packers), zstd.WithLowerEncoderMem(true),
			zstd.WithWindowSize(rawWindow), zstd.WithZeroFrames(true))
	})}
}

// open continues after the last segment, without reading its end.
func (w *rawWriter) open() (*segments, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil, ErrClosed
	}
	if w.opened != nil {
		return w.opened, nil
	}
	numbers, err := numbered(w.dir, "raw-", ".zst")
	if err != nil {
		return nil, err
	}
	last, end := 1, int64(0)
	if len(numbers) > 0 {
		last = numbers[len(numbers)-1]
		info, err := os.Stat(rawPath(w.dir, last))
		if err != nil {
			return nil, err
		}
		end = info.Size()
	}
	w.opened, err = openSegments(w.run, w.dir, rawPath, last, end)
	return w.opened, err
}

func (w *rawWriter) close() error {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	if w.opened == nil {
		return nil
	}
	_, err := w.opened.close()
	return err
}
