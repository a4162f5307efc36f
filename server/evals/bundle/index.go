package bundle

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
)

// The form of traces.idx.
const (
	indexMagic = "fpTrace1"
	headSize   = 24
	frameSize  = 52
	entrySize  = 56
	// What a frame may be.
	maxLines  = 256
	maxFrame  = 64 << 20
	maxWindow = 8 << 20
)

// names is names.json: the texts that entries refer to.
type names struct {
	Outcomes  []string `json:"outcomes"`
	Agents    []string `json:"agents"`
	Prompts   []string `json:"prompts"`
	Templates []string `json:"templates"`
	Picked    []string `json:"picked"`
}

// check refuses what entries could not refer to: a filter is one place in a list.
func (n *names) check() error {
	for _, list := range [][]string{n.Outcomes, n.Agents, n.Prompts, n.Templates, n.Picked} {
		seen := make(map[string]bool, len(list))
		for _, name := range list {
			if seen[name] {
				return fmt.Errorf("%q stands twice in a list", name)
			}
			seen[name] = true
		}
	}
	return nil
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
	var head [headSize]byte
	if _, err := x.file.ReadAt(head[:], 0); err != nil {
		return fmt.Errorf("its header: %w", err)
	}
	if string(head[:8]) != indexMagic {
		return errors.New("it does not begin with " + indexMagic)
	}
	frames, entries := binary.BigEndian.Uint64(head[8:]), binary.BigEndian.Uint64(head[16:])
	limit := uint64(x.size) / entrySize //nolint:gosec // a size
	if frames > limit || entries > limit || headSize+int64(frames)*frameSize+int64(entries)*entrySize != x.size {
		return fmt.Errorf("%d frames and %d entries do not take %d bytes", frames, entries, x.size)
	}
	x.frames, x.entries = int64(frames), int64(entries) //nolint:gosec // below limit
	return nil
}

// A frame is where some trials lie in traces.zst.
type frame struct {
	at           int64
	packed, size int
	lines        int
	sum          [sha256.Size]byte
}

func (x *index) frame(n int64) (frame, error) {
	if n < 0 || n >= x.frames {
		return frame{}, fmt.Errorf("frame %d of %d", n, x.frames)
	}
	var buf [frameSize]byte
	if _, err := x.file.ReadAt(buf[:], headSize+n*frameSize); err != nil {
		return frame{}, err
	}
	at := binary.BigEndian.Uint64(buf[:])
	packed, size, lines := binary.BigEndian.Uint32(buf[8:]), binary.BigEndian.Uint32(buf[12:]), binary.BigEndian.Uint32(buf[16:])
	if at > uint64(x.traces) || uint64(packed) > uint64(x.traces)-at || packed > maxFrame+maxFrame/64 || size > maxFrame || lines > maxLines { //nolint:gosec // a size
		return frame{}, fmt.Errorf("frame %d cannot be %d bytes at %d, %d unpacked, of %d lines", n, packed, at, size, lines)
	}
	f := frame{at: int64(at), packed: int(packed), size: int(size), lines: int(lines)} //nolint:gosec // below the file's size
	copy(f.sum[:], buf[20:])
	return f, nil
}

// An entry is one trial in numbers.
type entry struct {
	id                                      [10]byte
	outcome                                 byte
	mismatch                                bool
	agent, prompt, template, repeat, picked uint32
	frame, line                             uint32
	costUSD                                 float64 // not a number where it is unknown
	wallMS                                  int64
}

// decode reads an entry of entrySize bytes.
func (e *entry) decode(buf []byte) {
	copy(e.id[:], buf)
	e.outcome, e.mismatch = buf[10], buf[11]&1 != 0
	for i, p := range []*uint32{&e.agent, &e.prompt, &e.template, &e.repeat, &e.picked, &e.frame, &e.line} {
		*p = binary.BigEndian.Uint32(buf[12+4*i:])
	}
	e.costUSD = math.Float64frombits(binary.BigEndian.Uint64(buf[40:]))
	e.wallMS = int64(binary.BigEndian.Uint64(buf[48:])) //nolint:gosec // whatever it says
}

// tell returns an entry in words.
func (n *names) tell(e *entry) (Entry, error) {
	out := Entry{ID: hex.EncodeToString(e.id[:]), Repeat: int(e.repeat), Mismatch: e.mismatch, WallMS: e.wallMS}
	if cost := e.costUSD; !math.IsNaN(cost) && !math.IsInf(cost, 0) {
		out.CostUSD = &cost
	}
	for _, t := range []struct {
		to   *string
		list []string
		at   uint32
	}{
		{&out.Outcome, n.Outcomes, uint32(e.outcome)}, {&out.Agent, n.Agents, e.agent}, {&out.Prompt, n.Prompts, e.prompt},
		{&out.Template, n.Templates, e.template}, {&out.Picked, n.Picked, e.picked},
	} {
		if int64(t.at) >= int64(len(t.list)) {
			return out, fmt.Errorf("trial %s refers to name %d of %d", out.ID, t.at, len(t.list))
		}
		*t.to = t.list[t.at]
	}
	return out, nil
}
