package forecast

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/pick"
)

// withPrompts is twoAgents with n prompts.
func withPrompts(n int) *eval.Eval {
	e := twoAgents()
	e.Prompts = nil
	for i := range n {
		e.Prompts = append(e.Prompts, eval.Prompt{ID: fmt.Sprint("p", i), Text: "Take payments."})
	}
	return e
}

func TestPower(t *testing.T) {
	p := Of(Input{Eval: withPrompts(40), Tools: 12}).Power
	field := NewField(12)
	if p.TrialsPerPrompt != 10 || p.Families != 40 || p.Tools != 12 || p.Measured || p.Rho != 0.3 || p.Pilot != nil {
		t.Errorf("got %+v", p)
	}
	if p.Detectable == nil || *p.Detectable != field.Detectable(40, 10, 0.3) {
		t.Errorf("detectable %v", p.Detectable)
	}
	for i, icc := range []float64{0.1, 0.3, 0.6} {
		if at := p.ByICC[i]; at.ICC != icc || at.Detectable == nil || *at.Detectable != field.Detectable(40, 10, icc) || *at.DetectableOfTwo <= *at.Detectable {
			t.Errorf("ICC %g: %+v", icc, at)
		}
	}
	if n := *p.PromptsFor5; n != field.Prompts(0.05, 10, 0.3) || *p.PromptsAtBest >= n || *p.IndependentTrials <= n {
		t.Errorf("got %+v", p)
	}
	// Phrasings of a family are repeats of its task.
	e := withPrompts(40)
	for i := range e.Prompts {
		e.Prompts[i].Family = fmt.Sprint(i / 2)
	}
	if p := Of(Input{Eval: e, Tools: 12}).Power; p.Families != 20 || *p.Detectable != field.Detectable(20, 20, 0.3) {
		t.Errorf("two phrasings: %+v", p)
	}
	if p := Of(Input{Eval: withPrompts(40), Tools: 1}).Power; p.Detectable != nil || p.PromptsFor5 != nil {
		t.Errorf("one tool: %+v", p)
	}
	if p := Of(Input{Eval: withPrompts(1), Tools: 12}).Power; p.Detectable != nil || p.ByICC[0].Detectable != nil {
		t.Errorf("one prompt: %+v", p)
	}
}

// pilotCells returns the cells of a pilot whose prompts are drawn like a board's.
func pilotCells(r *rand.Rand, f Field, prompts, trials int, icc, diff float64) []analytics.Cell {
	var groups []analytics.Group
	for i := range prompts {
		for tool, n := range urn(r, f.Shares(diff), trials, icc) {
			c := analytics.Group{Prompt: fmt.Sprint("e/", i), Outcome: pick.Tool, Picked: fmt.Sprint("tool", tool), Trials: n}
			if tool == f.Tools {
				c.Outcome, c.Picked = pick.None, ""
			}
			groups = append(groups, c)
		}
	}
	return analytics.Cells(groups)
}

// TestPilotRange: the range holds the right answer for about 80 % of pilots.
func TestPilotRange(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	f := NewField(8)
	for _, c := range []struct {
		prompts, trials int
		icc             float64
	}{{10, 12, 0.3}, {20, 5, 0.1}, {20, 3, 0.6}} {
		right, held, wide := f.Detectable(40, 12, c.icc), 0, []float64{}
		const pilots = 100
		for range pilots {
			p := PilotOf(pilotCells(r, f, c.prompts, c.trials, c.icc, 0.2), nil)
			d, low, high := p.detectable(f.Tools, 40, 12)
			if low > d || d > high {
				t.Fatalf("%g is not from %g to %g", d, low, high)
			}
			if low <= right && right <= high {
				held++
			}
			wide = append(wide, high/low)
		}
		slices.Sort(wide)
		if share := float64(held) / pilots; share < 0.68 || share > 0.95 || wide[pilots/2] > 3 {
			t.Errorf("%+v: the range holds the right answer for %.0f%%; half of them are wider than x%.2f", c, 100*share, wide[pilots/2])
		}
	}
}

func TestPowerFromAPilot(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	cells := pilotCells(r, Field{12, 0.5}, 200, 10, 0.3, 0.2)
	p := PilotOf(cells, nil)
	if p.Prompts != 200 || math.Abs(p.Second-0.5) > 0.06 || math.Abs(p.ICC-0.3) > 0.06 {
		t.Errorf("got %d prompts, second %g, ICC %g", p.Prompts, p.Second, p.ICC)
	}
	power := Of(Input{Eval: withPrompts(40), Tools: 12, Pilot: p}).Power
	from := power.Pilot
	if from == nil || from.Detectable == nil || from.Low == nil || from.High == nil || *from.Low >= *from.Detectable || *from.High <= *from.Detectable {
		t.Fatalf("got %+v", from)
	}
	if !power.Measured || power.Rho != p.ICC || *power.Detectable != *from.Detectable || *power.ByICC[0].Detectable != NewField(12).Detectable(40, 10, 0.1) {
		t.Errorf("got %+v", power)
	}
	families := map[string]string{}
	for i := range 200 {
		families[fmt.Sprint("e/", i)] = fmt.Sprint(i / 10)
	}
	if p := PilotOf(cells, families); p.Prompts != 20 {
		t.Errorf("%d families", p.Prompts)
	}
}

func TestPilotsThatShowNothing(t *testing.T) {
	cell := func(prompt, tool string, n int) analytics.Cell {
		return analytics.Cells([]analytics.Group{{Prompt: prompt, Outcome: pick.Tool, Picked: tool, Trials: n}})[0]
	}
	// By prompt the difference is 1 or -1: all of it lies between prompts.
	var cells, once []analytics.Cell
	for i := range fewPrompts {
		tool := []string{"x", "y"}[i%2]
		cells, once = append(cells, cell(fmt.Sprint(i), tool, 5)), append(once, cell(fmt.Sprint(i), tool, 1))
	}
	if p := PilotOf(cells, nil); p == nil || p.ICC != 1 || p.Second != 1 {
		t.Errorf("got %+v", p)
	}
	for name, cells := range map[string][]analytics.Cell{
		"nothing": nil, "one tool": cells[:1], "too few prompts": cells[1:], "no repeats": once,
	} {
		if p := PilotOf(cells, nil); p != nil {
			t.Errorf("%s: %+v", name, p)
		}
	}
}

func TestDesigns(t *testing.T) {
	e := twoAgents()
	e.Agents = e.Agents[1:]
	e.Repeats = 4
	in := Input{Eval: e, Tools: 12, Detect: 0.1, Past: map[string]Past{"cli": {Trials: 40, Priced: 40, CostUSD: 0.2}}}
	f := Of(in)
	if f.Detect == nil || f.Detect.Difference != 0.1 {
		t.Fatalf("got %+v", f.Detect)
	}
	field, before := NewField(12), Design{}
	for _, d := range f.Detect.Designs {
		if want := field.Prompts(0.1, d.Repeats, d.ICC); float64(d.Prompts) != want || d.Trials != d.Prompts*d.Repeats || d.Measured {
			t.Errorf("%+v: want %g prompts", d, want)
		}
		if d.ExpectedUSD == nil || math.Abs(*d.ExpectedUSD-0.2*float64(d.Trials)) > 1e-6 {
			t.Errorf("%+v: expected cost", d)
		}
		if d.ICC == before.ICC && (d.Prompts >= before.Prompts || d.Trials < before.Trials) {
			t.Errorf("%+v after %+v", d, before)
		}
		before = d
	}
	if n := len(f.Detect.Designs); n != 18 {
		t.Errorf("%d designs, want 6 repeats for each of 3 ICC", n)
	}
	in.Pilot, in.Past = &Pilot{Prompts: 20, Second: 0.3, ICC: 1}, nil
	designs := Of(in).Detect.Designs
	// Where all variance lies between prompts, repeats bring nothing.
	if last := designs[len(designs)-1]; len(designs) != 19 || !last.Measured || last.Repeats != 1 || last.ICC != 1 || last.ExpectedUSD != nil {
		t.Errorf("%d designs, the last is %+v", len(designs), last)
	}
	if f := Of(Input{Eval: e, Tools: 1, Detect: 0.1}); len(f.Detect.Designs) != 0 {
		t.Errorf("a field of one: %+v", f.Detect)
	}
}
