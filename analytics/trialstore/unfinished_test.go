package trialstore_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/analytics/trialstore"
	"github.com/firstpick/firstpick/runner/journal"
)

// A full disk leaves a file that ends inside its headers. It never held a trial, so it
// is built again; the journals do not change.
func TestAFileWhoseCreationNeverFinishedIsReplaced(t *testing.T) {
	const header = 3 * 4096
	tests := map[string]func(whole []byte) []byte{
		"an empty file":                   func([]byte) []byte { return nil },
		"one byte":                        func(whole []byte) []byte { return whole[:1] },
		"the first header alone":          func(whole []byte) []byte { return whole[:4096] },
		"cut inside the second":           func(whole []byte) []byte { return whole[:5000] },
		"two headers":                     func(whole []byte) []byte { return whole[:8192] },
		"space taken and nothing written": func([]byte) []byte { return make([]byte, header) },
		"headers that were never written": func(whole []byte) []byte { return append(slices.Clone(whole[:4096]), make([]byte, 8192)...) },
	}
	root, path := t.TempDir(), filepath.Join(t.TempDir(), "trials.duckdb")
	r := testRun("r1", "web", "web-frameworks", start)
	writeRun(t, root, r, records(r))
	s := openStore(t, path)
	if s.Replaced() {
		t.Error("a new file is reported as replaced")
	}
	sync(t, s, root)
	want := allTrials(t, s, "r1")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, cut := range tests {
		t.Run(name, func(t *testing.T) {
			if err := os.WriteFile(path, cut(whole), 0o600); err != nil {
				t.Fatal(err)
			}
			s := openStore(t, path)
			if !s.Replaced() {
				t.Error("not reported as replaced")
			}
			same(t, "trials loaded", sync(t, s, root).Trials, len(want))
			same(t, "trials", allTrials(t, s, "r1"), want)
			if err := errors.Join(s.Close(), journal.Verify(root, "r1")); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// What held trials and is damaged now is not thrown away without a word.
func TestADamagedFileIsNotReplaced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trials.duckdb")
	junk := []byte(strings.Repeat("junk ", 4000))
	if err := os.WriteFile(path, junk, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := trialstore.Open(t.Context(), path)
	var damaged *trialstore.DamagedError
	if !errors.As(err, &damaged) {
		t.Fatalf("error %v, want a DamagedError", err)
	}
	if got, err := os.ReadFile(path); err != nil || len(got) != len(junk) {
		t.Fatalf("the file has %d bytes now, %v", len(got), err)
	}
}

func TestOneUnreadableRunDoesNotStopTheOthers(t *testing.T) {
	tests := map[string]struct {
		harm func(dir string) error
		left int // trials of the harmed run that still count
	}{
		"run.json is no JSON": {func(dir string) error { return os.WriteFile(filepath.Join(dir, "run.json"), []byte("{"), 0o600) }, 0},
		"the last record of the journal is damaged": {func(dir string) error {
			path := filepath.Join(dir, "journal-000001.ndjson")
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			data[len(data)-20] ^= 1
			return os.WriteFile(path, data, 0o600)
		}, 28},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			for _, id := range []string{"bad", "good"} {
				r := testRun(id, id, "web-frameworks", start)
				writeRun(t, root, r, records(r))
			}
			s := openStore(t, "")
			sync(t, s, root) // the store knows both before the harm is done
			if err := tt.harm(filepath.Join(root, "bad")); err != nil {
				t.Fatal(err)
			}
			stores := []*trialstore.Store{openStore(t, "")}
			if tt.left == 0 { // damage behind what was read is found by Verify, not by Sync
				stores = append(stores, s)
			}
			var damage *journal.DamageError
			for _, store := range stores {
				loaded := sync(t, store, root)
				if len(loaded.Unreadable) != 1 || loaded.Unreadable[0].ID != "bad" || !errors.As(loaded.Unreadable[0], &damage) {
					t.Fatalf("unreadable: %v", loaded.Unreadable)
				}
				same(t, "trials of the good run", len(allTrials(t, store, "good")), 28)
				same(t, "trials of the bad run", len(allTrials(t, store, "bad")), tt.left)
			}
			if err := journal.Verify(root, "bad"); !errors.As(err, &damage) {
				t.Fatalf("verified: %v", err)
			}
		})
	}
}
