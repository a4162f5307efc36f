package nights_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/firstpick/firstpick/analytics/nights"
)

// order gives the first two tools fixed rates; one trial in ten picks neither.
func (d design) order(first, second float64) [][]float64 {
	out := make([][]float64, d.prompts)
	for p := range out {
		out[p] = make([]float64, d.tools)
		out[p][0], out[p][1] = first, second
	}
	return out
}

func TestARivalThatOvertakesIsShown(t *testing.T) {
	d, r := design{3, 2, 20, 3}, rand.New(rand.NewPCG(5, 1))
	h, since := nights.New("c"), -1
	for number := range 60 {
		rates := d.order(0.5, 0.3)
		if number >= 30 {
			rates = d.order(0.25, 0.55)
		}
		n := d.night(r, rates, number)
		n.Models, n.Prompts = map[string]string{"a0": "m", "a1": "m"}, map[string]string{"e/0": "x"}
		h.Add(n)
		tools := h.Series().Nights[number].Tools
		if len(tools[1].Overtaken) > 0 {
			t.Fatalf("night %d: the rival is overtaken: %+v", number, tools[1].Overtaken)
		}
		switch got := tools[0].Overtaken; {
		case len(got) == 0 && since >= 0:
			t.Fatalf("night %d: no longer shown", number)
		case len(got) > 0 && since < 0:
			if since = number; number < 30 || got[0].By != "t1" || !got[0].Since.Equal(n.At) {
				t.Fatalf("night %d: %+v", number, got)
			}
		}
	}
	if since < 0 || since > 40 {
		t.Errorf("shown on night %d, want soon after 30", since)
	}
}

// Rates that stay ahead from the first night on, and rates on another set of prompts, are no
// overtaking.
func TestALeadAloneIsNoOvertaking(t *testing.T) {
	d, r := design{2, 1, 20, 5}, rand.New(rand.NewPCG(5, 2))
	h := nights.New("c")
	for number := range 40 {
		rates, prompts := d.order(0.2, 0.6), map[string]string{"e/0": "x"}
		if number >= 20 {
			rates, prompts = d.order(0.6, 0.2), map[string]string{"e/0": "y"}
		}
		n := d.night(r, rates, number)
		n.Prompts = prompts
		h.Add(n)
		for _, tool := range h.Series().Nights[number].Tools {
			if len(tool.Overtaken) > 0 {
				t.Fatalf("night %d: %+v", number, tool)
			}
		}
	}
}

func TestDelta(t *testing.T) {
	d, r := design{2, 1, 2, 1}, rand.New(rand.NewPCG(5, 3))
	h := nights.New("c")
	whole, less := 1.0, 0.8
	for number, night := range []struct {
		models, prompts map[string]string
		coverage        *float64
	}{
		{map[string]string{"a": "m1", "b": "m"}, map[string]string{"e/1": "x", "e/2": "x"}, &whole},
		{map[string]string{"a": "m2"}, map[string]string{"e/1": "x"}, &less},
		{map[string]string{"a": "m2", "b": "m", "c": "m"}, map[string]string{"e/1": "x"}, nil},
	} {
		n := d.night(r, d.order(0.5, 0.4), number)
		n.Models, n.Prompts, n.Board.Coverage = night.models, night.prompts, night.coverage
		h.Add(n)
	}
	lines := h.Series().Nights
	if got := lines[1].Delta; !slices.Equal(got.MissingAgents, []string{"b"}) || !slices.Equal(got.MissingPrompts, []string{"e/2"}) ||
		!slices.Equal(got.NewModels, []nights.NewModel{{Agent: "a", From: "m1", To: "m2"}}) || got.Coverage != 0.8 || got.CoverageBefore != 1 || len(got.NewAgents) > 0 {
		t.Errorf("%+v", got)
	}
	if got := lines[2].Delta; !slices.Equal(got.NewAgents, []nights.NewModel{{Agent: "c", To: "m"}}) || len(got.NewModels) > 0 || got.Coverage >= 0 { // b was on the first
		t.Errorf("%+v", got)
	}
}
