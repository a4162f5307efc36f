package forecast

import (
	"context"
	"math"
	"testing"

	"github.com/firstpick/firstpick/fixtures/prices"
	"github.com/firstpick/firstpick/runner/agent"
	"github.com/firstpick/firstpick/runner/eval"
)

// paid is an agent whose model costs a dollar per million tokens read and ten per
// million written.
type paid struct {
	price *prices.Price
	worst *float64
	// memory is what a question takes, in MB.
	memory int
}

func (paid) Ask(context.Context, agent.Task) (agent.Reply, error) {
	panic("a forecast asks nobody")
}
func (p paid) Worst(agent.Task) *float64 { return p.worst }
func (p paid) Profile() agent.Profile    { return agent.Profile{Paid: true, MemoryMB: p.memory} }
func (p paid) Price() *prices.Price      { return p.price }

func dollars(v float64) *float64 { return &v }

func twoAgents() *eval.Eval {
	return &eval.Eval{
		Name: "e", Category: "payments", Repeats: 5, Templates: []string{"none"},
		Prompts: []eval.Prompt{{ID: "a", Text: "Add payments to this service, please"}, {ID: "b", Text: "Let people pay."}},
		Agents:  []eval.Agent{{Name: "model", Kind: eval.KindAnthropic, Model: "m"}, {Name: "cli", Kind: eval.KindCodex}},
	}
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

func TestAssumedCosts(t *testing.T) {
	f := Of(Input{Eval: twoAgents(), Concurrency: 8, Agents: map[string]agent.Agent{
		"model": paid{price: &prices.Price{Input: 1, Output: 10}, worst: dollars(0.5)},
		"cli":   paid{worst: dollars(2)},
	}})
	if f.Trials != 20 || f.Agents[0].Trials != 10 {
		t.Errorf("%d trials", f.Trials)
	}
	// (36/4+1 + 15/4+1) tokens read and 800 written, five times.
	want := 5 * (10 + 4 + 8000.0) / 1e6
	if m := f.Agents[0].Expected; m == nil || !near(m.USD, want) {
		t.Errorf("model: got %+v, want %g", m, want)
	}
	if f.Agents[1].Expected != nil || f.Expected != nil {
		t.Errorf("a program that was never run has an expected cost: %+v", f.Agents[1])
	}
	if f.WorstUSD == nil || !near(*f.WorstUSD, 25) {
		t.Errorf("worst %v, want 25", f.WorstUSD)
	}
	// Ten questions of 120 s, eight at a time, are two rounds.
	if !near(f.Seconds, 240) {
		t.Errorf("%g s", f.Seconds)
	}
}

func TestAnUnknownCostIsUnknownAndNotNothing(t *testing.T) {
	f := Of(Input{Eval: twoAgents(), Agents: map[string]agent.Agent{"model": paid{}}})
	if f.Expected != nil || f.WorstUSD != nil || f.Agents[0].Expected != nil || f.Agents[0].WorstUSD != nil || f.Agents[1].WorstUSD != nil {
		t.Errorf("got %+v", f)
	}
}

func TestMeasuredCostsAndTimes(t *testing.T) {
	e := twoAgents()
	e.Agents = e.Agents[1:]
	e.Agents[0].MaxConcurrency = 2
	f := Of(Input{Eval: e, Past: map[string]Past{"cli": {Trials: 40, Seconds: 60, Priced: 40, CostUSD: 0.2, CostVar: 0.01}}})
	m := f.Expected
	half := 1.959963984540054 * 10 * 0.1 * math.Sqrt(1.0/10+1.0/40)
	if m == nil || !near(m.USD, 2) || !near(m.High, 2+half) || !near(m.Low, 2-half) {
		t.Errorf("got %+v, want 2 +- %g", m, half)
	}
	if !near(f.Seconds, 10*60/2.0) {
		t.Errorf("%g s", f.Seconds)
	}
	heavy := Of(Input{
		Eval: e, Past: map[string]Past{"cli": {Trials: 40, Seconds: 60}}, MemoryCapMB: 700,
		Agents: map[string]agent.Agent{"cli": paid{memory: 600}},
	})
	if !near(heavy.Seconds, 600) {
		t.Errorf("one at a time for its memory: %g s", heavy.Seconds)
	}
}

func TestPastsArePooled(t *testing.T) {
	// Costs 1, 2, 3 and 7, 9: mean 4.4, sample variance 11.8.
	p := Past{Trials: 3, Seconds: 10, Priced: 3, CostUSD: 2, CostVar: 1}
	p.Add(Past{Trials: 2, Seconds: 20, Priced: 2, CostUSD: 8, CostVar: 2})
	if p.Trials != 5 || !near(p.Seconds, 14) || !near(p.CostUSD, 4.4) || !near(p.CostVar, 11.8) {
		t.Errorf("got %+v", p)
	}
	var empty Past
	empty.Add(Past{})
	if empty != (Past{}) {
		t.Errorf("nothing and nothing is %+v", empty)
	}
}
