package publish_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/publish"
	"github.com/firstpick/firstpick/publish/content"
	"github.com/firstpick/firstpick/runner/pick"
)

// labelled returns labels of every second trial of a category's run, which say that the
// first tool was picked.
func labelled(category string) analytics.RunLabels {
	r := testRun(category)
	out := analytics.RunLabels{Run: r.ID, Frame: 99}
	for i, rec := range records(r) {
		if i%2 == 0 {
			out.Labels = append(out.Labels, analytics.Reading{Trial: rec.Trial.ID, Outcome: pick.Tool, Picked: category + "-one", P: .5})
		}
	}
	return out
}

func TestLabelsArePublishedAndVerified(t *testing.T) {
	in := testInput(t, 1)
	_, without := build(t, in)
	in.Labels = []analytics.RunLabels{labelled("alpha")}
	m, id := build(t, in)
	if id == without {
		t.Error("labels do not change the snapshot")
	}
	report, err := publish.Verify(t.Context(), root(in), id, nil)
	if err != nil || report.Files != 20 {
		t.Errorf("%+v, %v", report, err)
	}
	snap, err := in.Place.Load(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	alpha, _ := snap.Board("alpha")
	beta, _ := snap.Board("beta")
	if e := alpha.ExtractionError; e == nil || e.NLabels != 50 || e.Rate < .2 || alpha.Tools[0].Labelled == nil || alpha.Tools[0].Labelled.PickRate < .9 {
		t.Errorf("%+v, %+v", alpha.ExtractionError, alpha.Tools[0].Labelled)
	}
	if slices.Contains(alpha.Warnings, analytics.Unlabelled) || !slices.Contains(beta.Warnings, analytics.Unlabelled) || beta.ExtractionError != nil {
		t.Errorf("warnings %v, %v", alpha.Warnings, beta.Warnings)
	}
	if report, ok := snap.Report("alpha", "alpha-one"); !ok || report.Labelled == nil || report.ExtractionError == nil {
		t.Errorf("%+v", report)
	}
	if m.Evals[0].Extracted != 99 {
		t.Errorf("%+v", m.Evals[0])
	}
	text, err := os.ReadFile(filepath.Join(root(in), id, "labels.json"))
	if err != nil || strings.Contains(string(text), "run-alpha") {
		t.Errorf("labels.json names a run, or is missing: %v", err)
	}
}

func TestALabelOfAnUnknownTrialIsNotPublished(t *testing.T) {
	in := testInput(t, 1)
	l := labelled("alpha")
	l.Labels[0].Trial = "nosuch"
	in.Labels = []analytics.RunLabels{l}
	if _, _, err := publish.Build(t.Context(), in); err == nil || !strings.Contains(err.Error(), "label of trial nosuch") {
		t.Errorf("%v", err)
	}
}

// TestDocumentsFollowFromLabels makes a snapshot whose labels say something else than its
// boards, with right hashes.
func TestDocumentsFollowFromLabels(t *testing.T) {
	in := testInput(t, 1)
	in.Labels = []analytics.RunLabels{labelled("alpha")}
	_, id := build(t, in)
	dir := filepath.Join(root(in), id)
	text, err := os.ReadFile(filepath.Join(dir, "labels.json"))
	if err != nil {
		t.Fatal(err)
	}
	forged := []byte(strings.Replace(string(text), "alpha-one", "alpha-two", 20))
	if err := os.WriteFile(filepath.Join(dir, "labels.json"), forged, 0o600); err != nil {
		t.Fatal(err)
	}
	manifest, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.Replace(string(manifest), content.Digest(text), content.Digest(forged), 1)
	if err := os.WriteFile(filepath.Join(dir, "manifest.json"), []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	forgedID := content.Digest([]byte(changed))[:20]
	if err := os.Rename(dir, filepath.Join(root(in), forgedID)); err != nil {
		t.Fatal(err)
	}
	var damage *publish.DamageError
	if _, err := publish.Verify(t.Context(), root(in), forgedID, nil); !errors.As(err, &damage) || damage.Path != "boards/alpha.json" {
		t.Errorf("%v", err)
	}
	if !json.Valid(forged) {
		t.Error("the forged labels are not JSON")
	}
}
