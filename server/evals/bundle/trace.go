package bundle

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
// form is Trace of publish/bundle. One that is not in the bundle is ErrNotFound.
func (b *Bundle) Trace(ctx context.Context, trialID string) (json.RawMessage, error) {
	var want [10]byte
	missing := fmt.Errorf("trial %q: %w", trialID, ErrNotFound)
	if len(trialID) != hex.EncodedLen(len(want)) {
		return nil, missing
	}
	if _, err := hex.Decode(want[:], []byte(trialID)); err != nil {
		return nil, missing
	}
	found, err := b.find(ctx, want)
	if err != nil {
		return nil, err
	}
	if found == nil {
		return nil, missing
	}
	r := frameReader{b: b, at: -1}
	line, err := r.line(found)
	return bytes.Clone(bytes.TrimSuffix(line, []byte("\n"))), err
}

// WriteNDJSON writes the selected trials as Trace returns them, one a line, in the order
// of the plan. It holds one frame in memory.
func (b *Bundle) WriteNDJSON(ctx context.Context, w io.Writer, f Filter) error {
	r := frameReader{b: b, at: -1}
	return b.choose(ctx, f, 0, func(_ int64, e *entry) (bool, error) {
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
	b           *Bundle
	at          int64
	packed, buf []byte
	lines       [][]byte
	begin       []byte // of the line that is wanted
}

// line returns the line of an entry, with its newline. It is good until the next call.
func (r *frameReader) line(e *entry) ([]byte, error) {
	if n := int64(e.frame); n != r.at {
		if err := r.read(n); err != nil {
			return nil, err
		}
	}
	r.begin = append(r.begin[:0], `{"id":"00000000000000000000"`...)
	hex.Encode(r.begin[len(`{"id":"`):], e.id[:])
	if int64(e.line) >= int64(len(r.lines)) || !bytes.HasPrefix(r.lines[e.line], r.begin) {
		return nil, r.b.damaged(indexName, fmt.Sprintf("trial %x is not line %d of frame %d", e.id, e.line, e.frame))
	}
	return r.lines[e.line], nil
}

// read checks a frame before it unpacks it, into no more than its entry in the index
// allows.
func (r *frameReader) read(n int64) error {
	r.at = -1
	f, err := r.b.index.frame(n)
	if err != nil {
		return r.b.damaged(indexName, err.Error())
	}
	r.packed, r.buf = grow(r.packed, f.packed), grow(r.buf, f.size)
	if _, err := r.b.traces.ReadAt(r.packed, f.at); errors.Is(err, io.EOF) {
		return r.b.damaged(tracesName, fmt.Sprintf("ends inside frame %d", n))
	} else if err != nil {
		return r.b.fail(err)
	}
	if sha256.Sum256(r.packed) != f.sum {
		return r.b.damaged(tracesName, fmt.Sprintf("byte %d: the hash of frame %d is not the index's", f.at, n))
	}
	data, err := r.b.decoder.DecodeAll(r.packed, r.buf[:0:f.size])
	if err != nil {
		return r.b.damaged(tracesName, fmt.Sprintf("byte %d: frame %d: %v", f.at, n, err))
	}
	r.lines = r.lines[:0]
	for line := range bytes.Lines(data) {
		if len(r.lines) == f.lines || line[len(line)-1] != '\n' {
			break
		}
		r.lines = append(r.lines, line)
	}
	if len(data) != f.size || len(r.lines) != f.lines || bytes.Count(data, []byte("\n")) != f.lines {
		return r.b.damaged(tracesName, fmt.Sprintf("byte %d: frame %d does not have %d lines in %d bytes", f.at, n, f.lines, f.size))
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

// newDecoder returns one that many goroutines may share. It writes no more than there
// is room for.
func newDecoder() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderLowmem(true),
		zstd.WithDecodeAllCapLimit(true), zstd.WithDecoderMaxWindow(maxWindow))
}
