package trialset

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

// Trace returns one trial with its transcript, evidence and attempts, as JSON; the
// form is Trace. One that is not in the set is ErrNotFound.
func (s *Set) Trace(ctx context.Context, trialID string) (json.RawMessage, error) {
	var want [idBytes]byte
	missing := fmt.Errorf("trial %q: %w", trialID, ErrNotFound)
	if len(trialID) != hex.EncodedLen(len(want)) {
		return nil, missing
	}
	if _, err := hex.Decode(want[:], []byte(trialID)); err != nil {
		return nil, missing
	}
	found, err := s.find(ctx, want)
	if err != nil {
		return nil, err
	}
	if found == nil {
		return nil, missing
	}
	r := frameReader{set: s, at: -1}
	line, err := r.line(found)
	return bytes.Clone(bytes.TrimSuffix(line, []byte("\n"))), err
}

// WriteNDJSON writes the selected trials as Trace returns them, one per line, in the order
// of the plan. It holds one frame in memory.
func (s *Set) WriteNDJSON(ctx context.Context, w io.Writer, f Filter) error {
	r := frameReader{set: s, at: -1}
	return s.choose(ctx, f, 0, func(_ int64, e *indexEntry) (bool, error) {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		line, err := r.line(e)
		if err != nil {
			return false, err
		}
		_, err = w.Write(line)
		return true, err
	})
}

// A frameReader holds the frame that was read last, and its memory for the next.
type frameReader struct {
	set         *Set
	at          int64
	packed, buf []byte
	lines       [][]byte
	begin       []byte // of the line that is wanted
}

// line returns the line of an entry, with its newline. It is good until the next call.
func (r *frameReader) line(e *indexEntry) ([]byte, error) {
	if n := int64(e.Frame); n != r.at {
		if err := r.read(n); err != nil {
			return nil, err
		}
	}
	r.begin = append(r.begin[:0], `{"id":"00000000000000000000"`...)
	hex.Encode(r.begin[len(`{"id":"`):], e.ID[:])
	if int64(e.Line) >= int64(len(r.lines)) || !bytes.HasPrefix(r.lines[e.Line], r.begin) {
		return nil, r.set.place.damaged(indexName, fmt.Sprintf("trial %x is not line %d of frame %d", e.ID, e.Line, e.Frame))
	}
	return r.lines[e.Line], nil
}

// read checks a frame before it unpacks it, into no more than its entry in the index
// allows.
func (r *frameReader) read(n int64) error {
	r.at = -1
	f, err := r.set.index.frame(n)
	if err != nil {
		return r.set.place.damaged(indexName, err.Error())
	}
	r.packed, r.buf = grow(r.packed, int(f.Packed)), grow(r.buf, int(f.Size))
	if _, err := r.set.traces.ReadAt(r.packed, int64(f.At)); errors.Is(err, io.EOF) {
		return r.set.place.damaged(tracesName, fmt.Sprintf("ends inside frame %d", n))
	} else if err != nil {
		return r.set.place.fail(err)
	}
	if sha256.Sum256(r.packed) != f.Sum {
		return r.set.place.damaged(tracesName, fmt.Sprintf("byte %d: the hash of frame %d is not the index's", int64(f.At), n))
	}
	data, err := r.set.decoder.DecodeAll(r.packed, r.buf[:0:int(f.Size)])
	if err != nil {
		return r.set.place.damaged(tracesName, fmt.Sprintf("byte %d: frame %d: %v", int64(f.At), n, err))
	}
	r.lines = r.lines[:0]
	for line := range bytes.Lines(data) {
		if len(r.lines) == int(f.Lines) || line[len(line)-1] != '\n' {
			break
		}
		r.lines = append(r.lines, line)
	}
	if len(data) != int(f.Size) || len(r.lines) != int(f.Lines) || bytes.Count(data, []byte("\n")) != int(f.Lines) {
		return r.set.place.damaged(tracesName, fmt.Sprintf("byte %d: frame %d does not have %d lines in %d bytes", int64(f.At), n, int(f.Lines), int(f.Size)))
	}
	r.at = n
	return nil
}

// grow returns n bytes, of buf where it has room for them.
func grow(buf []byte, n int) []byte {
	if cap(buf) < n {
		return make([]byte, n)
	}
	return buf[:n]
}

// NewDecoder returns the decoder of sets, which many of them may share: one takes 600 kB
// a core. It writes no more than there is room for.
func NewDecoder() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderLowmem(true),
		zstd.WithDecodeAllCapLimit(true), zstd.WithDecoderMaxWindow(maxWindow))
}
