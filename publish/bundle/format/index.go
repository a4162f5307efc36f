package format

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
)

// The sizes of traces.idx, in bytes.
const (
	HeaderSize = 24
	FrameSize  = 52
	EntrySize  = 56
	IDBytes    = 10

	magic = "fpTrace1"
)

// The flags of an entry.
const (
	flagMismatch byte = 1 << iota
	flagUnresolved
)

// The limits of a frame and of a line, unpacked.
const (
	FrameLines = 256
	LineBytes  = 64 << 20
)

// Excluded is the outcome of an excluded trial, in addition to those of pick.Kinds.
const Excluded = "excluded"

// Names is names.json: the texts that entries of the index refer to.
type Names struct {
	Outcomes  []string `json:"outcomes"`
	Agents    []string `json:"agents"`
	Prompts   []string `json:"prompts"`
	Templates []string `json:"templates"`
	// Picked begins with the empty name, of trials that picked nothing.
	Picked []string `json:"picked"`
}

// Check refuses lists in which a text occurs twice: a filter is one place in a list.
func (n *Names) Check() error {
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

// Resolve returns an entry of the index with its texts.
func (n *Names) Resolve(e *IndexEntry) (Entry, error) {
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

// AppendHeader appends the header of an index.
func AppendHeader(dst []byte, frames, entries int) []byte {
	dst = append(dst, magic...)
	dst = binary.BigEndian.AppendUint64(dst, uint64(frames))   //nolint:gosec // a count
	return binary.BigEndian.AppendUint64(dst, uint64(entries)) //nolint:gosec // a count
}

// DecodeHeader returns the counts of a header of HeaderSize bytes, as long as an index of
// size bytes can have that many.
func DecodeHeader(head []byte, size int64) (frames, entries int64, err error) {
	if string(head[:8]) != magic {
		return 0, 0, errors.New("missing header " + magic)
	}
	f, e := binary.BigEndian.Uint64(head[8:]), binary.BigEndian.Uint64(head[16:])
	limit := uint64(size) / EntrySize //nolint:gosec // a size
	if f > limit || e > limit || HeaderSize+int64(f)*FrameSize+int64(e)*EntrySize != size {
		return 0, 0, fmt.Errorf("%d frames and %d entries do not match %d bytes", f, e, size)
	}
	return int64(f), int64(e), nil //nolint:gosec // below limit
}

// A Frame is the place of some lines in traces.zst.
type Frame struct {
	At                  uint64
	Packed, Size, Lines uint32
	Sum                 [sha256.Size]byte
}

// Append appends the frame as FrameSize bytes.
func (f *Frame) Append(dst []byte) []byte {
	dst = binary.BigEndian.AppendUint64(dst, f.At)
	for _, n := range []uint32{f.Packed, f.Size, f.Lines} {
		dst = binary.BigEndian.AppendUint32(dst, n)
	}
	return append(dst, f.Sum[:]...)
}

// Decode reads a frame of FrameSize bytes. Its numbers may be anything.
func (f *Frame) Decode(buf []byte) {
	f.At = binary.BigEndian.Uint64(buf)
	f.Packed, f.Size, f.Lines = binary.BigEndian.Uint32(buf[8:]), binary.BigEndian.Uint32(buf[12:]), binary.BigEndian.Uint32(buf[16:])
	copy(f.Sum[:], buf[20:])
}

// An IndexEntry is one trial in traces.idx. Outcome, Agent, Prompt, Template and Picked
// are places in Names.
type IndexEntry struct {
	ID                                      [IDBytes]byte
	Outcome                                 byte
	Mismatch, Unresolved                    bool
	Agent, Prompt, Template, Repeat, Picked uint32
	Frame, Line                             uint32
	CostUSD                                 float64 // NaN if unknown
	WallMS                                  int64
}

// Append appends the entry as EntrySize bytes.
func (e *IndexEntry) Append(dst []byte) []byte {
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

// Decode reads an entry of EntrySize bytes. Its numbers may be anything.
func (e *IndexEntry) Decode(buf []byte) {
	copy(e.ID[:], buf)
	e.Outcome, e.Mismatch, e.Unresolved = buf[10], buf[11]&flagMismatch != 0, buf[11]&flagUnresolved != 0
	for i, p := range []*uint32{&e.Agent, &e.Prompt, &e.Template, &e.Repeat, &e.Picked, &e.Frame, &e.Line} {
		*p = binary.BigEndian.Uint32(buf[12+4*i:])
	}
	e.CostUSD = math.Float64frombits(binary.BigEndian.Uint64(buf[40:]))
	e.WallMS = int64(binary.BigEndian.Uint64(buf[48:])) //nolint:gosec // any value is valid
}
