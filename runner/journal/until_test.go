package journal_test

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/journal"
)

func TestAStopPlansWhatWasAsked(t *testing.T) {
	root := t.TempDir()
	e := eval.Eval{
		Name: "e", Repeats: 2, Templates: []string{"none"}, Agents: []eval.Agent{{Name: "a"}},
		Prompts: []eval.Prompt{{ID: "p1", Text: "one"}, {ID: "p2", Text: "two"}, {ID: "p3", Text: "three"}},
	}
	before := journal.Run{ID: "r", Eval: e, Planned: 6, Notes: []string{"first"}, Until: &journal.Until{Rule: "decided", Families: 3, Wave: 1}}
	j, err := journal.Create(root, before)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = j.Close() }()
	if err := os.WriteFile(filepath.Join(root, "r", "run.json.next"), []byte("half a pl"), 0o600); err != nil { // of a killed process
		t.Fatal(err)
	}
	stopped := journal.Stopped{Verdict: journal.Verdict{Met: true, Text: "a is ahead"}, After: 1, Asked: 2}
	if err := j.Stop(stopped); err != nil {
		t.Fatal(err)
	}
	got, err := journal.ReadRun(root, "r")
	if err != nil || got.Planned != 4 || !reflect.DeepEqual(got.Until.Stopped, &stopped) || len(got.Notes) != 2 {
		t.Fatalf("%+v, %v", got, err)
	}
	if trials := got.Trials(); !reflect.DeepEqual(trials, before.Trials()[:4]) {
		t.Errorf("planned are %+v", trials)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := journal.Open(root, "r")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = again.Close() }()
	if err := again.Stop(stopped); err == nil {
		t.Error("a run stopped twice")
	}
}
