package analytics

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstpick/firstpick/runner/pick"
)

// answers returns trials of n prompts named eval/p0, eval/p1, ...
func answers(eval string, n, trials int) []Group {
	var out []Group
	for i := range n {
		out = append(out, Group{Prompt: fmt.Sprintf("%s/p%d", eval, i), Agent: "a", Outcome: pick.Tool, Picked: []string{"x", "y"}[i%2], Trials: trials})
	}
	return out
}

// The same text is one prompt to every figure, under however many names it was asked.
func TestPromptsOfOneFamilyCountOnce(t *testing.T) {
	pooled := append(answers("e1", 10, 3), answers("e2", 10, 3)...)
	families := map[string]string{}
	for i := range 10 {
		for _, eval := range []string{"e1", "e2"} {
			families[fmt.Sprintf("%s/p%d", eval, i)] = fmt.Sprintf("text %d", i)
		}
	}
	cat := category("x", "y")
	apart := rank(cat, slices.Clone(pooled), 60, false)
	if apart.NFamilies != 20 || slices.Contains(apart.Warnings, Directional) {
		t.Fatalf("20 different prompts: %d, %v", apart.NFamilies, apart.Warnings)
	}
	once := Rank(Measurement{Category: cat, Cells: Cells(pooled), Planned: 60, Design: Design{Families: families}})
	if once.NFamilies != 10 || !slices.Contains(once.Warnings, Directional) {
		t.Errorf("10 prompts under two evals: %d prompts, %v", once.NFamilies, once.Warnings)
	}
	// Each prompt asked six times under one name gives the same intervals.
	want := rank(cat, answers("e1", 10, 6), 60, false)
	once.Consistency = want.Consistency // its cells are of prompts
	if d := cmp.Diff(want, once); d != "" {
		t.Errorf("(-asked once, +asked under two names):\n%s", d)
	}
	one := map[string]string{}
	for i := range 5 {
		one[fmt.Sprintf("e/p%d", i)] = "the only text"
	}
	if b := Rank(Measurement{Category: cat, Cells: Cells(answers("e", 5, 10)), Planned: 50, Design: Design{Families: one}}); b.NFamilies != 1 || !slices.Contains(b.Warnings, SinglePrompt) {
		t.Errorf("one text under five ids: %d prompts, %v", b.NFamilies, b.Warnings)
	}
}

func TestDoubtsMakeABoardDirectional(t *testing.T) {
	for name, tt := range map[string]struct {
		doubts []string
		want   []string
	}{
		"none":                        {nil, []string{}},
		"imported answers":            {[]string{CoverageUnknown}, []string{CoverageUnknown, Directional}},
		"one run of several is short": {[]string{Incomplete, Incomplete}, []string{Directional, Incomplete}},
	} {
		b := rank(category("x", "y"), answers("e", 20, 3), 60, false, tt.doubts...)
		if !slices.Equal(b.Warnings, tt.want) {
			t.Errorf("%s: %v, want %v", name, b.Warnings, tt.want)
		}
		if got := slices.Contains(b.Tools[0].Warnings, Directional); got != slices.Contains(tt.want, Directional) {
			t.Errorf("%s: the tools say %v", name, b.Tools[0].Warnings)
		}
		if unknown := slices.Contains(tt.want, CoverageUnknown); (b.Coverage == nil) != unknown {
			t.Errorf("%s: coverage %v", name, b.Coverage)
		}
	}
	for _, code := range WarningCodes() {
		if Explain(code) == "unknown warning" {
			t.Errorf("%s is not explained", code)
		}
	}
}
