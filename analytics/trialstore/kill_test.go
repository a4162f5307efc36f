package trialstore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/runner/pick"
	"github.com/firstpick/firstpick/runner/plan"
)

// stopAfter is a context that ends when it was asked n times: it stops a Sync
// at every point between two batches, as a signal would.
type stopAfter struct {
	context.Context
	left *atomic.Int64 // DuckDB's driver asks from a goroutine of its own
}

func (s stopAfter) Err() error {
	if s.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

func testJournal(t *testing.T, trials int) string {
	t.Helper()
	root := t.TempDir()
	r := journal.Run{ID: "r1", Eval: eval.Eval{Name: "e", Category: "c"}, Planned: trials, CreatedAt: time.Unix(1e9, 0)}
	j, err := journal.Create(root, r)
	if err != nil {
		t.Fatal(err)
	}
	recs := make([]journal.Record, trials)
	for i := range recs {
		recs[i] = journal.Record{
			Kind: journal.KindResult, At: time.Unix(1e9+int64(i), 0), Answer: &journal.Answer{},
			Trial:  plan.Trial{ID: fmt.Sprintf("%020x", i), Eval: "e", Category: "c", PromptID: "p", Agent: "a", Template: "none", Repeat: i + 1},
			Result: &pick.Result{Kind: pick.None},
		}
	}
	if err := errors.Join(j.Append(t.Context(), recs...), j.Close()); err != nil {
		t.Fatal(err)
	}
	return root
}

func TestASyncStoppedAnywhereLeavesNeitherGapsNorDoubles(t *testing.T) {
	const trials = 20
	root := testJournal(t, trials)
	for n := 0; n < 60; n += 3 {
		path := filepath.Join(t.TempDir(), "t.duckdb")
		s, err := Open(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		var left atomic.Int64
		left.Store(int64(n))
		_, _ = s.sync(stopAfter{t.Context(), &left}, root, 3)
		// A copy of the files is what a killed process leaves.
		killed := copyFiles(t, path)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		checkWhole(t, killed, root, trials, n)
	}
}

func copyFiles(t *testing.T, path string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "killed.duckdb")
	for _, suffix := range []string{"", ".wal"} {
		data, err := os.ReadFile(path + suffix)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err == nil {
			err = os.WriteFile(to+suffix, data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return to
}

func checkWhole(t *testing.T, path, root string, trials, n int) {
	t.Helper()
	s, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	if _, err := s.sync(t.Context(), root, 4); err != nil {
		t.Fatal(err)
	}
	rows, err := s.Trials(t.Context(), Filter{Run: "r1"})
	if err != nil {
		t.Fatal(err)
	}
	ids := make([]string, 0, len(rows))
	for _, r := range rows {
		ids = append(ids, r.TrialID)
	}
	slices.Sort(ids)
	if len(ids) != trials || len(slices.Compact(ids)) != trials {
		t.Fatalf("stopped after %d questions: %d trials, %d distinct, want %d", n, len(rows), len(slices.Compact(ids)), trials)
	}
}

func TestParquetBytesDoNotDependOnHowTrialsWereLoaded(t *testing.T) {
	root := testJournal(t, 5000)
	var first []byte
	for _, size := range []int{20_000, 700, 1999} {
		s, err := Open(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.sync(t.Context(), root, size); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "t.parquet")
		if err := errors.Join(s.WriteParquet(t.Context(), path, nil, nil), s.Close()); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if first != nil && !slices.Equal(first, data) {
			t.Errorf("batches of %d give other bytes", size)
		}
		first = data
	}
}
