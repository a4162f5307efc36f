package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// drawSides draws two measurements with so many common families, each with a share of its
// own that both have, and others that one has.
func drawSides(r *rand.Rand, common, old, newer int, moved float64) (s Sides) {
	share := func(p float64) float64 {
		n := 0.0
		for range 10 {
			if r.Float64() < p {
				n++
			}
		}
		return n / 10
	}
	for range common {
		p := r.Float64()
		x, y := share(p), share(p+moved)
		s.Paired, s.Old, s.New = append(s.Paired, y-x), append(s.Old, x), append(s.New, y)
	}
	for range old {
		s.RestOld = append(s.RestOld, share(r.Float64()))
	}
	for range newer {
		s.RestNew = append(s.RestNew, share(r.Float64()+moved))
	}
	s.Old, s.New = append(s.Old, s.RestOld...), append(s.New, s.RestNew...)
	return s
}

// swapped is the change back.
func (s Sides) swapped() Sides {
	back := Sides{Old: s.New, New: s.Old, RestOld: s.RestNew, RestNew: s.RestOld}
	for _, d := range s.Paired {
		back.Paired = append(back.Paired, -d)
	}
	return back
}

func TestChangeAgreesWithItself(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 16))
	excluded := 0
	for range 3000 {
		s := drawSides(r, r.IntN(25), r.IntN(5), r.IntN(5), r.Float64()*0.4)
		if r.IntN(4) == 0 { // families that all moved by the same
			s.Paired = slices.Repeat([]float64{float64(r.IntN(3)-1) / 5}, len(s.Paired))
		}
		c, back := ChangeOf(s), ChangeOf(s.swapped())
		p := c.P()
		if math.Abs(c.Value+back.Value) > 1e-12 || math.Abs(p-back.P()) > 1e-9 || c.Paired != back.Paired {
			t.Fatalf("%+v, back %+v", c, back)
		}
		for _, alpha := range []float64{0.05, 0.05 / 12, 0.3} {
			i, j := c.Interval(alpha), back.Interval(alpha)
			if math.Abs(i.Low+j.High) > 1e-9 || math.Abs(i.High+j.Low) > 1e-9 {
				t.Fatalf("%+v has %v, back %v", c, i, j)
			}
			if out := i.Low > 0 || i.High < 0; out != (p < alpha) && math.Abs(p-alpha) > 1e-9 {
				t.Fatalf("%+v with p %g has %v at %g", c, p, i, alpha)
			} else if out {
				excluded++
			}
			if i.Low < -1 || i.Low > c.Value+1e-12 || i.High < c.Value-1e-12 || i.High > 1 || i.Low >= i.High {
				t.Fatalf("%+v has %v", c, i)
			}
		}
	}
	if excluded < 300 {
		t.Errorf("%d intervals exclude 0", excluded)
	}
}

// Comparing families with themselves removes what differs between them, also when three of
// twenty were replaced.
func TestPairingSurvivesAnEdit(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 18))
	var whole, edited, apart float64
	for range 200 {
		s := drawSides(r, 20, 0, 0, 0.1)
		whole += ChangeOf(s).SE
		apart += ChangeOf(Sides{Old: s.Old, New: s.New, RestOld: s.Old, RestNew: s.New}).SE
		e := drawSides(r, 17, 3, 2, 0.1)
		c := ChangeOf(e)
		if edited += c.SE; c.Paired != 17 {
			t.Fatalf("%d families are paired", c.Paired)
		}
		_, d := moments(e.Paired)
		_, v := moments(e.Old)
		_, w := moments(e.New)
		exactly(t, "variance", c.SE*c.SE, 1/(17/d+1/(v/3+w/2))) // that of the best weights
	}
	if edited > 1.15*whole || apart < 1.5*edited {
		t.Errorf("mean standard error %.4f paired, %.4f after an edit, %.4f of two samples", whole/200, edited/200, apart/200)
	}
}

func TestFewCommonFamiliesAreNotPaired(t *testing.T) {
	r := rand.New(rand.NewPCG(19, 20))
	tests := map[string]struct{ common, old, newer, paired int }{
		"all are common":             {3, 0, 0, 3},
		"nine of eleven":             {MinPaired - 1, 2, 2, 0},
		"ten of twelve":              {MinPaired, 2, 2, MinPaired},
		"nine of ten, one was added": {MinPaired - 1, 0, 1, 0},
		"ten, one was added":         {MinPaired, 0, 1, MinPaired},
		"none":                       {0, 5, 8, 0},
	}
	for name, tt := range tests {
		s := drawSides(r, tt.common, tt.old, tt.newer, 0)
		c := ChangeOf(s)
		if c.Paired != tt.paired {
			t.Errorf("%s: %+v", name, c)
		}
		if tt.paired > 0 {
			continue
		}
		x, v := moments(s.Old)
		y, w := moments(s.New)
		exactly(t, name, c.Value, y-x)
		exactly(t, name+": SE", c.SE, math.Sqrt(v/float64(len(s.Old))+w/float64(len(s.New))))
		if least, most := min(len(s.Old), len(s.New))-1, len(s.Old)+len(s.New)-2; c.DF < float64(least) || c.DF > float64(most) {
			t.Errorf("%s: %g degrees of freedom", name, c.DF)
		}
	}
}

// With one trial for each family the test of two samples is that of two proportions, but
// for the pooled variance.
func TestChangeOfIndependentTrials(t *testing.T) {
	z, p := TwoProportions(300, 1000, 345, 1000)
	ones := func(x, n int) []float64 {
		out := make([]float64, n)
		for i := range x {
			out[i] = 1
		}
		return out
	}
	a, b := ones(300, 1000), ones(345, 1000)
	c := ChangeOf(Sides{Old: a, New: b, RestOld: a, RestNew: b})
	within(t, "z", c.Value/c.SE, z, 0.005)
	within(t, "p", c.P(), p, 0.001)
}

func TestChangeWithoutVarianceIsNotCertain(t *testing.T) {
	same := func(v float64, n int) []float64 { return slices.Repeat([]float64{v}, n) }
	apart := func(a, b []float64) Sides { return Sides{Old: a, New: b, RestOld: a, RestNew: b} }
	const above = 1e-6
	tests := map[string]struct {
		s         Sides
		p         float64
		low, high float64
	}{
		"nothing at all":                {Sides{}, 1, -1, 1},
		"one family":                    {Sides{Paired: same(-0.8, 1)}, 1, -1, 1},
		"two families alike":            {Sides{Paired: same(-0.2, 2)}, 0.5, -1, 1},
		"eight families alike":          {Sides{Paired: same(-0.2, 8)}, 2.0 / 256, -1, -above},
		"eight families alike, up":      {Sides{Paired: same(0.2, 8)}, 2.0 / 256, above, 1},
		"one family against many":       {apart(same(1, 1), []float64{0, 1, 0, 0, 1}), 1, -1, 1},
		"nothing against many":          {apart(nil, []float64{0, 1, 0, 0, 1}), 1, -1, 1},
		"all picks against none, apart": {apart(same(1, 50), same(0, 50)), 1, -1, 1},
	}
	for name, tt := range tests {
		c := ChangeOf(tt.s)
		if i := c.Interval(0.05); math.Abs(c.P()-tt.p) > 1e-12 || i != (Interval{tt.low, tt.high}) {
			t.Errorf("%s: p %g, %v", name, c.P(), i)
		}
	}
	still := ChangeOf(Sides{Paired: same(0, 10)})
	if i := still.Interval(0.05); still.P() != 1 || still.Value != 0 || i.Low != -i.High || i.High <= 0.1 || i.High >= 0.5 {
		t.Errorf("ten families that did not move: %+v, %v", still, i)
	}
}
