package trialstore

import (
	"context"
	"errors"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstpick/firstpick/runner/journal"
)

// TestMarginsEqualTheJournals loads, extracts again, forgets and kills at random. Three of
// the runs are of one category, two of these of one eval: their cells are summed.
func TestMarginsEqualTheJournals(t *testing.T) {
	for seed := range uint64(3) {
		m := &model{
			root: t.TempDir(), rng: rand.New(rand.NewPCG(seed, 1)),
			runs: map[string]journal.Run{}, trials: map[string]map[string]journal.Record{}, excluded: map[string]map[string]bool{},
		}
		path := filepath.Join(t.TempDir(), "t.duckdb")
		s, err := Open(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		ids := []string{"r11", "s11", "r21", "r32"}
		for range 9 {
			switch id := ids[m.rng.IntN(len(ids))]; m.rng.IntN(8) {
			case 0:
				m.remove(t, id)
			case 1: // the file of a process that was killed between two batches
				m.write(t, id, 1+m.rng.IntN(20))
				var left atomic.Int64
				left.Store(int64(m.rng.IntN(120)))
				_, _ = s.sync(stopAfter{t.Context(), &left}, m.root, 3)
				path = copyFiles(t, path)
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
				if s, err = Open(t.Context(), path); err != nil {
					t.Fatal(err)
				}
				recounted(t, s)
			default:
				m.write(t, id, m.rng.IntN(20))
			}
			if m.rng.IntN(3) > 0 {
				if _, err := s.sync(t.Context(), m.root, 1+m.rng.IntN(9)); err != nil {
					t.Fatal(err)
				}
				m.check(t, s)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// recounted compares what the store gives now with what it gives without any margin.
func recounted(t *testing.T, s *Store) {
	t.Helper()
	read := func() (rows []RunRow, counts []Count) {
		rows, err := s.Runs(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		counts, err = s.Counts(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		return rows, counts
	}
	rows, counts := read()
	if _, err := s.db.ExecContext(t.Context(), `update margin set format = -format`); err != nil {
		t.Fatal(err)
	}
	wantRows, wantCounts := read()
	if d := cmp.Diff(wantRows, rows) + cmp.Diff(wantCounts, counts); d != "" {
		t.Errorf("(-recount +margins):\n%s", d)
	}
	if _, err := s.db.ExecContext(t.Context(), `update margin set format = -format`); err != nil {
		t.Fatal(err)
	}
}

// A file of a program before margins has none; of another format they are not read.
func TestSyncMakesMissingMargins(t *testing.T) {
	for name, change := range map[string][]string{
		"older file":   {`drop table margin`, `delete from migration where name = '0007_margin.sql'`},
		"other format": {`update margin set format = format + 1, cells = ''::blob, valid = 0`},
	} {
		root, path := testJournal(t, 20), filepath.Join(t.TempDir(), "t.duckdb")
		for _, changes := range [][]string{change, nil} {
			s, err := Open(t.Context(), path)
			if err != nil {
				t.Fatal(err)
			}
			recounted(t, s)
			if _, err := s.Sync(t.Context(), root); err != nil {
				t.Fatal(err)
			}
			if n, lines, err := s.CheckMargins(t.Context(), root); n != 1 || len(lines) > 0 || err != nil {
				t.Errorf("%s: %d runs, %v, %v", name, n, lines, err)
			}
			for _, sql := range changes {
				if _, err := s.db.ExecContext(t.Context(), sql); err != nil {
					t.Fatal(err)
				}
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestCheckMarginsNamesEachDifference(t *testing.T) {
	root := testJournal(t, 20)
	s, err := Open(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	if _, err := s.Sync(t.Context(), root); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		change string
		want   []string // beginnings of lines
	}{
		{`update trial set picked = 'flask', outcome = 'tool' where repeat = 3`, []string{`run r1: prompt e/p, agent a, template none: the margin has {"prompt":"e/p",`}},
		{`update trial set agent = 'b' where repeat = 3`, []string{"run r1: prompt e/p, agent a, template none: ", "run r1: prompt e/p, agent b, template none: the margin has nothing, the trials {"}},
		{`update margin set valid = 21`, []string{`run r1: figures: the margin has {"valid":21,`, "run r1: prompt", "run r1: prompt"}},
		{`update margin set cells = 'x'::blob`, []string{"run r1: malformed cells"}},
		{`delete from margin`, []string{"run r1: it has no margin"}},
	} {
		if _, err := s.db.ExecContext(t.Context(), tt.change); err != nil {
			t.Fatal(err)
		}
		_, got, err := s.CheckMargins(t.Context(), root)
		if err != nil || len(got) != len(tt.want) || !slices.EqualFunc(got, tt.want, strings.HasPrefix) {
			t.Errorf("%s: %q, %v", tt.change, got, err)
		}
	}
	if _, err := s.db.ExecContext(t.Context(), `insert into margin select run_id, ?, 0, 0, null, null, 0, 'x'::blob from run`, cellsFormat); err != nil {
		t.Fatal(err)
	}
	var damaged *DamagedError
	if _, err := s.Counts(context.Background(), nil); err != nil {
		t.Errorf("a run without trials is not current: %v", err)
	}
	if _, err := s.Counts(t.Context(), []string{"r1"}); !errors.As(err, &damaged) {
		t.Errorf("malformed cells: %v", err)
	}
}
