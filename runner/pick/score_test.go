package pick_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstpick/firstpick/runner/pick"
	"github.com/firstpick/firstpick/runner/transcript"
)

// scored scores cases whose categories are the keys of results.
func scored(t *testing.T, cases []pick.Case, results map[string]pick.Result) pick.Scores {
	t.Helper()
	s, err := pick.Score(cases, func(category string, _ transcript.Transcript) (pick.Result, error) {
		r, ok := results[category]
		if !ok {
			return r, fmt.Errorf("%s: %w", category, pick.ErrUnknownCategory)
		}
		return r, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func counts(r pick.Ratio) [2]int { return [2]int{r.N, r.Of} }

// Every measure is of the cases that its definition names, also of a part of them.
func TestMeasuresOfAllAndOfParts(t *testing.T) {
	x := "x"
	tool := pick.Gold{Outcome: pick.Tool, Picked: &x, Shortlist: []string{"x", "y"}, Rejected: []string{"z", "w"}}
	results := map[string]pick.Result{
		"right":      {Kind: pick.Tool, Picked: "x", Shortlist: []string{"x", "z"}, Rejected: []string{"w"}, Method: pick.MethodAction, Rule: "one tool", Language: "fr"},
		"wrong":      {Kind: pick.Tool, Picked: "y", Shortlist: []string{"y"}, Method: pick.MethodStatement, Rule: "commits"},
		"diy":        {Kind: pick.DIY, Method: pick.MethodStatement},
		"unresolved": {Kind: pick.Ambiguous, Unresolved: true, Method: pick.MethodStatement, Rule: "lone mention"},
	}
	s := scored(t, []pick.Case{
		{ID: "1", Category: "right", Gold: tool, Stratum: "short"},
		{ID: "2", Category: "wrong", Gold: tool, Language: "ja"},
		{ID: "3", Category: "diy", Gold: pick.Gold{Outcome: pick.DIY}},
		{ID: "4", Category: "unresolved", Gold: pick.Gold{Outcome: pick.DIY}, Stratum: "short"},
		{ID: "5", Category: "nowhere", Gold: tool},
		{ID: "6", Category: "nowhere", Gold: tool},
	}, results)
	m := s.Measures
	got := map[string][2]int{
		"accuracy": counts(m.Accuracy), "pick precision": counts(m.PickPrecision), "pick recall": counts(m.PickRecall),
		"diy precision": counts(m.DIYPrecision), "diy recall": counts(m.DIYRecall),
		"shortlist precision": counts(m.ShortlistPrecision), "shortlist recall": counts(m.ShortlistRecall),
		"rejected precision": counts(m.RejectedPrecision), "rejected recall": counts(m.RejectedRecall), "unresolved": counts(m.Unresolved),
		"layer statement": counts(s.ByLayer[pick.LayerStatement].PickPrecision), "layer actions": counts(s.ByLayer[pick.LayerActions].PickPrecision),
		"undecided": counts(s.ByLayer[pick.LayerUndecided].Unresolved), "label diy": counts(s.ByOutcome["diy"].DIYRecall),
		"stratum": counts(s.ByStratum["short"].Accuracy), "language of the result": counts(s.ByLanguage["fr"].Accuracy),
		"language of the case": counts(s.ByLanguage["ja"].Accuracy), "no language": counts(s.ByLanguage["unknown"].Accuracy),
	}
	want := map[string][2]int{
		"accuracy": {2, 4}, "pick precision": {1, 2}, "pick recall": {1, 2}, "diy precision": {1, 1}, "diy recall": {1, 2},
		"shortlist precision": {2, 3}, "shortlist recall": {2, 4}, "rejected precision": {1, 1}, "rejected recall": {1, 4}, "unresolved": {1, 4},
		"layer statement": {0, 1}, "layer actions": {1, 1}, "undecided": {1, 1}, "label diy": {1, 2},
		"stratum": {1, 2}, "language of the result": {1, 1}, "language of the case": {0, 1}, "no language": {1, 2},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if s.Cases != 4 || len(s.ByStratum) != 1 || s.UnknownCategories["nowhere"] != 2 || s.Confusion[pick.DIY][pick.Ambiguous] != 1 {
		t.Errorf("%+v", s)
	}
	misses := []pick.Miss{
		{ID: "2", Want: "tool:x", Got: "tool:y", Layer: "statement", Rule: "commits"},
		{ID: "4", Want: "diy", Got: "ambiguous", Layer: "undecided", Rule: "lone mention"},
	}
	if d := cmp.Diff(misses, s.Misses); d != "" {
		t.Error(d)
	}
}

// The bounds of Wilson's interval (1927) are the proportions that lie 1.96 of their own
// standard errors from the observed one.
func TestIntervalsOfScores(t *testing.T) {
	for _, c := range [][2]int{{47, 52}, {0, 10}, {10, 10}, {1, 1}, {1, 300}} {
		var cases []pick.Case
		for i := range c[1] {
			kind := pick.None
			if i < c[0] {
				kind = pick.DIY
			}
			cases = append(cases, pick.Case{ID: fmt.Sprint(i), Category: "c", Gold: pick.Gold{Outcome: kind}})
		}
		r := scored(t, cases, map[string]pick.Result{"c": {Kind: pick.DIY}}).Measures.DIYPrecision
		n := float64(c[1])
		for _, bound := range []float64{*r.Low, *r.High} {
			z := math.Abs(bound-*r.Value) / math.Sqrt(bound*(1-bound)/n)
			if closed := bound == *r.Value && (bound == 0 || bound == 1); !closed && math.Abs(z-1.959964) > 1e-5 {
				t.Errorf("%d of %d: the bound %g is %g standard errors from %g", c[0], c[1], bound, z, *r.Value)
			}
		}
		if *r.Low > *r.Value || *r.High < *r.Value {
			t.Errorf("%d of %d: [%g, %g]", c[0], c[1], *r.Low, *r.High)
		}
	}
}
