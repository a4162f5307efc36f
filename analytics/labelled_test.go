package analytics

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/firstpick/firstpick/runner/label"
	"github.com/firstpick/firstpick/runner/pick"
)

// misread is a measurement of 25 prompts and 2,000 trials. The truth is 50 % stripe, 20 %
// paddle and 30 % none; of the picks of stripe, 20 % were extracted as ambiguous. Labels
// are of a sample in which ambiguous trials are three times as likely.
func misread(labelled int) (cells []Group, l Labels) {
	r := rand.New(rand.NewPCG(5, 6))
	type trial struct {
		LabelledTrial
		item label.Item
	}
	byID := map[string]trial{}
	var items []label.Item
	for i := range 2000 {
		t := trial{LabelledTrial: LabelledTrial{Prompt: fmt.Sprintf("e/p%02d", i%25), Agent: "a"}, item: label.Item{Trial: fmt.Sprintf("%04d", i), Size: 1}}
		switch u := r.Float64(); {
		case u < .5:
			t.True, t.TruePicked = pick.Tool, "stripe"
		case u < .7:
			t.True, t.TruePicked = pick.Tool, "paddle"
		default:
			t.True = pick.None
		}
		t.Outcome, t.Picked = t.True, t.TruePicked
		if t.TruePicked == "stripe" && r.Float64() < .2 {
			t.Outcome, t.Picked = pick.Ambiguous, ""
			t.item.Size = 3
		}
		t.item.Stratum = string(t.Outcome)
		cells = append(cells, Group{Prompt: t.Prompt, Agent: "a", Outcome: t.Outcome, Picked: t.Picked, Trials: 1, LastAt: at})
		byID[t.item.Trial] = t
		items = append(items, t.item)
	}
	l.Frame, l.Extracted = 2000, 2000
	for _, d := range label.Draw(items, labelled, 9) {
		t := byID[d.Trial].LabelledTrial
		t.P = d.P
		l.Trials = append(l.Trials, t)
	}
	return cells, l
}

func TestLabelsCorrectTheRates(t *testing.T) {
	cells, l := misread(300)
	plain := rank(category("paddle", "square", "stripe"), cells, 2000, false)
	b := plain.WithLabels(of(cells), l)
	for _, err := range Check(b) {
		t.Error(err)
	}
	s := b.Tools[0]
	if s.Slug != "stripe" || s.PickRate > .42 || s.CIHigh > .46 {
		t.Fatalf("extraction was to miss picks: %+v", s)
	}
	c := s.Labelled
	if c == nil || math.Abs(c.PickRate-.5) > .035 || c.CILow > .5 || c.CIHigh < .5 || c.NLabels != 300 || c.Method != "ppi++" {
		t.Fatalf("corrected: %+v", c)
	}
	if rg := c.RoganGladen; rg == nil || math.Abs(rg.PickRate-.5) > .05 || math.Abs(rg.Sensitivity-.8) > .07 || rg.Specificity != 1 {
		t.Errorf("Rogan-Gladen: %+v", rg)
	}
	if e := b.ExtractionError; e == nil || math.Abs(e.Rate-.1) > .025 || e.CILow > .1 || e.CIHigh < .1 || e.NLabels != 300 {
		t.Errorf("extraction error: %+v", e)
	}
	if slices.Contains(b.Warnings, Unlabelled) {
		t.Errorf("warnings %v", b.Warnings)
	}
	report, ok := b.Report("stripe")
	if !ok || report.Labelled != c || report.ExtractionError != b.ExtractionError {
		t.Errorf("report: %+v", report)
	}
	if square := b.Tools[2]; square.Labelled.PickRate != 0 || square.Labelled.CIHigh <= 0 || square.Labelled.RoganGladen != nil {
		t.Errorf("never picked: %+v", square.Labelled)
	}
	if plain.Tools[0].Labelled != nil {
		t.Error("the board without labels was changed")
	}
}

func TestWhenABoardIsUnlabelled(t *testing.T) {
	cells, l := misread(300)
	for name, tt := range map[string]struct {
		change                     func(*Labels)
		unlabelled, errs, corrects bool
	}{
		"labels of all its runs":              {func(*Labels) {}, false, true, true},
		"no labels":                           {func(l *Labels) { l.Trials = nil }, true, false, false},
		"29 labels":                           {func(l *Labels) { l.Trials = l.Trials[:29] }, true, false, false},
		"30 labels":                           {func(l *Labels) { l.Trials = l.Trials[:30] }, false, true, true},
		"labels of one of two runs":           {func(l *Labels) { l.Frame = 1000 }, true, false, false},
		"ready outcomes":                      {func(l *Labels) { l.Trials, l.Extracted = nil, 0 }, false, false, false},
		"half of the outcomes came ready":     {func(l *Labels) { l.Frame, l.Extracted = 1000, 1000 }, false, true, false},
		"simulated trials with labels":        {func(l *Labels) { l.Extracted = 0 }, false, true, true},
		"a few trials came after the sample":  {func(l *Labels) { l.Frame = 1950 }, false, true, true},
		"many trials came after the sample":   {func(l *Labels) { l.Frame = 1500 }, true, false, false},
		"as many labels as would be required": {func(l *Labels) { l.Trials = l.Trials[:MinLabels] }, false, true, true},
	} {
		labels := l
		tt.change(&labels)
		b := rank(category("paddle", "square", "stripe"), cells, 2000, false).WithLabels(of(cells), labels)
		if got := slices.Contains(b.Warnings, Unlabelled); got != tt.unlabelled || !slices.IsSorted(b.Warnings) {
			t.Errorf("%s: warnings %v", name, b.Warnings)
		}
		if (b.ExtractionError != nil) != tt.errs || (b.Tools[0].Labelled != nil) != tt.corrects {
			t.Errorf("%s: %+v, %+v", name, b.ExtractionError, b.Tools[0].Labelled)
		}
		for _, err := range Check(b) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestReadingsOfASampleThatIsLabelledInPart(t *testing.T) {
	set := &label.Set{Sample: label.Sample{Run: "r", Frame: 40, Trials: []label.Drawn{{Trial: "b", P: .4}, {Trial: "a", P: .2}, {Trial: "c", P: .4}, {Trial: "d", P: .4}}}}
	for _, trial := range []string{"b", "a"} {
		set.Labels = append(set.Labels, label.Label{Run: "r", Trial: trial, P: map[string]float64{"a": .2, "b": .4}[trial], By: "ann", Outcome: pick.DIY})
	}
	got := ReadingsOf(set)
	if got.Frame != 40 || len(got.Labels) != 2 || got.Labels[0] != (Reading{"a", pick.DIY, "", .1}) || got.Labels[1] != (Reading{"b", pick.DIY, "", .2}) {
		t.Errorf("%+v", got)
	}
}
