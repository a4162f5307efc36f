package pick_test

import (
	"slices"
	"testing"

	"github.com/firstpick/firstpick/runner/pick"
)

// A result that names no rule counts as one of an earlier extractor: actions and
// structured answers name theirs.
func TestActionsAndStructuredAnswersNameTheirRule(t *testing.T) {
	c := builtIn(t)
	seen := map[string]bool{}
	for _, k := range labelled(t) {
		r := extractor(t, c, k.Category).Extract(k.Input)
		layer := r.Layer()
		seen[layer] = true
		if !slices.Contains(pick.Layers(), layer) || r.Unresolved && layer != pick.LayerUndecided {
			t.Errorf("%s: layer %q of %+v", k.ID, layer, r)
		}
		if layer != pick.LayerActions && layer != pick.LayerStructured {
			continue
		}
		if r.Rule == "" || !r.ReportsUnresolved() {
			t.Errorf("%s: decided by %s without a rule", k.ID, layer)
		}
	}
	if !seen[pick.LayerActions] || !seen[pick.LayerStatement] {
		t.Errorf("the cases show the layers %v only", seen)
	}
}

func TestWhatAResultReports(t *testing.T) {
	listed := []pick.Evidence{{Tool: "flask", Kind: "listed"}}
	for name, tt := range map[string]struct {
		r                 pick.Result
		unresolved, first bool
	}{
		"a result with its rule":       {pick.Result{Kind: pick.None, Rule: "r"}, true, true},
		"an earlier extractor's":       {pick.Result{Kind: pick.None}, false, false},
		"an import's":                  {pick.Result{Kind: pick.Tool, Method: pick.MethodGiven}, false, false},
		"a listing, without a message": {pick.Result{Kind: pick.Tool, Rule: "r", Evidence: listed}, true, false},
	} {
		if tt.r.ReportsUnresolved() != tt.unresolved || tt.r.ReportsFirstNamed() != tt.first {
			t.Errorf("%s: reports unresolved %t, first named %t", name, tt.r.ReportsUnresolved(), tt.r.ReportsFirstNamed())
		}
	}
}
