package plan_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/firstpick/firstpick/runner/plan"
)

// TestOrderIsNotThatOfTheLists holds that moving a prompt or an agent inside the
// file moves no trial: a run that is resumed goes on where it was.
func TestOrderIsNotThatOfTheLists(t *testing.T) {
	want := plan.New(sample(6, 4, 3))
	r := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		e := sample(6, 4, 3)
		r.Shuffle(len(e.Prompts), func(i, j int) { e.Prompts[i], e.Prompts[j] = e.Prompts[j], e.Prompts[i] })
		r.Shuffle(len(e.Agents), func(i, j int) { e.Agents[i], e.Agents[j] = e.Agents[j], e.Agents[i] })
		if !slices.Equal(plan.New(e), want) {
			t.Fatal("the order follows the lists")
		}
	}
}

func TestMoreRepeatsOnlyAppend(t *testing.T) {
	short, long := plan.New(sample(5, 2, 3)), plan.New(sample(5, 2, 8))
	if !slices.Equal(short, long[:len(short)]) {
		t.Error("asking more often reorders what was asked")
	}
}

// TestAnyStopLeavesAgentsAndPromptsEven is the property behind stopping early,
// over many sizes and seeds.
func TestAnyStopLeavesAgentsAndPromptsEven(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 50 {
		e := sample(1+r.IntN(8), 1+r.IntN(5), 1+r.IntN(6))
		e.Seed, e.Templates = r.Uint64(), []string{"none", "next"}[:1+r.IntN(2)]
		asked, cells := map[[3]string]int{}, e.Trials()/e.Repeats
		for i, tr := range plan.New(e) {
			asked[[3]string{tr.PromptID, tr.Agent, tr.Template}]++
			least, most := e.Repeats, 0
			for _, n := range asked {
				least, most = min(least, n), max(most, n)
			}
			if len(asked) < cells {
				least = 0
			}
			if most-least > 1 {
				t.Fatalf("after %d trials one cell was asked %d times, another %d", i+1, most, least)
			}
		}
	}
}

func TestOrderIsStable(t *testing.T) {
	want := []string{"f798abba380bff66fecf", "5734f8ad71e7939754cc", "ddb1d4b31a44bb86dbc5", "f1cae809220237a9464b"}
	for i, tr := range plan.New(sample(2, 2, 1)) {
		if i >= len(want) || tr.ID != want[i] {
			t.Errorf("trial %d is %s: a resumed run would ask in another order", i, tr.ID)
		}
	}
}
