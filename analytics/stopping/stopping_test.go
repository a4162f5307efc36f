package stopping_test

import (
	"math"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/analytics/stopping"
	"github.com/firstpick/firstpick/runner"
	"github.com/firstpick/firstpick/runner/plan"
)

func TestRulesAreChecked(t *testing.T) {
	tools := []string{"stripe", "paddle", "adyen"}
	for text, want := range map[string]string{
		"decided": "", " rank(stripe) <= 2 ": "", "rank(paddle) > 1": "", "rank(paddle) < 2": "", "rank(paddle) >= 3": "", "pickRate(adyen) < 25%": "",
		"soon":                     `or write "decided"`,
		"rank(stripe) high <= 2":   "a run stops for",
		"coverage >= 95%":          "a run stops for",
		"payments: rank(stripe)<2": "a run stops for",
		"drop(stripe) vs 4f1c":     "a run stops for",
		"rank(strip) <= 2":         "did you mean stripe?",
		"rank(stripe) <= 1.5":      "a whole number",
		"rank(stripe) <= 3":        "true or false of every run",
		"rank(stripe) < 1":         "true or false of every run",
		"pickRate(stripe) >= 0":    "between 0 and 1",
		"pickRate(stripe) <= 100%": "between 0 and 1",
	} {
		r, err := stopping.Parse(text, tools)
		if want == "" && (err != nil || r.String() != strings.TrimSpace(text)) || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	if _, err := stopping.Parse("decided", tools[:1]); err == nil {
		t.Error("one tool is decided")
	}
}

// TestVerdicts shows what clear families say of each form of rule.
func TestVerdicts(t *testing.T) {
	tools := []string{"a", "b", "c", "d"}
	means := []float64{0.7, 0.2, 0.1, 0}
	for text, want := range map[string]string{
		"decided":      "a is ahead of all other tools",
		"rank(a) <= 1": "rank(a) <= 1 is met", "rank(a) < 2": "rank(a) < 2 is met", "rank(a) > 1": "rank(a) > 1 is not met", "rank(a) >= 2": "rank(a) >= 2 is not met",
		"rank(b) <= 1": "rank(b) <= 1 is not met", "rank(b) <= 2": "rank(b) <= 2 is met", "rank(b) > 1": "rank(b) > 1 is met",
		"rank(d) <= 3": "rank(d) <= 3 is not met", "rank(c) <= 3": "rank(c) <= 3 is met",
		"pickRate(a) >= 0.5": "pickRate(a) >= 0.5 is met", "pickRate(a) < 50%": "pickRate(a) < 50% is not met",
		"pickRate(d) > 5%": "pickRate(d) > 5% is not met", "pickRate(d) <= 5%": "pickRate(d) <= 5% is met",
	} {
		r, err := stopping.Parse(text, tools)
		if err != nil {
			t.Fatal(err)
		}
		d := stopping.New(r)
		for n := 0; n < 500; n++ {
			if v, ok := d.Decided(); ok != (v.Text != "") || ok && n < 3 {
				t.Fatalf("%s: %+v after %d families", text, v, n)
			}
			d.Add(means)
		}
		if v, ok := d.Decided(); !ok || v.Text != want || v.Met == strings.Contains(want, "not met") {
			t.Errorf("%s: %+v, want %s", text, v, want)
		}
		for range 2000 { // a verdict stands
			d.Add([]float64{0, 0, 0, 1})
		}
		if v, _ := d.Decided(); v.Text != want {
			t.Errorf("%s: later %+v", text, v)
		}
	}
}

func TestMeansWeighAgents(t *testing.T) {
	choice := func(agent, tool string) runner.Choice {
		return runner.Choice{Trial: plan.Trial{Agent: agent}, Picked: tool}
	}
	family := []runner.Choice{choice("x", "a"), choice("x", "b"), choice("x", "a"), choice("x", ""), choice("y", "b")}
	tools := []string{"a", "b", "c"}
	for name, tt := range map[string]struct {
		weights map[string]float64
		want    []float64
	}{
		"equal":    {nil, []float64{0.25, 0.625, 0}},
		"weighted": {map[string]float64{"x": 3, "y": 1, "z": 5}, []float64{0.375, 0.4375, 0}},
	} {
		got, ok := stopping.Means(family, tools, tt.weights)
		for i := range tt.want {
			if !ok || math.Abs(got[i]-tt.want[i]) > 1e-12 {
				t.Errorf("%s: %v, want %v", name, got, tt.want)
				break
			}
		}
	}
	if _, ok := stopping.Means(nil, tools, nil); ok {
		t.Error("no trials have means")
	}
}
