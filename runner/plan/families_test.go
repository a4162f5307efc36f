package plan_test

import (
	"cmp"
	"reflect"
	"slices"
	"testing"

	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/plan"
)

// grouped has ten prompts: two families of two, a pair with one text, and four others.
func grouped() *eval.Eval {
	e := sample(10, 3, 2)
	e.Templates = []string{"none", "next"}
	e.Prompts[0].Family, e.Prompts[7].Family = "shop", "shop"
	e.Prompts[1].Family, e.Prompts[2].Family = "blog", "blog"
	e.Prompts[4].Text = e.Prompts[3].Text
	return e
}

func TestFamiliesAreWholeAndThePlan(t *testing.T) {
	e := grouped()
	families := plan.Families(e)
	var sizes []int
	for _, family := range families {
		prompts := map[string]bool{}
		for _, trial := range family {
			prompts[trial.PromptID] = true
		}
		if want := 3 * 2 * 2 * len(prompts); len(family) != want {
			t.Errorf("%d trials of the prompts %v, want %d", len(family), prompts, want)
		}
		sizes = append(sizes, len(prompts))
	}
	if slices.Sort(sizes); !slices.Equal(sizes, []int{1, 1, 1, 1, 2, 2, 2}) {
		t.Errorf("families of %v prompts", sizes)
	}
	got, want := slices.Concat(families...), plan.New(e)
	byID := func(a, b plan.Trial) int { return cmp.Compare(a.ID, b.ID) }
	slices.SortFunc(got, byID)
	slices.SortFunc(want, byID)
	if !slices.Equal(got, want) {
		t.Error("other trials than those of the plan")
	}
}

func TestTheSeedOrdersFamilies(t *testing.T) {
	want := plan.Families(grouped())
	e := grouped()
	slices.Reverse(e.Prompts)
	slices.Reverse(e.Agents)
	if !reflect.DeepEqual(plan.Families(e), want) {
		t.Error("the order follows the lists")
	}
	orders := map[string]bool{}
	for e.Seed = range 20 {
		orders[plan.Families(e)[0][0].PromptID] = true
	}
	if len(orders) < 5 {
		t.Errorf("20 seeds begin with %v", orders)
	}
}
