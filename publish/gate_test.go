package publish_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/firstpick/firstpick/publish"
	"github.com/firstpick/firstpick/runner/journal"
)

// forge changes a file of a snapshot and makes every hash fit again, as
// somebody would who wants other figures. It returns the new id.
func forge(t *testing.T, root, id, name, old, replacement string) string {
	t.Helper()
	dir := filepath.Join(root, id)
	change := func(name, old, replacement string) []byte {
		path := filepath.Join(dir, name)
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(data), old) {
			t.Fatalf("%s has no %s", name, old)
		}
		data = []byte(strings.Replace(string(data), old, replacement, 1))
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return data
	}
	data := change(name, old, replacement)
	if name != "manifest.json" {
		var m publish.Manifest
		text, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
		if err == nil {
			err = json.Unmarshal(text, &m)
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range m.Files {
			if f.Path == name {
				change("manifest.json", fmt.Sprintf(`%s","bytes":%d`, f.SHA256, f.Bytes), fmt.Sprintf(`%s","bytes":%d`, sum(data), len(data)))
			}
		}
		if text, err = os.ReadFile(filepath.Join(dir, "manifest.json")); err != nil {
			t.Fatal(err)
		}
		data = text
	}
	forged := sum(data)[:20]
	if err := os.Rename(dir, filepath.Join(root, forged)); err != nil {
		t.Fatal(err)
	}
	return forged
}

func sum(data []byte) string {
	h := sha256.Sum256(data)
	return hex.EncodeToString(h[:])
}

func TestForgedFiguresDoNotFollowFromTheTrials(t *testing.T) {
	in := testInput(t, 1)
	_, id := build(t, in)
	for name, tc := range map[string]struct{ file, old, replacement, blamed string }{
		"a board":              {"boards/beta.json", `"nTrials":99`, `"nTrials":98`, "boards/beta.json"},
		"a report":             {"reports/alpha/alpha-one.json", `"nTrials":99`, `"nTrials":98`, "reports/alpha/alpha-one.json"},
		"the list":             {"categories.json", `"nTrials":99`, `"nTrials":98`, "categories.json"},
		"the number of trials": {"manifest.json", `"trials":198`, `"trials":199`, "manifest.json"},
		"an eval's trials":     {"manifest.json", `"valid":99`, `"valid":98`, "manifest.json"},
		"the planned trials":   {"manifest.json", `"planned":100`, `"planned":101`, "manifest.json"},
		"older formulas":       {"manifest.json", `"statistics":4,`, `"statistics":1,`, "manifest.json"},
		"no formulas":          {"manifest.json", `"statistics":4,`, ``, "manifest.json"},
		"a mark":               {"manifest.json", `"synthetic":false,"evidence"`, `"synthetic":true,"evidence"`, "manifest.json"},
		"a mark of an eval":    {"manifest.json", `"synthetic":false,"extracted"`, `"synthetic":true,"extracted"`, "trials/alpha/eval-alpha"},
		"a file of no kind":    {"manifest.json", `"path":"refs.json"`, `"path":"refs.jsom"`, "refs.jsom"},
		"large documents":      {"manifest.json", `{"path":"reports/alpha/alpha-one.json"`, `{"path":"reports/alpha/aa.json","bytes":300000000},{"path":"reports/alpha/alpha-one.json"`, "manifest.json"},
		"a category without":   {"catalog.json", `"slug":"beta","name":"beta","domain":"dev-tools","entries":[{"slug":"beta-one"`, `"slug":"gamma","name":"beta","domain":"dev-tools","entries":[{"slug":"beta-one"`, "manifest.json"},
		"a path outside":       {"manifest.json", `"path":"refs.json"`, `"path":"../ref.js"`, "manifest.json"},
	} {
		copied := t.TempDir()
		if err := os.CopyFS(copied, os.DirFS(root(in))); err != nil {
			t.Fatal(err)
		}
		_, err := publish.Verify(t.Context(), copied, forge(t, copied, id, tc.file, tc.old, tc.replacement), nil)
		var damage *publish.DamageError
		if !errors.As(err, &damage) || damage.Path != tc.blamed {
			t.Errorf("%s: error %v, want one that blames %s", name, err, tc.blamed)
		}
	}
}

func TestWhatIsNotPublished(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*publish.Input)
		want   string
	}{
		"no runs":               {func(in *publish.Input) { in.Runs = nil }, "no run to publish"},
		"simulated agents":      {func(in *publish.Input) { in.Runs[0].Synthetic = true }, "allow synthetic"},
		"a run twice":           {func(in *publish.Input) { in.Runs = append(in.Runs, in.Runs[0]) }, "same eval"},
		"a category not known":  {func(in *publish.Input) { in.Runs[0].Eval.Category = "nope" }, "catalogue does not have"},
		"a run not in the file": {func(in *publish.Input) { in.Runs = []journal.Run{{ID: "x", Eval: in.Runs[0].Eval}} }, "not found"},
		"a root that is a file": {func(in *publish.Input) {
			_ = os.WriteFile(root(*in), nil, 0o600)
		}, "write a snapshot under"},
	} {
		in := testInput(t, 1)
		tc.change(&in)
		if _, _, err := publish.Build(t.Context(), in); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: error %v, want %q", name, err, tc.want)
		}
		if entries, _ := os.ReadDir(root(in)); len(entries) != 0 {
			t.Errorf("%s: left %v", name, entries)
		}
	}
}

// Journals and store that disagree make trial files that do not fit the figures.
func TestWhatReadersCouldNotVerifyIsNotPublished(t *testing.T) {
	run := testRun("alpha")
	recs := records(run)
	in := inputWith(t, run, recs...)
	other := *recs[7].Result
	other.Picked = "alpha-three"
	recs[7].Result = &other
	in.RunsRoot = inputWith(t, run, recs...).RunsRoot
	var damage *publish.DamageError
	if _, _, err := publish.Build(t.Context(), in); !errors.As(err, &damage) || !strings.Contains(err.Error(), "nothing published") {
		t.Errorf("error %v", err)
	}
	if entries, _ := os.ReadDir(root(in)); len(entries) != 0 {
		t.Errorf("left %v", entries)
	}
}

func TestPromoteListAndPrune(t *testing.T) {
	in := testInput(t, 1)
	if _, err := in.Place.Current(t.Context()); !errors.Is(err, publish.ErrNotFound) {
		t.Errorf("current of nothing: %v", err)
	}
	if all, err := in.Place.List(t.Context()); err != nil || len(all) != 0 {
		t.Errorf("list of nothing: %v, %v", all, err)
	}
	var ids []string
	for i, generator := range []string{"one", "two", "three"} {
		in.Generator = generator
		_, id := build(t, in)
		at := time.Unix(1e9+int64(i), 0)
		if err := os.Chtimes(filepath.Join(root(in), id, "manifest.json"), at, at); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	for _, wrong := range []string{"", "current", "../x", strings.Repeat("0", 20)} {
		if err := in.Place.Promote(t.Context(), wrong); !errors.Is(err, publish.ErrNotFound) {
			t.Errorf("promote %q: %v", wrong, err)
		}
	}
	for _, id := range []string{ids[2], ids[0]} {
		if err := in.Place.Promote(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		if got, err := in.Place.Current(t.Context()); err != nil || got != id {
			t.Errorf("current %s, %v, want %s", got, err, id)
		}
	}
	if err := os.Mkdir(filepath.Join(root(in), ".writing-left"), 0o700); err != nil {
		t.Fatal(err)
	}
	all, err := in.Place.List(t.Context())
	if err != nil || len(all) != 3 || all[0].ID != ids[2] || !all[2].Current {
		t.Errorf("list %+v, %v", all, err)
	}
	old, err := in.Place.Prunable(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	gone, err := in.Place.Prune(t.Context(), append(old, ids[0]), time.Now().Add(25*time.Hour))
	if err == nil || !strings.Contains(err.Error(), ids[0]+" became the current snapshot meanwhile") {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{ids[1]}, gone); d != "" {
		t.Error(d)
	}
	entries, err := os.ReadDir(root(in))
	if err != nil || len(entries) != 4 {
		t.Errorf("%v, %v: want two snapshots, the pointer and its lock", entries, err)
	}
}
