package publish_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/fixtures/observed"
	"github.com/firstpick/firstpick/publish"
)

// fieldStudy is a study with a board of alpha, and too little of gamma.
func fieldStudy() *observed.Study {
	s := &observed.Study{
		Kind: observed.Kind, Observed: true, Name: "field", Title: "A field study", Unit: observed.PullRequest, Read: 100,
		Source:   observed.Source{Title: "T", URL: "https://example.com", Licence: "CC BY 4.0", Cite: "Somebody, 2026."},
		Estimand: "What agents used.", Ecosystems: []catalog.Ecosystem{catalog.PyPI},
	}
	for i := range 60 {
		u := observed.Unit{ID: fmt.Sprint("u", i), Repo: fmt.Sprint("r", i%25), Language: "Python", Agent: "Codex", Tools: map[string][]string{"alpha": {"alpha-one"}}}
		if i%4 == 0 {
			u.Tools = map[string][]string{"alpha": {"alpha-one", "alpha-two"}, "gamma": {"gamma-one"}}
		}
		s.Units = append(s.Units, u)
	}
	return s
}

func TestFieldStudiesArePublishedBesideTrials(t *testing.T) {
	in := testInput(t, 1)
	_, without := build(t, in)
	trialsOnly := files(t, filepath.Join(root(in), without))
	in.Observed = []*observed.Study{fieldStudy()}
	m, id := build(t, in)
	have := files(t, filepath.Join(root(in), id))
	if _, err := publish.Verify(t.Context(), root(in), id, nil); err != nil {
		t.Fatal(err)
	}
	if len(m.Observed) != 1 || !m.Observed[0].Observed || m.Observed[0].Units != 60 || m.Observed[0].Source.Cite != "Somebody, 2026." {
		t.Errorf("manifest: %+v", m.Observed)
	}
	var added []string
	for _, name := range slices.Sorted(maps.Keys(have)) {
		if _, ok := trialsOnly[name]; !ok {
			added = append(added, name)
		}
	}
	if want := []string{"observed.json", "observed/alpha.json", "observed/field.jsonl.zst"}; !slices.Equal(added, want) {
		t.Errorf("added %v, want %v", added, want)
	}
	for name, data := range trialsOnly { // trials, and boards of categories that nobody observed, are as before
		if strings.HasPrefix(name, "trials.") || strings.Contains(name, "beta") || name == "categories.json" {
			if data != have[name] {
				t.Errorf("%s differs from that of a snapshot without a field study", name)
			}
		}
	}
	s, err := in.Place.Load(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Observed.Boards) != 1 || len(s.Observed.Omitted) != 1 || s.Observed.Omitted[0].Category != "gamma" {
		t.Fatalf("%+v", s.Observed)
	}
	for _, st := range s.Boards[0].Tools {
		f := st.FieldRate
		want := map[string]float64{"alpha-one": 1, "alpha-two": 0.25}[st.Slug]
		if f == nil || !f.Observed || f.UseRate != want || f.NUnits != 60 || f.NRepos != 25 || f.URL != "/observed/alpha" {
			t.Errorf("%s: %+v", st.Slug, f)
		}
		if r, _ := s.Report("alpha", st.Slug); cmp.Diff(r.FieldRate, f) != "" {
			t.Errorf("report of %s: %+v", st.Slug, r.FieldRate)
		}
	}
	if s.Boards[1].Tools[0].FieldRate != nil || s.Boards[0].FieldAgreement != nil {
		t.Error("a category without an observed board has field rates, or two tools an agreement")
	}
	slices.Reverse(in.Observed[0].Units)
	if _, again := build(t, in); again != id {
		t.Error("the order of units changes the snapshot")
	}
}

// TestObservedFilesAreMarked: no document of a field study lacks the mark.
func TestObservedFilesAreMarked(t *testing.T) {
	in := testInput(t, 1)
	in.Observed = []*observed.Study{fieldStudy()}
	_, id := build(t, in)
	for name, data := range files(t, filepath.Join(root(in), id)) {
		if !strings.HasSuffix(name, ".json") {
			continue
		}
		var doc any
		if err := json.Unmarshal([]byte(data), &doc); err != nil {
			t.Fatal(err)
		}
		unmarked(t, name, doc, false)
	}
}

// unmarked reports values with a figure of a field study below no object with the mark.
func unmarked(t *testing.T, place string, v any, marked bool) {
	t.Helper()
	switch v := v.(type) {
	case map[string]any:
		marked = marked || v["observed"] == true
		for key, sub := range v {
			if slices.Contains([]string{"useRate", "uses", "nUnits", "nRepos", "tau", "units"}, key) && !marked {
				t.Errorf("%s: %s is not marked as observed", place, key)
			}
			unmarked(t, place+"/"+key, sub, marked)
		}
	case []any:
		for _, sub := range v {
			unmarked(t, place, sub, marked)
		}
	}
}

func TestForgedObservedFiguresDoNotFollow(t *testing.T) {
	in := testInput(t, 1)
	in.Observed = []*observed.Study{fieldStudy()}
	for name, tt := range map[string]struct{ file, old, new, damaged string }{
		"a share of a board":     {"observed/alpha.json", `"useRate":0.25`, `"useRate":0.75`, "observed/alpha.json"},
		"a mark":                 {"observed/alpha.json", `"observed":true`, `"observed":false`, "observed/alpha.json"},
		"an omission":            {"observed.json", `"gamma"`, `"delta"`, "observed.json"},
		"a field rate":           {"boards/alpha.json", `"useRate":0.25`, `"useRate":0.75`, "boards/alpha.json"},
		"a citation":             {"manifest.json", `Somebody, 2026.`, `Nobody, 2026.`, "manifest.json"},
		"what the study can see": {"catalog.json", `"study":"field"`, `"study":"other"`, "boards/alpha.json"},
	} {
		t.Run(name, func(t *testing.T) {
			_, id := build(t, in)
			var damage *publish.DamageError
			_, err := publish.Verify(t.Context(), root(in), forge(t, root(in), id, tt.file, tt.old, tt.new), nil)
			if !errors.As(err, &damage) || damage.Path != tt.damaged {
				t.Errorf("error %v, want damage of %s", err, tt.damaged)
			}
		})
	}
	_, id := build(t, in)
	name := filepath.Join(root(in), id, "observed", "field.jsonl.zst")
	if err := os.WriteFile(name, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	var damage *publish.DamageError
	if _, err := in.Place.Load(t.Context(), id); !errors.As(err, &damage) || damage.Path != "observed/field.jsonl.zst" {
		t.Errorf("error %v", err)
	}
}
