package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Asking everything three times as often with the same answers changes no rate and, as
// families are the clusters, no interval.
func TestRepeatsDoNotScale(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 100 {
		x := drawTable(r, 8+r.IntN(9), 2+r.IntN(3), 3)
		one := NewDesign(x.rows, x.weights)
		before, rates := estimatesOf(one, x.picks...)
		for g, row := range x.rows {
			for i := range row {
				x.rows[g][i] *= 3
			}
		}
		for _, p := range x.picks {
			for i := range p {
				p[i] *= 3
			}
		}
		three := NewDesign(x.rows, x.weights)
		after, same := estimatesOf(three, x.picks...)
		first, second := one.Compare(before, rates), three.Compare(after, same)
		for i := range rates {
			if rates[i] != same[i] {
				t.Fatalf("%+v becomes %+v", rates[i], same[i])
			}
			for j := range rates {
				x, _ := first.Lead(i, j)
				if y, _ := second.Lead(i, j); x != y {
					t.Fatalf("%+v becomes %+v", x, y)
				}
			}
		}
	}
}

func TestRateAtTheEdges(t *testing.T) {
	seven := column(2, 5, 5, 5, 5, 5, 9)
	tests := map[string]struct {
		rows      [][]int
		sums      []int
		nEff      float64
		low, high float64 // bounds of the interval
	}{
		"no trials":                       {nil, nil, 0, 0, 1},
		"one family says nothing":         {column(10), []int{5}, 0, 0, 1},
		"three families that all pick it": {column(5, 5, 5), []int{5, 5, 5}, 3, 0.13, 1},
		"unequal families, all pick it":   {seven, []int{2, 5, 5, 5, 5, 5, 9}, 7, 0.5, 1},
		"six agents that all pick it":     {[][]int{{1, 1, 1, 1, 1, 2}, {1, 1, 1, 1, 1, 1}}, []int{1, 1, 1, 1, 1, 2, 1, 1, 1, 1, 1, 1}, 2, 0, 1},
		"none picks it":                   {seven, alike(7, 0), 7, 0, 0.5},
		"1 of 49 in each of 7 families":   {column(alike(7, 49)...), alike(7, 1), 343, 0.005, 0.08},
		"half of 2 to 20 in each family":  {column(2, 4, 20), []int{1, 2, 10}, 9 / (0.5 + 0.25 + 0.05), 0.1, 0.9},
	}
	for name, tt := range tests {
		d := NewDesign(tt.rows, nil)
		r := d.Rate(d.Estimate(tt.sums))
		if math.Abs(r.NEff-tt.nEff) > 1e-9 || r.Interval.Low < tt.low || r.Interval.High > tt.high || r.Interval.Low >= r.Interval.High {
			t.Errorf("%s: %+v", name, r)
		}
		if r.Interval.Low > r.Value || r.Interval.High < r.Value {
			t.Errorf("%s: the interval of %+v does not contain the rate", name, r)
		}
	}
}

// Agents like these are never better known than these agents.
func TestPopulationIsWider(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	tables := map[string]table{
		"all pick it":   {[][]int{{3, 6, 3}, {6, 3, 9}}, nil, [][]int{{3, 6, 3, 6, 3, 9}}},
		"none picks it": {[][]int{{3, 6, 3}, {6, 3, 9}}, nil, [][]int{alike(6, 0)}},
	}
	for range 300 {
		tables["random"] = drawTable(r, 2+r.IntN(10), 3+r.IntN(5), 2)
		tables["3 of 5 in each cell"] = drawTable(r, 2+r.IntN(10), 3+r.IntN(5), 1).constant(3, 5)
		for name, x := range tables {
			d := NewDesign(x.rows, x.weights)
			e := d.Estimate(x.picks[0])
			own := d.Rate(e).Interval
			ci, ok := d.Population(e)
			if !ok && x.weights == nil || ok && !(ci.Low <= own.Low+1e-12 && ci.High >= own.High-1e-12) {
				t.Fatalf("%s: %v for such agents, %v for these: %+v", name, ci, own, x)
			}
		}
	}
	// Agents that disagree by themselves: the variance is that of three shares.
	d := NewDesign(slices.Repeat([][]int{{10, 10, 10}}, 30), nil)
	ci, _ := d.Population(d.Estimate(slices.Repeat([]int{8, 5, 2}, 30)))
	if half := TQuantile(0.975, 2) * 0.3 / math.Sqrt(3); ci.High-ci.Low < 0.8*half || ci.High-ci.Low > 2*half {
		t.Errorf("agents with shares .8, .5, .2: %v", ci)
	}
	for name, rows := range map[string][][]int{"two agents": {{1, 1, 0}, {1, 1, 0}}, "one family": {{1, 1, 1}}, "nothing": nil} {
		d := NewDesign(rows, nil)
		if ci, ok := d.Population(d.Estimate(make([]int, 3*len(rows)))); ok {
			t.Errorf("%s: %v", name, ci)
		}
	}
}

func TestBorrow(t *testing.T) {
	const families, n = 20, 10
	d := NewDesign(column(alike(families, n)...), nil)
	in := func(picks ...int) []int { return append(picks, alike(families-len(picks), 0)...) }
	big := []int{10, 0, 9, 1, 8, 0, 10, 2, 0, 7, 0, 10, 0, 3, 9, 0, 1, 10, 0, 8}
	never, five := in(), in(1, 1, 1, 1, 1)
	one := [][]int{in(1), in(2), in(3), in(6), in(10)}
	two := [][]int{in(1, 1), in(2, 2), in(3, 3), in(6, 6)}
	estimates, rates := estimatesOf(d, slices.Concat([][]int{big, five, never, never}, one, two)...)
	before := slices.Clone(rates)
	d.Borrow(estimates, rates)
	if rates[0] != before[0] || rates[1] != before[1] {
		t.Errorf("tools of five families and more borrow: %+v", rates[:2])
	}
	var flat, variance float64
	for i, r := range before {
		flat, variance = flat+r.Value*(1-r.Value), variance+sq(d.SE(estimates[i].Influence))
	}
	if rates[2] != rates[3] || math.Abs(rates[2].NEff-math.Min(families, flat/variance)) > 1e-9 {
		t.Errorf("tools that were never picked: %+v, before %+v", rates[2:4], before[2])
	}
	for i := range rates {
		if i > 3 && (rates[i].NEff > before[i].NEff || before[i].NEff > rates[2].NEff && rates[i].NEff < rates[2].NEff) {
			t.Errorf("a rare tool has %g effective trials, %g of its own, the board %g", rates[i].NEff, before[i].NEff, rates[2].NEff)
		}
	}
	for name, some := range map[string][]Rate{"one family": rates[4:9], "two families": rates[9:]} {
		last := 0.0
		for _, r := range some {
			if r.Interval.High <= last || r.Interval.High < 0.7*rates[2].Interval.High {
				t.Errorf("%s: %+v ends below %g, that of a smaller rate", name, r, last)
			}
			last = r.Interval.High
		}
	}
	estimates, rates = estimatesOf(d, slices.Repeat([]int{5, 6}, families/2), never)
	if d.Borrow(estimates, rates); rates[1].NEff != families {
		t.Errorf("families that hardly differ lend %g effective of %g trials", rates[1].NEff, d.Effective)
	}
	estimates, rates = estimatesOf(d, never, never)
	before = slices.Clone(rates)
	if d.Borrow(estimates, rates); !slices.Equal(rates, before) {
		t.Errorf("a board without a pick has something to borrow: %+v", rates)
	}
}

func TestRatesHoldTheirInterval(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for range 500 {
		x := drawTable(r, 1+r.IntN(15), 1+r.IntN(4), 4)
		d := NewDesign(x.rows, x.weights)
		estimates, rates := estimatesOf(d, x.picks...)
		d.Borrow(estimates, rates)
		for _, r := range rates {
			if !(0 <= r.Interval.Low && r.Interval.Low <= r.Value+1e-12 && r.Value <= r.Interval.High+1e-12 && r.Interval.High <= 1) {
				t.Fatalf("%+v: %+v", x, r)
			}
		}
	}
}
