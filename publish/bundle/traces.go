package bundle

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/zstd"

	"github.com/firstpick/firstpick/publish/bundle/format"
	"github.com/firstpick/firstpick/publish/content"
)

// frameBytes limits the uncompressed size of a frame of several lines. A page of rare
// trials decompresses a frame for each; frames of 4 MiB would save a tenth of the disk
// space and take ten times as long.
const frameBytes = 256 << 10

// kind is the outcome in the bundle.
func (t *plannedTrial) kind() string {
	if t.valid {
		return string(t.outcome)
	}
	return format.Excluded
}

// writeTraces writes traces.zst, traces.idx and names.json.
func (g *gathered) writeTraces(ctx context.Context, dir string) (_ []format.File, err error) {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<20))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, enc.Close()) }()
	out, err := createHashed(filepath.Join(dir, format.TracesName))
	if err != nil {
		return nil, err
	}
	w := tracesWriter{out: out, enc: enc}
	x := newIndex()
	for i := range g.trials {
		t := &g.trials[i]
		if !t.valid && t.excluded == "" {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, errors.Join(err, out.f.Close())
		}
		line, err := g.line(t)
		if err == nil {
			err = w.add(line)
		}
		if err != nil {
			return nil, errors.Join(err, out.f.Close())
		}
		x.add(t, len(w.frames), w.lines-1)
	}
	err = w.flush()
	traces, closeErr := out.close()
	if err := errors.Join(err, closeErr); err != nil {
		return nil, err
	}
	index, err := writeFile(filepath.Join(dir, format.IndexName), x.encode(w.frames))
	if err != nil {
		return nil, err
	}
	text, err := content.JSON(x.names)
	if err != nil {
		return nil, err
	}
	texts, err := writeFile(filepath.Join(dir, format.NamesName), text)
	return []format.File{traces, index, texts}, err
}

type tracesWriter struct {
	out    *hashedFile
	enc    *zstd.Encoder
	frames []format.Frame
	lines  int // in buf
	buf    []byte
	packed []byte
}

// add appends a line to the current frame, or begins a new one.
func (w *tracesWriter) add(line []byte) error {
	if w.lines == format.FrameLines || w.lines > 0 && len(w.buf)+len(line) > frameBytes {
		if err := w.flush(); err != nil {
			return err
		}
	}
	w.buf = append(w.buf, line...)
	w.lines++
	return nil
}

func (w *tracesWriter) flush() error {
	if w.lines == 0 {
		return nil
	}
	w.packed = w.enc.EncodeAll(w.buf, w.packed[:0])
	w.frames = append(w.frames, format.Frame{
		At: uint64(w.out.n), Packed: uint32(len(w.packed)), Size: uint32(len(w.buf)), Lines: uint32(w.lines), //nolint:gosec // a frame is small
		Sum: sha256.Sum256(w.packed),
	})
	w.buf, w.lines = w.buf[:0], 0
	_, err := w.out.Write(w.packed)
	return err
}

// A hashedFile is written once, from beginning to end.
type hashedFile struct {
	f   *os.File
	sum hash.Hash
	n   int64
}

func createHashed(path string) (*hashedFile, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	return &hashedFile{f: f, sum: sha256.New()}, err
}

func (h *hashedFile) Write(p []byte) (int, error) {
	n, err := h.f.Write(p)
	h.n += int64(n)
	_, _ = h.sum.Write(p[:n]) // never fails
	return n, err
}

func (h *hashedFile) close() (format.File, error) {
	file := format.File{Path: filepath.Base(h.f.Name()), SHA256: hex.EncodeToString(h.sum.Sum(nil)), Bytes: h.n}
	return file, errors.Join(h.f.Sync(), h.f.Close())
}

// hashFile describes a file that is there, without holding it in memory.
func hashFile(path string) (_ format.File, err error) {
	f, err := os.Open(path)
	if err != nil {
		return format.File{}, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	h := sha256.New()
	n, err := io.Copy(h, f)
	return format.File{Path: filepath.Base(path), SHA256: hex.EncodeToString(h.Sum(nil)), Bytes: n}, err
}
