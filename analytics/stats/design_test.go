package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestEstimand(t *testing.T) {
	tests := map[string]struct {
		rows    [][]int
		sums    []int
		weights []float64
		value   float64
		byAgent []float64
	}{
		"a missing cell is not imputed":             {[][]int{{2, 2}, {2, 0}, {2, 2}}, []int{1, 2, 0, 0, 2, 0}, nil, 0.5, []float64{0.5, 0.5}},
		"an agent without trials drops out":         {[][]int{{2, 0, 4}, {2, 0, 4}}, []int{2, 0, 0, 2, 0, 2}, []float64{2, 5, 2}, 0.625, []float64{1, math.NaN(), 0.25}},
		"twenty repeats weigh as much as two":       {[][]int{{20, 2}, {20, 2}}, []int{20, 0, 20, 1}, nil, 0.625, []float64{1, 0.25}},
		"a family asked often weighs as the others": {column(100, 1, 1, 2), []int{100, 0, 0, 1}, nil, 0.375, []float64{0.375}},
		"weights need not sum to 1":                 {[][]int{{1, 1}}, []int{1, 0}, []float64{30, 10}, 0.75, []float64{1, 0}},
		"no trials":                                 {nil, nil, nil, 0, []float64{}},
	}
	for name, tt := range tests {
		e := NewDesign(tt.rows, tt.weights).Estimate(tt.sums)
		if math.Abs(e.Value-tt.value) > 1e-12 || len(e.ByAgent) != len(tt.byAgent) {
			t.Errorf("%s: %+v, want %g", name, e, tt.value)
			continue
		}
		for a, want := range tt.byAgent {
			if got := e.ByAgent[a]; math.IsNaN(got) != math.IsNaN(want) || math.Abs(got-want) > 1e-12 {
				t.Errorf("%s: agent %d has %g, want %g", name, a, got, want)
			}
		}
	}
}

// TestDesignAgreesWithItsDefinition recomputes rates, with and without an agent or a
// family, on random tables with missing cells and unequal weights.
func TestDesignAgreesWithItsDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		x := drawTable(r, 1+r.IntN(12), 1+r.IntN(5), 2)
		d := NewDesign(x.rows, x.weights)
		e := d.Estimate(x.picks[0])
		var weights, agents, value, influence float64
		for g, row := range x.rows {
			for a, n := range row {
				weights += float64(n) * d.Weight(g, a)
				value += float64(x.picks[0][g*len(row)+a]) * d.Weight(g, a)
			}
			influence += e.Influence[g]
		}
		for a := range x.weights {
			agents += d.AgentWeight(a)
		}
		exactly(t, "sum of the weights of trials", weights, 1)
		exactly(t, "sum of the weights of agents", agents, 1)
		exactly(t, "sum of weighted picks", value, e.Value)
		exactly(t, "sum of the influence", influence, 0)
		exactly(t, "rate", e.Value, x.rate(0, -1, -1))
		if d.Effective > float64(d.Trials)+1e-9 {
			t.Errorf("%g effective of %d trials", d.Effective, d.Trials)
		}
		families, agentsLeft := Interval{1, 0}, Interval{1, 0}
		for g := range x.rows {
			families.include(x.rate(0, g, -1))
		}
		for a := range x.weights {
			if v := x.rate(0, -1, a); d.AgentWeight(a) > 0 && !math.IsNaN(v) {
				agentsLeft.include(v)
			}
		}
		got, ok := d.WithoutFamily(e)
		leftOut(t, "family", got, ok, families, len(x.rows) > 1)
		got, ok = d.WithoutAgent(e)
		leftOut(t, "agent", got, ok, agentsLeft, agentsLeft != Interval{1, 0})
		if t.Failed() {
			t.Fatalf("%+v", x)
		}
	}
}

func leftOut(t *testing.T, what string, got Interval, ok bool, want Interval, wantOK bool) {
	t.Helper()
	if ok != wantOK || ok && (math.Abs(got.Low-want.Low) > 1e-12 || math.Abs(got.High-want.High) > 1e-12) {
		t.Errorf("without a %s: %v, %v, want %v, %v", what, got, ok, want, wantOK)
	}
}

func exactly(t *testing.T, what string, got, want float64) {
	t.Helper()
	within(t, what, got, want, 1e-12)
}

func TestBalancedRateIsThatOfTrials(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		families, agents, n := 1+r.IntN(20), 1+r.IntN(5), 1+r.IntN(9)
		rows, sums := make([][]int, families), make([]int, families*agents)
		for g := range rows {
			rows[g] = alike(agents, n)
		}
		for i := range sums {
			sums[i] = r.IntN(n + 1)
		}
		d := NewDesign(rows, nil)
		if e := d.Estimate(sums); !d.Balanced || d.Effective != float64(d.Trials) || e.Value != float64(sumOf(sums))/float64(families*agents*n) {
			t.Fatalf("%v of %v: %+v, %+v", sums, rows, e, d)
		}
	}
	for name, d := range map[string]*Design{
		"a missing cell":    NewDesign([][]int{{2, 2}, {2, 0}}, nil),
		"unequal repeats":   NewDesign([][]int{{2, 2}, {2, 3}}, nil),
		"unequal weights":   NewDesign([][]int{{2, 2}, {2, 2}}, []float64{1, 2}),
		"one large agent":   NewDesign([][]int{{20, 2}, {20, 2}}, nil),
		"repeats of weight": NewDesign([][]int{{4, 2}, {4, 2}, {4, 0}}, []float64{2, 1}),
	} {
		if d.Balanced || d.Effective >= float64(d.Trials) {
			t.Errorf("%s: balanced, %g effective of %d trials", name, d.Effective, d.Trials)
		}
	}
	if d := NewDesign([][]int{{4, 2}, {4, 2}}, []float64{2, 1}); !d.Balanced {
		t.Error("trials of the same weight are not balanced")
	}
}
