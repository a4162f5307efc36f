package label_test

import (
	"path/filepath"
	"testing"

	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/runner/label"
	"github.com/firstpick/firstpick/runner/pick"
)

// TestLabelsMoveWithTheirRun copies and moves a labelled run.
func TestLabelsMoveWithTheirRun(t *testing.T) {
	here, copies, there := t.TempDir(), t.TempDir(), t.TempDir()
	j, err := journal.Create(here, journal.Run{ID: "r1", Eval: eval.Eval{Name: "e", Category: "c"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	at := func(root string) label.File {
		return label.File{Path: filepath.Join(root, "r1", label.FileName), Run: "r1"}
	}
	if _, err := at(here).Begin(func() (label.Sample, error) { return sample(2), nil }); err != nil {
		t.Fatal(err)
	}
	if err := at(here).Add(of("t0", "ann", pick.None, "")); err != nil {
		t.Fatal(err)
	}
	if err := journal.Verify(here, "r1"); err != nil {
		t.Errorf("a labelled run is damaged: %v", err)
	}
	if err := journal.Copy(here, copies, "r1"); err != nil {
		t.Fatal(err)
	}
	if err := journal.Move(here, there, "r1"); err != nil {
		t.Fatal(err)
	}
	for _, root := range []string{copies, there} {
		if set := read(t, at(root)); len(set.Labels) != 1 {
			t.Errorf("%+v", set)
		}
	}
}
