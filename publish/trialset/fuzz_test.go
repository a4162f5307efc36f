package trialset

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"math"
	"slices"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// made returns an index of frames and of as many entries as each has lines, and the
// trials that it refers to.
func made(tb testing.TB, perFrame ...int) (idx, traces []byte) {
	tb.Helper()
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = enc.Close() }()
	var frames, entries []byte
	n := 0
	for at, lines := range perFrame {
		var text []byte
		for line := range lines {
			var id [10]byte
			binary.BigEndian.PutUint32(id[:], uint32(n))
			text = append(text, `{"id":"`+hex.EncodeToString(id[:])+"\"}\n"...)
			entries = append(append(entries, id[:]...), byte(n%3), byte(n%2))
			for _, v := range []int{n % 2, n % 5, 0, n, n % 4, at, line} {
				entries = binary.BigEndian.AppendUint32(entries, uint32(v))
			}
			entries = binary.BigEndian.AppendUint64(entries, math.Float64bits(float64(n)))
			entries = binary.BigEndian.AppendUint64(entries, uint64(n))
			n++
		}
		frames, traces = appendFrame(frames, traces, enc.EncodeAll(text, nil), len(text), lines)
	}
	idx = binary.BigEndian.AppendUint64([]byte("fpTrace1"), uint64(len(perFrame)))
	return append(append(binary.BigEndian.AppendUint64(idx, uint64(n)), frames...), entries...), traces
}

func appendFrame(frames, traces, packed []byte, size, lines int) ([]byte, []byte) {
	frames = binary.BigEndian.AppendUint64(frames, uint64(len(traces)))
	for _, v := range []int{len(packed), size, lines} {
		frames = binary.BigEndian.AppendUint32(frames, uint32(v))
	}
	sum := sha256.Sum256(packed)
	return append(frames, sum[:]...), append(traces, packed...)
}

// inMemory is a bundle without files. The error is that of the index.
func inMemory(tb testing.TB, idx, traces []byte) (*Set, error) {
	tb.Helper()
	dec, err := NewDecoder()
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(dec.Close)
	b := &Set{
		place: Place{Of: "set", ID: "0123456789abcdef0123"}, traces: bytes.NewReader(traces), decoder: dec,
		index: index{file: bytes.NewReader(idx), size: int64(len(idx)), traces: int64(len(traces))},
		names: names{
			Outcomes: []string{"tool", "diy", "other"}, Agents: []string{"a", "b"}, Prompts: []string{"p0", "p1", "p2", "p3", "p4"},
			Templates: []string{"none"}, Picked: []string{"", "x", "y", "z"},
		},
	}
	return b, b.index.open()
}

// FuzzIndex holds that whatever an index says, reading ends, with what it says or with
// an error that names a file.
func FuzzIndex(f *testing.F) {
	idx, traces := made(f, 3, 1)
	f.Add(idx)
	for _, at := range []int{8, 16, headerSize, headerSize + 8, headerSize + 12, headerSize + 16, headerSize + 20, len(idx) - entrySize + 10, len(idx) - entrySize + 32} {
		bad := slices.Clone(idx)
		bad[at] ^= 0xff
		f.Add(bad)
	}
	f.Add(idx[:len(idx)-1])
	f.Add([]byte("fpTrace1"))
	f.Fuzz(func(t *testing.T, data []byte) {
		b, err := inMemory(t, data, traces)
		if err != nil {
			return
		}
		if b.index.entries*entrySize > int64(len(data)) {
			t.Fatalf("%d entries in %d bytes", b.index.entries, len(data))
		}
		seen, cursor := 0, ""
		for {
			p, err := b.Traces(t.Context(), Filter{}, cursor, 2)
			if err != nil {
				damaged(t, err)
				break
			}
			seen += len(p.Traces)
			if cursor = p.Next; cursor == "" {
				if int64(seen) != b.index.entries {
					t.Fatalf("%d of %d entries", seen, b.index.entries)
				}
				break
			}
		}
		if err := b.WriteNDJSON(t.Context(), io.Discard, Filter{}); err != nil {
			damaged(t, err)
		}
		if _, err := b.FullPage(t.Context(), Filter{}, "", 3, 40); err != nil {
			damaged(t, err)
		}
		counts, err := b.Counts(t.Context())
		if err != nil {
			damaged(t, err)
		}
		counted := int64(0)
		for _, c := range counts {
			counted += int64(c.Trials)
		}
		if counted > b.index.entries {
			t.Fatalf("%d of %d entries are counted", counted, b.index.entries)
		}
	})
}

func damaged(t *testing.T, err error) {
	t.Helper()
	var told *DamageError
	if !errors.As(err, &told) || told.Path == "" {
		t.Errorf("error %v", err)
	}
}

func FuzzCursor(f *testing.F) {
	idx, traces := made(f, 5, 4)
	b, err := inMemory(f, idx, traces)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b.cursor(Filter{Agent: "a"}, 4), "a")
	f.Add(b.cursor(Filter{}, 8), "")
	f.Add("AAAA", "b")
	f.Fuzz(func(t *testing.T, cursor, agent string) {
		filter := Filter{Agent: agent}
		at, err := b.at(filter, cursor)
		if err != nil {
			if !errors.Is(err, ErrCursor) {
				t.Errorf("error %v", err)
			}
			return
		}
		if at < 0 || at >= b.index.entries || cursor != "" && b.cursor(filter, at) != cursor {
			t.Errorf("%q is place %d, whose cursor is %q", cursor, at, b.cursor(filter, at))
		}
	})
}
