package journal

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/zstd"
)

// Raw answers are appended to raw-NNNNNN.zst in the run's folder. A blob is a header
// and a zstd frame; the header is, in big-endian order: magic, compressed length,
// uncompressed length, and the CRC-32C of both lengths and the frame. Unreferenced
// bytes are harmless: a crash leaves them.

const (
	rawMagic  = 0x66705a31 // "fpZ1"
	rawHeader = 16
	// maxRaw is the most that one answer may be, unpacked.
	maxRaw = 256 << 20
	// maxPacked leaves room for zstd's overhead on incompressible data.
	maxPacked = maxRaw + maxRaw/128 + 1<<10
	// rawWindow limits the memory of packing and unpacking.
	rawWindow = 1 << 20
)

// A RawRef is the location of a raw answer.
type RawRef struct {
	Segment int   `json:"segment"`
	Offset  int64 `json:"offset"`
	Packed  int64 `json:"packed"` // bytes on disk
	Size    int64 `json:"size"`   // bytes unpacked
}

// Put stores a raw answer and returns when it is on disk. Append the record that refers
// to it afterwards. An answer may have 256 MiB.
func (j *Journal) Put(ctx context.Context, raw []byte) (RawRef, error) {
	if len(raw) > maxRaw {
		return RawRef{}, fmt.Errorf("run %s: an answer of %d bytes exceeds the limit of %d", j.run.ID, len(raw), maxRaw)
	}
	enc, err := j.raw.encoder()
	if err != nil {
		return RawRef{}, fmt.Errorf("run %s: %w", j.run.ID, err)
	}
	blob := enc.EncodeAll(raw, make([]byte, rawHeader, rawHeader+len(raw)/3+64))
	seal(blob, len(raw), j.table)
	return j.putBlob(ctx, blob, int64(len(raw)))
}

// CopyRaw copies a raw answer of another run into dst, without decompressing it.
func CopyRaw(dst *Journal, srcRoot, srcID string, ref RawRef) (RawRef, error) {
	blob, err := readBlob(srcRoot, srcID, ref)
	if err != nil {
		return RawRef{}, err
	}
	return dst.putBlob(context.Background(), blob, ref.Size)
}

func (j *Journal) putBlob(ctx context.Context, blob []byte, size int64) (RawRef, error) {
	s, err := j.raw.open()
	if err != nil {
		return RawRef{}, err
	}
	at, err := s.append(ctx, blob)
	if err != nil {
		return RawRef{}, err
	}
	return RawRef{Segment: at.Segment, Offset: at.Byte, Packed: int64(len(blob)), Size: size}, nil
}

// ReadRaw returns a raw answer. If it cannot be read, the error is a *DamageError.
func ReadRaw(root, id string, ref RawRef) ([]byte, error) {
	blob, err := readBlob(root, id, ref)
	if err != nil {
		return nil, err
	}
	damaged := func(err error) error {
		return &DamageError{Path: rawPath(filepath.Join(root, id), ref.Segment), Byte: ref.Offset, Reason: err.Error()}
	}
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecodeAllCapLimit(true), zstd.WithDecoderMaxMemory(maxRaw))
	if err != nil {
		return nil, err
	}
	defer dec.Close()
	raw, err := dec.DecodeAll(blob[rawHeader:], make([]byte, 0, ref.Size))
	if err != nil {
		return nil, damaged(err)
	}
	if int64(len(raw)) != ref.Size {
		return nil, damaged(fmt.Errorf("%d bytes uncompressed, want %d", len(raw), ref.Size))
	}
	return raw, nil
}

// readBlob returns header and frame, checked against their sum and ref.
func readBlob(root, id string, ref RawRef) ([]byte, error) {
	dir, err := runDir(root, id)
	if err != nil {
		return nil, err
	}
	path := rawPath(dir, ref.Segment)
	damaged := func(reason string) error { return &DamageError{Path: path, Byte: ref.Offset, Reason: reason} }
	if ref.Segment < 1 || ref.Offset < 0 || ref.Packed < rawHeader || ref.Packed > maxPacked || ref.Size < 0 || ref.Size > maxRaw {
		return nil, damaged(fmt.Sprintf("invalid location of an answer: %+v", ref))
	}
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, damaged("the segment is missing")
	} else if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	if info, err := f.Stat(); err != nil {
		return nil, err
	} else if info.Size()-ref.Packed < ref.Offset { // before memory is taken for it
		return nil, damaged(fmt.Sprintf("truncated at byte %d, within an answer", info.Size()))
	}
	blob := make([]byte, ref.Packed)
	if _, err := f.ReadAt(blob, ref.Offset); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: byte %d: %w", path, ref.Offset, err)
	}
	if reason := check(blob, ref.Size, newTable()); reason != "" {
		return nil, damaged(reason)
	}
	return blob, nil
}

// seal fills in the header before the frame.
func seal(blob []byte, size int, table *crc32.Table) {
	binary.BigEndian.PutUint32(blob, rawMagic)
	binary.BigEndian.PutUint32(blob[4:], uint32(len(blob)-rawHeader)) //nolint:gosec // at most maxPacked
	binary.BigEndian.PutUint32(blob[8:], uint32(size))                //nolint:gosec // at most maxRaw
	binary.BigEndian.PutUint32(blob[12:], rawSum(blob, table))
}

// check returns the problem of a blob, or "".
func check(blob []byte, size int64, table *crc32.Table) string {
	switch {
	case binary.BigEndian.Uint32(blob) != rawMagic:
		return "not an answer"
	case int64(binary.BigEndian.Uint32(blob[4:])) != int64(len(blob)-rawHeader):
		return "an answer of another length"
	case int64(binary.BigEndian.Uint32(blob[8:])) != size:
		return "an answer of another size"
	case binary.BigEndian.Uint32(blob[12:]) != rawSum(blob, table):
		return "checksum differs"
	}
	return ""
}

func rawSum(blob []byte, table *crc32.Table) uint32 {
	return crc32.Update(crc32.Checksum(blob[4:12], table), table, blob[rawHeader:])
}

func rawPath(dir string, n int) string {
	return filepath.Join(dir, fmt.Sprintf("raw-%06d.zst", n))
}
