package trialset

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
)

// Check checks the whole index against itself and the size of traces.zst, and reads no
// trial: frames and entries without gaps, names that exist.
func (s *Set) Check(ctx context.Context) error {
	bad := func(format string, args ...any) error {
		return s.place.damaged(indexName, fmt.Sprintf(format, args...))
	}
	lines := make([]uint32, s.index.frames)
	at, sum := uint64(0), int64(0)
	for n := range lines {
		if err := ctx.Err(); err != nil {
			return err
		}
		f, err := s.index.frame(int64(n))
		if err != nil {
			return bad("%v", err)
		}
		if f.At != at || f.Lines == 0 {
			return bad("frame %d of %d lines at %d does not follow the last", n, f.Lines, f.At)
		}
		at, sum, lines[n] = at+uint64(f.Packed), sum+int64(f.Lines), f.Lines
	}
	if at != uint64(s.index.traces) || sum != s.index.entries { //nolint:gosec // a size
		return bad("frames of %d bytes and %d lines for %d bytes and %d entries", at, sum, s.index.traces, s.index.entries)
	}
	var frame, line uint32
	return s.scan(ctx, 0, func(_ int64, e *indexEntry) (bool, error) {
		if line == lines[frame] {
			frame, line = frame+1, 0
		}
		if e.Frame != frame || e.Line != line {
			return false, bad("trial %x is line %d of frame %d, not line %d of frame %d", e.ID, e.Line, e.Frame, line, frame)
		}
		line++
		_, err := s.names.resolve(e)
		if err != nil {
			return false, bad("%v", err)
		}
		return true, nil
	})
}

// Walk reads every trial in order and checks that it is what its entry says.
func (s *Set) Walk(ctx context.Context, fn func(*Trace) error) error {
	return s.Choose(ctx, func(string) bool { return true }, fn)
}

// Choose is Walk for the trials whose ids a function takes. It reads no others.
func (s *Set) Choose(ctx context.Context, takes func(id string) bool, fn func(*Trace) error) error {
	r := frameReader{set: s, at: -1}
	return s.scan(ctx, 0, func(_ int64, e *indexEntry) (bool, error) {
		if !takes(hex.EncodeToString(e.ID[:])) {
			return true, nil
		}
		line, err := r.line(e)
		if err != nil {
			return false, err
		}
		want, err := s.names.resolve(e)
		if err != nil {
			return false, s.place.damaged(indexName, err.Error())
		}
		var t Trace
		if err := json.Unmarshal(line, &t); err != nil {
			return false, s.place.damaged(tracesName, fmt.Sprintf("trial %s: %v", want.ID, err))
		}
		if !equal(t.Entry, want) {
			return false, s.place.damaged(tracesName, fmt.Sprintf("trial %s differs from its entry in the index", want.ID))
		}
		return true, fn(&t)
	})
}

func equal(a, b Entry) bool {
	cost := func(e Entry) float64 {
		if e.CostUSD == nil {
			return math.Inf(1) // no entry has it
		}
		return *e.CostUSD
	}
	costs := cost(a) == cost(b)
	a.CostUSD, b.CostUSD = nil, nil
	return costs && a == b
}
