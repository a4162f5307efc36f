package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// order compares tools by their picks, with borrowed intervals as a board does.
func (x table) order() (Order, []Rate) {
	d := NewDesign(x.rows, x.weights)
	estimates, rates := estimatesOf(d, x.picks...)
	d.Borrow(estimates, rates)
	return d.Compare(estimates, rates), rates
}

// TestOrderAgreesWithItself checks random boards: leads are of the higher rate alone, their
// intervals are above 0 exactly where they are shown, and ranks follow from them.
func TestOrderAgreesWithItself(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	shown, guarded := 0, 0
	for range 400 {
		x := drawTable(r, 1+r.IntN(40), 1+r.IntN(4), 2+r.IntN(6))
		o, rates := x.order()
		k := len(rates)
		p, low, high := make([]float64, k*k-k), alike(k, 1), alike(k, k)
		for i := range p {
			p[i] = 1
		}
		var leads []Lead
		var unpicked []bool // the tool that is behind has no pick
		for i := range k {
			for j := range k {
				lead, ok := o.Lead(i, j)
				diff := rates[i].Value - rates[j].Value
				if ok != (diff > 1e-12) {
					t.Fatalf("tool %d with %+v leads %d with %+v: %v", i, rates[i], j, rates[j], ok)
				}
				if !ok {
					continue
				}
				p[len(leads)] = lead.P
				leads, unpicked = append(leads, lead), append(unpicked, rates[j].Value == 0)
				if math.Abs(lead.Diff-diff) > 1e-12 || lead.Interval.Low > diff || lead.Interval.High < diff || lead.Interval.Low < -1 || lead.Interval.High > 1 {
					t.Fatalf("%+v is not about %g", lead, diff)
				}
				if lead.Shown != (lead.Interval.Low > 0) || lead.Shown != (lead.Adjusted < 0.05) || lead.P > 1 || lead.Adjusted > 1 {
					t.Fatalf("%+v contradicts itself", lead)
				}
				if lead.Shown {
					low[j]++
					high[i]--
					shown++
				}
			}
		}
		adjusted := Holm(p)
		quantile := TQuantile(1-0.05/float64(len(p)), float64(NewDesign(x.rows, x.weights).least-1))
		for i, holm := range adjusted[:len(leads)] {
			l := leads[i]
			if l.se > 0 {
				exactly(t, "upper end", l.Interval.High, math.Min(1, l.Diff+quantile*l.se))
			}
			switch {
			case l.Adjusted == holm:
			case holm < 0.05 && l.Adjusted >= 0.05:
				guarded++
			case unpicked[i] && holm < l.Adjusted: // the guard's
			default:
				t.Fatalf("%+v, want %g by Holm", l, holm)
			}
		}
		for i, set := range o.Ranks() {
			above, equal := 0, 0
			for _, r := range rates {
				if r.Value > rates[i].Value+1e-12 {
					above++
				} else if r.Value >= rates[i].Value-1e-12 {
					equal++
				}
			}
			if set != (RankSet{low[i], high[i]}) || set.Low > above+1 || set.High < above+equal {
				t.Fatalf("tool %d has ranks %v, with %d tools above and %d equal", i, set, above, equal)
			}
		}
	}
	if shown < 30 || guarded < 10 {
		t.Errorf("%d leads were shown and %d stopped by the guard: too few to test them", shown, guarded)
	}
}

// TestLeadsOverToolsWithoutAPick compares boards with those of formulas 2: the same leads are
// shown, and where the figures differ, they are more careful and about a tool without a pick.
func TestLeadsOverToolsWithoutAPick(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 16))
	careful := 0
	for range 400 {
		x := drawTable(r, 4+r.IntN(20), 1+r.IntN(4), 2+r.IntN(4))
		x.picks = append(x.picks, slices.Repeat([][]int{make([]int, len(x.picks[0]))}, 2)...)
		if r.IntN(2) == 0 { // one tool with about half of each family
			x = table{column(alike(4+r.IntN(12), 12)...), nil, slices.Repeat([][]int{nil}, 4)}
			for i := range x.picks {
				for range x.rows {
					x.picks[i] = append(x.picks[i], []int{5 + r.IntN(3), r.IntN(4), 0, 0}[i])
				}
			}
		}
		d := NewDesign(x.rows, x.weights)
		estimates, rates := estimatesOf(d, x.picks...)
		d.Borrow(estimates, rates)
		now := d.Compare(estimates, rates)
		d.Formulas2 = true
		then := d.Compare(estimates, rates)
		for i := range rates {
			for j := range rates {
				a, _ := now.Lead(i, j)
				b, _ := then.Lead(i, j)
				if a.se, b.se = 0, 0; a == b {
					continue
				}
				if a.Shown != b.Shown || a.Adjusted < b.Adjusted || a.Interval.Low > b.Interval.Low || a.Interval.High != b.Interval.High || rates[j].Value != 0 {
					t.Fatalf("over %+v: %+v, by formulas 2 %+v", rates[j], a, b)
				}
				careful++
			}
		}
	}
	if careful < 100 {
		t.Errorf("only %d leads differ", careful)
	}
}

// The order of tools in the catalogue has no influence.
func TestOrderOfReversedTools(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	for range 50 {
		x := drawTable(r, 5+r.IntN(20), 1+r.IntN(4), 5)
		one, _ := x.order()
		slices.Reverse(x.picks)
		two, _ := x.order()
		for i := range 5 {
			for j := range 5 {
				a, ok := one.Lead(i, j)
				if b, same := two.Lead(4-i, 4-j); a != b || ok != same {
					t.Fatalf("%+v, reversed %+v", a, b)
				}
			}
		}
	}
}

func TestLeads(t *testing.T) {
	each := func(families int, picks ...int) []int { return slices.Repeat(picks, families/len(picks)) }
	even := func(families int) [][]int { return column(alike(families, 10)...) }
	many := slices.Repeat([][]int{each(10, 0)}, 30)
	many[0] = each(10, 10)
	tests := map[string]struct {
		x     table // the first tool is compared with the second
		p     float64
		shown bool
	}{
		"one family shows nothing":               {table{even(1), nil, [][]int{{10}, {0}}}, 1, false},
		"two families that all pick one":         {table{even(2), nil, [][]int{each(2, 10), each(2, 0)}}, 0.25, false},
		"six families that all pick one":         {table{even(6), nil, [][]int{each(6, 10), each(6, 0)}}, 1. / 64, true},
		"six unequal families that all pick one": {table{column(1, 2, 3, 4, 5, 6), nil, [][]int{{1, 2, 3, 4, 5, 6}, each(6, 0)}}, 1. / 64, true},
		"ten families that all pick one of 30":   {table{even(10), nil, many}, 1. / 1024, false},
		"constant shares of 60 trials":           {table{even(6), nil, [][]int{each(6, 6), each(6, 3)}}, tTail(.3/math.Sqrt((.9-.09)/60), 5), true},
		"a hundredth in each of 7 families":      {table{column(alike(7, 100)...), nil, [][]int{each(7, 1), each(7, 0)}}, tTail(.01/math.Sqrt((.01-.0001)/700), 6), false},
		// The second may have all trials of one family in eight, none of which was drawn.
		"niche: a tenth in 10 families against none": {table{even(10), nil, [][]int{each(10, 0, 1, 2, 1, 1), each(10, 0)}}, math.NaN(), false},
		"niche: a tenth in 60 families against none": {table{even(60), nil, [][]int{each(60, 0, 1, 2, 1, 1), each(60, 0)}}, math.NaN(), true},
		"niche: half in 10 families against none":    {table{even(10), nil, [][]int{each(10, 4, 5, 6, 5, 5), each(10, 0)}}, math.NaN(), true},
		"niche: an eighth against one family":        {table{even(10), nil, [][]int{each(10, 1, 2), {8, 0, 0, 0, 0, 0, 0, 0, 0, 0}}}, math.NaN(), false},
	}
	for name, tt := range tests {
		o, _ := tt.x.order()
		l, ok := o.Lead(0, 1)
		if !ok || l.Shown != tt.shown || math.Abs(l.P-tt.p) > 1e-12 {
			t.Errorf("%s: %+v, want p %g", name, l, tt.p)
		}
		if l.P == 0 || l.Interval.Low >= l.Interval.High || l.Shown != (l.Interval.Low > 0) {
			t.Errorf("%s: %+v passes for certain", name, l)
		}
		if _, ok := o.Lead(1, 0); ok {
			t.Errorf("%s: both lead", name)
		}
	}
	// Without the guard the niche would be beaten. Its p-value is the level at which the
	// interval from both rates begins at 0.
	niche, rates := tests["niche: a tenth in 10 families against none"].x.order()
	l, _ := niche.Lead(0, 1)
	rates[1].NStar = math.Min(rates[1].NStar, NewCritical(10).shrink(10))
	if l.P > 0.001 || math.Abs(mover(l.Diff, rates[0], rates[1], NormalQuantile(1-l.Adjusted/2))) > 1e-9 {
		t.Errorf("the guard does not set the p-value: %+v", l)
	}
}

func TestOrderWithoutEvidence(t *testing.T) {
	five := [][]int{{10}, {8}, {5}, {1}, {0}}
	for name, x := range map[string]table{
		"one family":  {column(24), nil, five},
		"equal tools": {column(10, 10, 10), nil, slices.Repeat([][]int{{1, 2, 1}}, 5)},
		"no picks":    {column(10, 10, 10), nil, slices.Repeat([][]int{{0, 0, 0}}, 5)},
		"nothing":     {nil, nil, make([][]int, 5)},
	} {
		o, _ := x.order()
		for _, set := range o.Ranks() {
			if set != (RankSet{1, 5}) {
				t.Errorf("%s: ranks %v", name, set)
			}
		}
	}
	if o, _ := (table{column(24), nil, five}).order(); len(o.Ranks()) != 5 {
		t.Error("tools without a rank")
	}
}
