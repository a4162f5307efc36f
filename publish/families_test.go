package publish_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/publish"
	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/journal"
)

// TestPromptsOfOneFamilyCountOnceInASnapshot publishes two evals of a category that share a
// text and a family: the manifest suffices to compute the board again.
func TestPromptsOfOneFamilyCountOnceInASnapshot(t *testing.T) {
	first, second := testRun("alpha"), testRun("alpha")
	second.ID, second.Eval.Name, second.Eval.Prompts = "run-more", "more", []eval.Prompt{
		{ID: "p0", Text: "PROMPT 0", Family: "shop", Tags: eval.Tags{Intent: "build"}},
		{ID: "p1", Text: "another phrasing", Family: "shop"},
		{ID: "p2", Text: "another task", Family: "blog"},
	}
	second.Planned = len(second.Trials())
	first.Eval.Weights, first.Eval.Frame, second.Eval.Frame = map[string]float64{"a": 1, "b": 3}, "shops", "blogs"
	in := inputOf(t, 1, first, second)
	_, id := build(t, in)
	if _, err := publish.Verify(t.Context(), root(in), id, nil); err != nil {
		t.Error(err)
	}
	s, err := in.Place.Load(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if board, _ := s.Board("alpha"); board.NFamilies != 6 {
		t.Errorf("the board has %d prompts, want 6 clusters of 8", board.NFamilies)
	}
	families := s.Manifest.Pool("alpha").Clusters()
	if want := journal.Pool(in.Runs, "alpha").Clusters(); !maps.Equal(families, want) || families["more/p1"] != "shop" {
		t.Errorf("families: %s", cmp.Diff(want, families))
	}
	// The snapshot has the weights, frames and tags that the runs have.
	pool, want := s.Manifest.Pool("alpha"), journal.Pool(in.Runs, "alpha")
	got, err := pool.Weights()
	if err != nil || !maps.Equal(got, first.Eval.Weights) {
		t.Errorf("weights %v: %v", got, err)
	}
	if pool.Frame() != "blogs; shops" || !maps.Equal(pool.Tags(), want.Tags()) || len(pool.Tags()) != 1 {
		t.Errorf("frame %q, tags %v", pool.Frame(), pool.Tags())
	}
	if len(s.Manifest.Pool("beta")) != 0 {
		t.Error("beta has evals")
	}
}

func TestOldManifestsAreRead(t *testing.T) {
	in := testInput(t, 1)
	_, id := build(t, in)
	data, err := os.ReadFile(filepath.Join(root(in), id, "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{`"weights"`, `"frame"`, `"tags"`} {
		if strings.Contains(string(data), key) {
			t.Errorf("the manifest of evals without it has %s", key)
		}
	}
	var m publish.Manifest
	const old = `{"evals": [{"name": "e", "category": "c", "prompts": [{"id": "a", "sha256": "1", "family": "9f2c61b0a7d4e8135f60c2ab9f2c61b0"},
		{"id": "b", "sha256": "1", "family": "9f2c61b0a7d4e8135f60c2ab9f2c61b0"}, {"id": "c", "sha256": "2"}]}]}`
	if err := json.Unmarshal([]byte(old), &m); err != nil {
		t.Fatal(err)
	}
	if f := m.Pool("c").Clusters(); f["e/a"] == "" || f["e/a"] != f["e/b"] || f["e/c"] != "" {
		t.Errorf("families %q", f)
	}
}

func TestCoverageOfImportsIsKnownWithTheirPlan(t *testing.T) {
	known, unknown := testRun("alpha"), testRun("beta")
	known.Imported, known.PlanKnown, unknown.Imported = true, true, true
	in := inputOf(t, 1, known, unknown)
	_, id := build(t, in)
	s, err := in.Place.Load(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range s.Boards {
		if got, want := slices.Contains(b.Warnings, analytics.CoverageUnknown), b.Category == "beta"; got != want {
			t.Errorf("%s: coverage unknown is %t, want %t", b.Category, got, want)
		}
	}
}
