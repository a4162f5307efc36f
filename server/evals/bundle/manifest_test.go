package bundle

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/publish/bundle/format"
	"github.com/firstpick/firstpick/publish/trialset"
	"github.com/firstpick/firstpick/runner/pick"
)

func FuzzManifest(f *testing.F) {
	f.Add([]byte(`{"schemaVersion":1,"files":[]}`))
	f.Add([]byte(`{"schemaVersion":1,"files":[{"path":"names.json"},{"path":"scores.json"},{"path":"traces.idx"},{"path":"traces.zst"},{"path":"trials.parquet"}]}`))
	f.Add([]byte(`{"schemaVersion":2,"files":[{"path":"explanations.json"},{"path":"names.json"},{"path":"scores.json"},{"path":"traces.idx"},{"path":"traces.zst"},{"path":"trials.parquet"}]}`))
	f.Add([]byte(`{"schemaVersion":3}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := parseManifest(format.ID(data), data)
		if err != nil {
			return
		}
		for i, file := range m.Files {
			if file.Path != format.FileNames(m.SchemaVersion)[i] || file.Bytes < 0 {
				t.Errorf("%+v passes", file)
			}
		}
		if len(m.Files) != len(format.FileNames(m.SchemaVersion)) || m.SchemaVersion > format.SchemaVersion {
			t.Errorf("%+v passes", m)
		}
	})
}

func TestCellsCountWhatIsValid(t *testing.T) {
	dir := t.TempDir()
	var trials []trialset.Entry
	var groups []analytics.Group
	for n := range 600 {
		e := trialset.Entry{
			Prompt: "p" + string(rune('0'+n%5)), Agent: "ab"[n%2 : n%2+1], Template: "none", Outcome: []string{"tool", trialset.Excluded, "diy"}[n%3],
			Picked: []string{"", "x", "y", "z"}[n%4], Mismatch: n%2 == 1,
		}
		trials = append(trials, e)
		if n%3 != 1 {
			groups = append(groups, analytics.Group{Prompt: e.Prompt, Agent: e.Agent, Outcome: pick.Kind(e.Outcome), Picked: e.Picked, Trials: 1, Mismatched: n % 2})
		}
	}
	files := writeSet(t, dir, trials...)
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	set, err := trialset.Open(trialset.Place{Of: "run bundle", ID: "x", Open: trialset.InRoot(root, "."), Files: files}, nil)
	if err != nil {
		t.Fatal(err)
	}
	b := &Bundle{Set: set, root: root}
	defer func() { _ = b.Close() }()
	cells, err := b.Cells(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(analytics.Cells(groups), cells); d != "" {
		t.Error(d)
	}
}
