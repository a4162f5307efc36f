package pick_test

import (
	"testing"

	"github.com/firstpick/firstpick/runner/pick"
	"github.com/firstpick/firstpick/runner/transcript"
)

// TestForms reads short answers, each of one form of words, as they are labelled: by outcome and pick.
func TestForms(t *testing.T) {
	c := builtIn(t)
	cases := readCases(t, "testdata/forms.jsonl")
	if len(cases) < 300 {
		t.Fatalf("%d cases", len(cases))
	}
	for _, k := range cases {
		got, want := extractor(t, c, k.Category).Extract(k.Input), ""
		if k.Gold.Picked != nil {
			want = *k.Gold.Picked
		}
		if got.Kind != k.Gold.Outcome || got.Picked != want {
			t.Errorf("%s: %q is %s %s (%s), want %s %s", k.ID, k.Input.FinalText, got.Kind, got.Picked, got.Rule, k.Gold.Outcome, want)
		}
	}
}

// TestLaterAnswers scores answers of three writers who knew the docs and not the rules. Their misses were read
// when they had been counted, and only outcome and pick are labelled.
func TestLaterAnswers(t *testing.T) {
	c := builtIn(t)
	s, err := pick.Score(readCases(t, "testdata/cases/later.jsonl"), func(category string, in transcript.Transcript) (pick.Result, error) {
		return extractor(t, c, category).Extract(in), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, r := range map[string]struct {
		pick.Ratio
		floor float64
	}{"pick precision": {s.Measures.PickPrecision, .96}, "pick recall": {s.Measures.PickRecall, .88}, "accuracy": {s.Measures.Accuracy, .86}} {
		if r.Of == 0 || float64(r.N)/float64(r.Of) < r.floor {
			t.Errorf("%s %d of %d, want %.2f", name, r.N, r.Of, r.floor)
		}
	}
}
