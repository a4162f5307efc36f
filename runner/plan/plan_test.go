package plan_test

import (
	"fmt"
	"testing"

	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/plan"
)

func sample(prompts, agents, repeats int) *eval.Eval {
	e := &eval.Eval{Name: "e", Category: "c", Seed: 1, Repeats: repeats, Templates: []string{"none"}}
	for i := range prompts {
		e.Prompts = append(e.Prompts, eval.Prompt{ID: fmt.Sprint("p", i), Text: fmt.Sprint("text ", i)})
	}
	for i := range agents {
		e.Agents = append(e.Agents, eval.Agent{Name: fmt.Sprint("a", i)})
	}
	return e
}

func TestEveryPrefixIsBalanced(t *testing.T) {
	e := sample(7, 3, 11)
	trials := plan.New(e)
	if len(trials) != 7*3*11 || len(trials) != e.Trials() {
		t.Fatalf("%d trials", len(trials))
	}
	seen, asked := map[string]bool{}, map[string]int{}
	for i, tr := range trials {
		if seen[tr.ID] {
			t.Fatalf("id %s stands twice", tr.ID)
		}
		seen[tr.ID] = true
		cell := tr.PromptID + tr.Agent
		asked[cell]++
		if block := i / 21; asked[cell] != block+1 || tr.Repeat != block+1 {
			t.Fatalf("trial %d: %s was asked %d times in block %d", i, cell, asked[cell], block)
		}
	}
}

func TestTrialsCarryFamilyAndTags(t *testing.T) {
	e := sample(2, 1, 1)
	e.Prompts[0].Family, e.Prompts[0].Tags = "shop", eval.Tags{Intent: "build"}
	for _, trial := range plan.New(e) {
		want := map[string]eval.Prompt{"p0": e.Prompts[0], "p1": {Family: "p1"}}[trial.PromptID]
		if trial.Family != want.Family || trial.Tags != want.Tags {
			t.Errorf("trial of %s: family %q, tags %+v", trial.PromptID, trial.Family, trial.Tags)
		}
		if before := plan.TrialID("e", trial.PromptID, "text "+trial.PromptID[1:], "a0", "none", 1); trial.ID != before {
			t.Errorf("trial of %s: id %s, want %s as without family and tags", trial.PromptID, trial.ID, before)
		}
	}
}

func TestOrderDiffersBetweenBlocksAndSeeds(t *testing.T) {
	e := sample(9, 2, 2)
	first := plan.New(e)
	same := true
	for i := range 18 {
		same = same && first[i].PromptID == first[18+i].PromptID && first[i].Agent == first[18+i].Agent
	}
	if same {
		t.Error("both blocks have one order")
	}
	e.Seed = 2
	if second := plan.New(e); fmt.Sprint(first) == fmt.Sprint(second) {
		t.Error("the seed changes nothing")
	}
}

func TestIdentityIsStableAndHoldsEveryPart(t *testing.T) {
	if got := plan.TrialID("e", "p", "text", "a", "none", 1); got != "f2ec5a22c7512470501f" {
		t.Errorf("id %s: stored trials would not be found again", got)
	}
	ids := map[string]bool{}
	for _, parts := range [][5]string{
		{"e", "p", "t", "a", "n"}, {"ep", "", "t", "a", "n"}, {"e", "p", "t2", "a", "n"}, {"e", "p", "t", "b", "n"}, {"e", "p", "t", "a", "m"},
	} {
		for repeat := 1; repeat < 3; repeat++ {
			ids[plan.TrialID(parts[0], parts[1], parts[2], parts[3], parts[4], repeat)] = true
		}
	}
	if len(ids) != 10 {
		t.Errorf("%d ids of 10 trials", len(ids))
	}
}
