package eval_test

import (
	"io/fs"
	"slices"
	"testing"

	"github.com/firstpick/firstpick/fixtures"
	"github.com/firstpick/firstpick/fixtures/study"
	"github.com/firstpick/firstpick/runner/eval"
)

func TestTheEvalsReplayTheStudy(t *testing.T) {
	recorded, err := study.Load(fixtures.Files(), "twist-2025")
	if err != nil {
		t.Fatal(err)
	}
	for _, task := range recorded.Tasks {
		name := "twist-" + task.Category
		data, err := fs.ReadFile(fixtures.Files(), "evals/"+name+".yaml")
		if err != nil {
			t.Fatal(err)
		}
		e, err := eval.Parse(name, data)
		if err != nil {
			t.Fatal(err)
		}
		if e.Name != name || e.Category != task.Category || e.Repeats != 100 || len(e.Prompts) != 1 ||
			e.Prompts[0].ID != task.PromptID || e.Prompts[0].Text != task.Prompt {
			t.Errorf("%s does not ask what the study asked", name)
		}
		asked := make([]string, 0, len(e.Agents))
		for _, a := range e.Agents {
			if a.Kind != eval.KindRecorded || a.Study != "twist-2025" {
				t.Errorf("%s: %s replays nothing", name, a.Name)
			}
			asked = append(asked, a.Name)
		}
		for _, m := range task.Models {
			if !slices.Contains(asked, m.Name) {
				t.Errorf("%s leaves out %s", name, m.Name)
			}
		}
		if len(asked) != len(task.Models) {
			t.Errorf("%s asks %d agents", name, len(asked))
		}
	}
}
