package analytics

import (
	"fmt"
	"math"
	"testing"

	"github.com/firstpick/firstpick/runner/pick"
)

// measured makes cells of so many picks out of five trials per prompt.
func measured(prefix, agent string, picks ...int) (cells []Group) {
	for i, n := range picks {
		p := fmt.Sprintf("%s%d", prefix, i)
		cells = append(cells,
			Group{Prompt: p, Agent: agent, Outcome: pick.Tool, Picked: "stripe", Trials: n},
			Group{Prompt: p, Agent: agent, Outcome: pick.DIY, Trials: 5 - n},
		)
	}
	return cells
}

func change(old, newer []Group) Difference {
	d := Differences(of(old), of(newer), []string{"stripe"})[0]
	Simultaneous([]*Difference{&d})
	return d
}

func TestDifferences(t *testing.T) {
	old := measured("p", "a", 5, 3, 1, 5, 0, 2)
	tests := map[string]struct {
		newer  []Group
		paired int
		value  float64
		p      float64
	}{
		"the same prompts are compared one by one": {measured("p", "a", 5, 4, 3, 5, 2, 2), 6, 1.0 / 6, 0.092515},
		"nothing changed":                          {old, 6, 0, 1},
		"other prompts are compared as a whole":    {measured("q", "a", 5, 4, 3, 5, 2, 2), 0, 1.0 / 6, math.NaN()},
		"another agent answers the same prompts":   {measured("p", "b", 5, 4, 3, 5, 2, 2), 6, 1.0 / 6, 0.092515},
		"nothing was measured":                     {nil, 0, -16.0 / 30, 1},
	}
	for name, tt := range tests {
		got := change(old, tt.newer)
		if got.Paired != tt.paired {
			t.Errorf("%s: paired %v", name, got.Paired)
		}
		if !math.IsNaN(tt.p) && math.Abs(got.P-tt.p) > 1e-6 || math.Abs(got.Value-tt.value) > 1e-9 {
			t.Errorf("%s: difference %g, p %g", name, got.Value, got.P)
		}
		if got.Shown != (got.Interval.Low > 0 || got.Interval.High < 0) {
			t.Errorf("%s: the interval %v denies %v", name, got.Interval, got.Shown)
		}
	}
	if got := change(old, measured("q", "a", 5, 4, 3, 5, 2, 2)); got.P < 0.2 {
		t.Errorf("six other prompts show a difference with p %g", got.P)
	}
}

// Three of twenty prompts were reworded: the other seventeen still show the drop.
func TestDifferencesSurviveAnEdit(t *testing.T) {
	var old, newer []Group
	for i := range 20 {
		name, before := fmt.Sprintf("p%d-", i), i%6
		old = append(old, measured(name, "a", before)...)
		if i < 3 {
			name += "reworded-"
		}
		newer = append(newer, measured(name, "a", max(0, before-1))...)
	}
	if got := change(old, newer); got.Paired != 17 || got.Value > -0.1 || got.P > 1e-4 {
		t.Errorf("got %+v", got)
	}
}

func TestSimultaneousCorrectsAll(t *testing.T) {
	d := Differences(of(measured("p", "a", 5, 3, 1, 5, 0, 2)), of(measured("p", "a", 5, 4, 3, 5, 2, 2)), []string{"stripe", "none"})
	alone := d[0].Change.P()
	Simultaneous([]*Difference{&d[0], &d[1]})
	if math.Abs(d[0].P-2*alone) > 1e-9 || d[1].P != 1 {
		t.Errorf("alone %g, together %g and %g", alone, d[0].P, d[1].P)
	}
}

func TestAgentDifferences(t *testing.T) {
	groups := append(measured("p", "a", 5, 3, 1, 5, 0, 2), measured("p", "b", 5, 4, 3, 5, 2, 2)...)
	if d := AgentDifferences(of(groups), "b", "a", []string{"stripe"})[0]; d.Paired != 6 || math.Abs(d.Value-1.0/6) > 1e-9 {
		t.Errorf("got %+v", d)
	}
}
