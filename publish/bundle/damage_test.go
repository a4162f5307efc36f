package bundle_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/firstpick/firstpick/publish/bundle"
	"github.com/firstpick/firstpick/publish/trialset"
)

func TestDamageOfEachFileIsTold(t *testing.T) {
	w := newWorld(t, 7, size{prompts: 5, repeats: 60, text: 100})
	m := write(t, w.in)
	dir := filepath.Join(w.in.Root, m.ID)
	flipped := func(data []byte) []byte { data[len(data)/2] ^= 1; return data }
	for _, name := range []string{"explanations.json", "manifest.json", "names.json", "scores.json", "traces.idx", "traces.zst", "trials.parquet"} {
		path := filepath.Join(dir, name)
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for what, damage := range map[string]func() error{
			"flipped":   func() error { return os.WriteFile(path, flipped(append([]byte{}, whole...)), 0o600) },
			"truncated": func() error { return os.Truncate(path, int64(len(whole)-1)) },
			"longer":    func() error { return os.WriteFile(path, append(append([]byte{}, whole...), '\n'), 0o600) },
			"missing":   func() error { return os.Remove(path) },
			"a link":    func() error { return errors.Join(os.Remove(path), os.Symlink("manifest.json", path)) },
		} {
			if name == "trials.parquet" && what == "flipped" {
				continue // its hash is for those who download it
			}
			if err := damage(); err != nil {
				t.Fatal(err)
			}
			var told *trialset.DamageError
			if err := readAll(t, w.in.Root, m.ID); !errors.As(err, &told) || told.Path != m.ID+"/"+name {
				t.Errorf("%s %s: error %v", name, what, err)
			}
			_ = os.Remove(path)
			if err := os.WriteFile(path, whole, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Truncate(path, 3); err != nil {
			t.Fatal(err)
		}
		write(t, w.in)
		if err := readAll(t, w.in.Root, m.ID); err != nil {
			t.Errorf("writing again did not mend %s: %v", name, err)
		}
	}
	if err := readAll(t, w.in.Root, strings.Repeat("0", 20)); !errors.Is(err, trialset.ErrNotFound) {
		t.Errorf("no bundle: error %v", err)
	}
	for _, id := range []string{"", "..", "../" + m.ID, strings.ToUpper(m.ID), m.ID + "0"} {
		if err := readAll(t, w.in.Root, id); !errors.Is(err, trialset.ErrNotFound) {
			t.Errorf("id %q: error %v", id, err)
		}
	}
}

// stopAfter is a context that ends when it was asked n times.
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

func TestAWriteStoppedAnywhereLeavesNothing(t *testing.T) {
	w := newWorld(t, 8, size{prompts: 4, repeats: 10})
	stopped, done := 0, false
	for n := int64(1); !done && n < 10_000; n += 1 + n/4 {
		var left atomic.Int64
		left.Store(n)
		_, err := bundle.Write(stopAfter{t.Context(), &left}, w.in)
		if done = err == nil; done {
			continue
		}
		stopped++
		entries, err := os.ReadDir(w.in.Root)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if e.Name() != ".lock" {
				t.Errorf("stopped at %d it leaves %s", n, e.Name())
			}
		}
	}
	if stopped < 10 || !done {
		t.Errorf("stopped %d times, done %v", stopped, done)
	}
}

// TestAKilledWriterLeavesNoBundle kills writers, copies of this test, when they have
// come to a certain point, and looks at what they leave.
func TestAKilledWriterLeavesNoBundle(t *testing.T) {
	w := newWorld(t, 8, size{prompts: 4, repeats: 10})
	want := write(t, w.in).ID
	if err := os.RemoveAll(filepath.Join(w.in.Root, want)); err != nil {
		t.Fatal(err)
	}
	left := 0
	for _, point := range []string{"traces.zst", "names.json", "scores.json", "trials.parquet", "explanations.json", "manifest.json"} {
		killWriter(t, w.in, point)
		entries, err := os.ReadDir(w.in.Root)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			switch {
			case strings.HasPrefix(e.Name(), ".writing-"):
				left++
			case e.Name() != ".lock" && readAll(t, w.in.Root, e.Name()) != nil:
				t.Errorf("killed at %s it leaves half a bundle", point)
			}
		}
	}
	if left == 0 {
		t.Error("no writer was killed in mid work")
	}
	if m := write(t, w.in); m.ID != want {
		t.Errorf("after the kills it is %s, not %s", m.ID, want)
	}
	if err := readAll(t, w.in.Root, want); err != nil {
		t.Error(err)
	}
	entries, err := os.ReadDir(w.in.Root)
	if err != nil || len(entries) != 2 {
		t.Errorf("%d entries beside each other, want the bundle and the lock: %v", len(entries), err)
	}
}
