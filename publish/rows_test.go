package publish_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstpick/firstpick/publish"
	"github.com/firstpick/firstpick/runner/journal"
)

// The first changed figure is named with its place and both values.
func TestTheChangedFigureIsNamed(t *testing.T) {
	for name, tc := range map[string]struct {
		file, old, replacement string
		want                   publish.Difference
	}{
		"a rate of a board": {"boards/beta.json", `"slug":"beta-one","pickRate":0.`, `"slug":"beta-one","pickRate":0.1`, publish.Difference{Board: "beta", Tool: "beta-one", Field: "tools[0].pickRate"}},
		"a new field":       {"boards/beta.json", `"nTrials":99`, `"bribe":1,"nTrials":99`, publish.Difference{Board: "beta", Field: "bribe", Is: "1", Should: "missing"}},
		"a report":          {"reports/alpha/alpha-two.json", `"nTrials":99`, `"nTrials":98`, publish.Difference{Board: "alpha", Tool: "alpha-two", Field: "nTrials", Is: "98", Should: "99"}},
	} {
		in := testInput(t, 1)
		_, id := build(t, in)
		forged := forge(t, root(in), id, tc.file, tc.old, tc.replacement)
		_, err := publish.Verify(t.Context(), root(in), forged, nil)
		var damage *publish.DamageError
		if !errors.As(err, &damage) || damage.Difference == nil || damage.Path != tc.file {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got := *damage.Difference
		if got.Is == got.Should || !strings.Contains(damage.Reason, got.Field) {
			t.Errorf("%s: %s", name, damage.Reason)
		}
		if tc.want.Is == "" {
			got.Is, got.Should = "", ""
		}
		if d := cmp.Diff(tc.want, got); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// rows.ndjson.gz has the trials of trials.parquet, and no others.
func TestRows(t *testing.T) {
	in := testInput(t, 1)
	_, id := build(t, in)
	path := filepath.Join(root(in), id, "rows.ndjson.gz")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	zip, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	picks, lines := map[string]int{}, []string{}
	for s := bufio.NewScanner(zip); s.Scan(); lines = append(lines, s.Text()) {
		var r struct{ Category, Outcome, Picked string }
		if err := json.Unmarshal(s.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		if r.Outcome == "tool" {
			picks[r.Picked]++
		}
	}
	s, err := in.Place.Load(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range s.Boards {
		for _, tool := range b.Tools {
			if picks[tool.Slug] != tool.Picks {
				t.Errorf("%s: %d picks, want %d", tool.Slug, picks[tool.Slug], tool.Picks)
			}
		}
	}
	other := strings.Replace(lines[7], `"repeat":`, `"repeat":1`, 1)
	for name, changed := range map[string][]string{
		"one changed": append(append(append([]string{}, lines[:7]...), other), lines[8:]...), "one less": lines[1:], "one more": append(append([]string{}, lines...), lines[0]),
	} {
		var out bytes.Buffer
		w := gzip.NewWriter(&out)
		_, err := io.WriteString(w, strings.Join(changed, "\n")+"\n")
		if err = errors.Join(err, w.Close()); err != nil {
			t.Fatal(err)
		}
		in := testInput(t, 1)
		_, id := build(t, in)
		forged := forge(t, root(in), id, "rows.ndjson.gz", string(data), out.String())
		var damage *publish.DamageError
		if _, err := publish.Verify(t.Context(), root(in), forged, nil); !errors.As(err, &damage) || damage.Path != "rows.ndjson.gz" || !strings.Contains(err.Error(), "trials.parquet") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The manifest lists which runs were registered.
func TestRegisteredRuns(t *testing.T) {
	in := testInput(t, 1)
	in.Registered = map[string]journal.Registered{"run-beta": {Index: 4, At: in.Runs[0].CreatedAt, Log: "the log"}}
	m, _ := build(t, in)
	for _, e := range m.Evals {
		if got := e.Runs[0].Registered; (got != nil) != (e.Category == "beta") || got != nil && (got.Index != 4 || got.Log != "the log") {
			t.Errorf("%s: %+v", e.Category, got)
		}
	}
}
