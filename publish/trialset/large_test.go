package trialset

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestAHundredThousandTrialsTakeNoMoreThanAThousand reads runs of both sizes and
// compares what reading them allocates: it must follow from the answer alone, and the
// first page must be there in 50 ms. .ci/bench-evals has the figures.
func TestAHundredThousandTrialsTakeNoMoreThanAThousand(t *testing.T) {
	small, large := sized(t, 4), sized(t, 391)
	last := fmt.Sprintf("%08x%012d", large.index.entries-1, 0)
	if n := large.index.entries; n < 100_000 {
		t.Fatalf("%d trials", n)
	}
	middle := large.cursor(Filter{}, large.index.entries/2)
	for name, read := range map[string]struct {
		small, large func(ctx context.Context) error
	}{
		"a page": {
			func(ctx context.Context) error { _, err := small.Traces(ctx, Filter{}, "", 50); return err },
			func(ctx context.Context) error { _, err := large.Traces(ctx, Filter{}, "", 50); return err },
		},
		"a full page": {
			func(ctx context.Context) error { _, err := small.FullPage(ctx, Filter{}, "", 50, 1<<20); return err },
			func(ctx context.Context) error { _, err := large.FullPage(ctx, Filter{}, "", 50, 1<<20); return err },
		},
		"a full page in the middle": {
			func(ctx context.Context) error { _, err := small.FullPage(ctx, Filter{}, "", 50, 1<<20); return err },
			func(ctx context.Context) error {
				_, err := large.FullPage(ctx, Filter{}, middle, 50, 1<<20)
				return err
			},
		},
		"a trial": {
			func(ctx context.Context) error { _, err := small.Trace(ctx, fmt.Sprintf("%020d", 0)); return err },
			func(ctx context.Context) error { _, err := large.Trace(ctx, last); return err },
		},
		"the counts": {
			func(ctx context.Context) error { _, err := small.Counts(ctx); return err },
			func(ctx context.Context) error { _, err := large.Counts(ctx); return err },
		},
	} {
		few, _ := taken(t, read.small)
		many, took := taken(t, read.large)
		const slack = 256 << 10 // a frame is a place in the index, read and given back
		if many > few+few/10+slack {
			t.Errorf("%s allocates %d bytes of a small run and %d of a large one", name, few, many)
		}
		if strings.Contains(name, "page") && took > 50*time.Millisecond {
			t.Errorf("%s of a large run took %v at best", name, took)
		}
	}
}

// A scale is a writer that weighs what is held while it is written to.
type scale struct {
	writes     int
	held, most uint64
}

func (s *scale) Write(p []byte) (int, error) {
	if s.writes++; s.writes%25_000 == 0 {
		s.most = max(s.most, held())
	}
	return len(p), nil
}

func held() uint64 {
	runtime.GC()
	var now runtime.MemStats
	runtime.ReadMemStats(&now)
	return now.HeapAlloc
}

func TestLinesAreNotHeld(t *testing.T) {
	b := sized(t, 391) // their lines are 2.9 MB
	s := &scale{held: held()}
	if err := b.WriteNDJSON(t.Context(), s, Filter{}); err != nil {
		t.Fatal(err)
	}
	if s.writes < 100_000 || s.most > s.held+1<<20 {
		t.Errorf("%d bytes are held after %d lines", int64(s.most-s.held), s.writes)
	}
}

func sized(t *testing.T, frames int) *Set {
	t.Helper()
	idx, traces := made(t, slices.Repeat([]int{frameLines}, frames)...)
	b, err := inMemory(t, idx, traces)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// taken is what a call allocates, and the time of the fastest of some.
func taken(t *testing.T, read func(ctx context.Context) error) (bytes uint64, best time.Duration) {
	t.Helper()
	const tries = 5
	best = time.Hour
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range tries {
		began := time.Now()
		if err := read(t.Context()); err != nil {
			t.Fatal(err)
		}
		best = min(best, time.Since(began))
	}
	runtime.ReadMemStats(&after)
	return (after.TotalAlloc - before.TotalAlloc) / tries, best
}
