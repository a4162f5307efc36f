package analytics

import (
	"testing"
	"time"

	"github.com/firstpick/firstpick/runner/pick"
)

// TestCutsByProject reads the rates of a project with and without an incumbent apart, and only
// where they are asked for.
func TestCutsByProject(t *testing.T) {
	m := Measurement{Category: category("x", "y"), Planned: 16}
	var groups []Group
	for _, prompt := range []string{"e/p", "e/q"} {
		for template, picked := range map[string]string{"app": "x", "app:y": "y"} {
			groups = append(groups,
				Group{Prompt: prompt, Agent: "a", Template: template, Trials: 3, Outcome: pick.Tool, Picked: picked, LastAt: time.Unix(1, 0)},
				Group{Prompt: prompt, Agent: "a", Template: template, Trials: 1, Outcome: pick.None, LastAt: time.Unix(1, 0)})
		}
	}
	m.Cells = Cells(groups)
	if b := Rank(m); len(b.Cuts) > 0 {
		t.Errorf("cuts of an ordinary board: %+v", b.Cuts)
	}
	m.CutProjects = true
	b := Rank(m)
	if len(b.Cuts) != 2 {
		t.Fatalf("%d cuts, want 2: %+v", len(b.Cuts), b.Cuts)
	}
	for i, want := range []struct{ value, tool string }{{"app", "x"}, {"app:y", "y"}} {
		c := b.Cuts[i]
		if c.Tag != CutProject || c.Value != want.value || c.NTrials != 8 || len(c.Tools) != 1 || c.Tools[0].Slug != want.tool || c.Tools[0].PickRate != 0.75 {
			t.Errorf("cut %+v, want %s of project %s in 6 of 8 trials", c, want.tool, want.value)
		}
	}
}
