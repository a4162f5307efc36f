package trialset

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
)

// The sizes of traces.idx, in bytes.
const (
	headerSize = 24
	frameSize  = 52
	entrySize  = 56
	idBytes    = 10

	magic = "fpTrace1"
)

// The flags of an entry.
const (
	flagMismatch byte = 1 << iota
	flagUnresolved
)

// The limits of a frame and of a line, unpacked.
const (
	frameLines = 256
	lineBytes  = 64 << 20
	maxFrame   = lineBytes
	maxWindow  = 8 << 20
)

// Excluded is the outcome of an excluded trial, in addition to those of pick.Kinds.
const Excluded = "excluded"

// names is names.json: the texts that entries of the index refer to.
type names struct {
	Outcomes  []string `json:"outcomes"`
	Agents    []string `json:"agents"`
	Prompts   []string `json:"prompts"`
	Templates []string `json:"templates"`
	// Picked begins with the empty name, of trials that picked nothing.
	Picked []string `json:"picked"`
}

// check refuses lists in which a text occurs twice: a filter is one place in a list.
func (n *names) check() error {
	for _, list := range [][]string{n.Outcomes, n.Agents, n.Prompts, n.Templates, n.Picked} {
		seen := make(map[string]bool, len(list))
		for _, name := range list {
			if seen[name] {
				return fmt.Errorf("duplicate name %q in a list", name)
			}
			seen[name] = true
		}
	}
	return nil
}

// resolve returns an entry of the index with its texts.
func (n *names) resolve(e *indexEntry) (Entry, error) {
	out := Entry{ID: hex.EncodeToString(e.ID[:]), Repeat: int(e.Repeat), Mismatch: e.Mismatch, Unresolved: e.Unresolved, WallMS: e.WallMS}
	if cost := e.CostUSD; !math.IsNaN(cost) && !math.IsInf(cost, 0) {
		out.CostUSD = &cost
	}
	for _, t := range []struct {
		to   *string
		list []string
		at   uint32
	}{
		{&out.Outcome, n.Outcomes, uint32(e.Outcome)}, {&out.Agent, n.Agents, e.Agent}, {&out.Prompt, n.Prompts, e.Prompt},
		{&out.Template, n.Templates, e.Template}, {&out.Picked, n.Picked, e.Picked},
	} {
		if int64(t.at) >= int64(len(t.list)) {
			return out, fmt.Errorf("trial %s refers to name %d of %d", out.ID, t.at, len(t.list))
		}
		*t.to = t.list[t.at]
	}
	return out, nil
}

// appendHeader appends the header of an index.
func appendHeader(dst []byte, frames, entries int) []byte {
	dst = append(dst, magic...)
	dst = binary.BigEndian.AppendUint64(dst, uint64(frames))   //nolint:gosec // a count
	return binary.BigEndian.AppendUint64(dst, uint64(entries)) //nolint:gosec // a count
}

// decodeHeader returns the counts of a header of headerSize bytes, as long as an index of
// size bytes can have that many.
func decodeHeader(head []byte, size int64) (frames, entries int64, err error) {
	if string(head[:8]) != magic {
		return 0, 0, errors.New("missing header " + magic)
	}
	f, e := binary.BigEndian.Uint64(head[8:]), binary.BigEndian.Uint64(head[16:])
	limit := uint64(size) / entrySize //nolint:gosec // a size
	if f > limit || e > limit || headerSize+int64(f)*frameSize+int64(e)*entrySize != size {
		return 0, 0, fmt.Errorf("%d frames and %d entries do not match %d bytes", f, e, size)
	}
	return int64(f), int64(e), nil //nolint:gosec // below limit
}

// A frame is the place of some lines in traces.zst.
type frame struct {
	At                  uint64
	Packed, Size, Lines uint32
	Sum                 [sha256.Size]byte
}

// append appends the frame as frameSize bytes.
func (f *frame) append(dst []byte) []byte {
	dst = binary.BigEndian.AppendUint64(dst, f.At)
	for _, n := range []uint32{f.Packed, f.Size, f.Lines} {
		dst = binary.BigEndian.AppendUint32(dst, n)
	}
	return append(dst, f.Sum[:]...)
}

// decode reads a frame of frameSize bytes. Its numbers may be anything.
func (f *frame) decode(buf []byte) {
	f.At = binary.BigEndian.Uint64(buf)
	f.Packed, f.Size, f.Lines = binary.BigEndian.Uint32(buf[8:]), binary.BigEndian.Uint32(buf[12:]), binary.BigEndian.Uint32(buf[16:])
	copy(f.Sum[:], buf[20:])
}

// An indexEntry is one trial in traces.idx. Outcome, Agent, Prompt, Template and Picked
// are places in names.
type indexEntry struct {
	ID                                      [idBytes]byte
	Outcome                                 byte
	Mismatch, Unresolved                    bool
	Agent, Prompt, Template, Repeat, Picked uint32
	Frame, Line                             uint32
	CostUSD                                 float64 // NaN if unknown
	WallMS                                  int64
}

// append appends the entry as entrySize bytes.
func (e *indexEntry) append(dst []byte) []byte {
	flags := byte(0)
	if e.Mismatch {
		flags |= flagMismatch
	}
	if e.Unresolved {
		flags |= flagUnresolved
	}
	dst = append(append(dst, e.ID[:]...), e.Outcome, flags)
	for _, n := range []uint32{e.Agent, e.Prompt, e.Template, e.Repeat, e.Picked, e.Frame, e.Line} {
		dst = binary.BigEndian.AppendUint32(dst, n)
	}
	dst = binary.BigEndian.AppendUint64(dst, math.Float64bits(e.CostUSD))
	return binary.BigEndian.AppendUint64(dst, uint64(e.WallMS)) //nolint:gosec // not negative
}

// decode reads an entry of entrySize bytes. Its numbers may be anything.
func (e *indexEntry) decode(buf []byte) {
	copy(e.ID[:], buf)
	e.Outcome, e.Mismatch, e.Unresolved = buf[10], buf[11]&flagMismatch != 0, buf[11]&flagUnresolved != 0
	for i, p := range []*uint32{&e.Agent, &e.Prompt, &e.Template, &e.Repeat, &e.Picked, &e.Frame, &e.Line} {
		*p = binary.BigEndian.Uint32(buf[12+4*i:])
	}
	e.CostUSD = math.Float64frombits(binary.BigEndian.Uint64(buf[40:]))
	e.WallMS = int64(binary.BigEndian.Uint64(buf[48:])) //nolint:gosec // any value is valid
}

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
	var head [headerSize]byte
	if _, err := x.file.ReadAt(head[:], 0); err != nil {
		return fmt.Errorf("its header: %w", err)
	}
	var err error
	x.frames, x.entries, err = decodeHeader(head[:], x.size)
	return err
}

// frame reads a frame and refuses one that the traces cannot have.
func (x *index) frame(n int64) (f frame, err error) {
	if n < 0 || n >= x.frames {
		return f, fmt.Errorf("frame %d of %d", n, x.frames)
	}
	var buf [frameSize]byte
	if _, err := x.file.ReadAt(buf[:], headerSize+n*frameSize); err != nil {
		return f, err
	}
	f.decode(buf[:])
	if traces := uint64(x.traces); f.At > traces || uint64(f.Packed) > traces-f.At || f.Packed > maxFrame+maxFrame/64 || f.Size > maxFrame || f.Lines > frameLines { //nolint:gosec // a size
		return f, fmt.Errorf("frame %d cannot be %d bytes at %d, %d unpacked, of %d lines", n, f.Packed, f.At, f.Size, f.Lines)
	}
	return f, nil
}
