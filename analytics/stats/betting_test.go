package stats

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// drawer returns independent observations with the mean.
type drawer struct {
	name string
	mean float64
	draw func() float64
}

func drawers(r *rand.Rand) []drawer {
	bernoulli := func(p float64) func() float64 {
		return func() float64 {
			if r.Float64() < p {
				return 1
			}
			return 0
		}
	}
	beta := func(a, b float64) func() float64 { return distuv.Beta{Alpha: a, Beta: b, Src: r}.Rand }
	return []drawer{
		{"Bernoulli 0.5", 0.5, bernoulli(0.5)},
		{"Bernoulli 0.1", 0.1, bernoulli(0.1)},
		{"Bernoulli 0.95", 0.95, bernoulli(0.95)},
		{"beta 0.3", 0.3, beta(0.6, 1.4)},
		{"beta 0.6", 0.6, beta(12, 8)},
	}
}

func TestBettingCoversAtAllTimes(t *testing.T) {
	const alpha, paths, length = 0.1, 200, 200
	for _, d := range drawers(rand.New(rand.NewPCG(7, 1))) {
		missed, width := 0, 0.0
		for range paths {
			b := NewBetting(alpha)
			last := b.Interval()
			for range length {
				b.Add(d.draw())
				i := b.Interval()
				if i.Low < last.Low || i.High > last.High || i.Low >= i.High {
					t.Fatalf("%s: %v after %v", d.name, i, last)
				}
				last = i
			}
			width += (last.High - last.Low) / paths
			if last.Low > d.mean || last.High < d.mean { // intervals never grow
				missed++
			}
		}
		sd := math.Sqrt(paths * alpha * (1 - alpha))
		t.Logf("%s: %d of %d paths missed, width %.3f", d.name, missed, paths, width)
		if float64(missed) > alpha*paths+2*sd || width > 0.25 {
			t.Errorf("%s: %d of %d paths missed, width %.3f", d.name, missed, paths, width)
		}
	}
}

func TestBettingAtFirst(t *testing.T) {
	b := NewBetting(0.05)
	if b.Interval() != (Interval{0, 1}) || b.Difference() != (Interval{-1, 1}) {
		t.Errorf("before any observation: %v", b.Interval())
	}
	b.Add(1)
	if i := b.Interval(); i != (Interval{0, 1}) {
		t.Errorf("after one pick: %v", i)
	}
	for range 99 {
		b.Add(1)
	}
	if i := b.Interval(); i.Low < 0.9 || i.High != 1 {
		t.Errorf("after 100 picks: %v", i)
	}
}

func TestBettingOfDifferences(t *testing.T) {
	up, down := NewBetting(0.05), NewBetting(0.05)
	r := rand.New(rand.NewPCG(7, 2))
	for range 400 {
		d := 0.3 + 0.4*(2*r.Float64()-1)
		up.AddDifference(d)
		down.AddDifference(-d)
	}
	a, b := up.Difference(), down.Difference()
	if a.Low <= 0.2 || a.High >= 0.4 || a.Low > 0.3 || a.High < 0.3 {
		t.Errorf("differences of 0.3 on average: %v", a)
	}
	if math.Abs(a.Low+b.High) > 2.1/bettingSteps || math.Abs(a.High+b.Low) > 2.1/bettingSteps {
		t.Errorf("%v is not the mirror image of %v", a, b)
	}
}

func BenchmarkBetting(b *testing.B) {
	c := NewBetting(0.05)
	for i := 0; b.Loop(); i++ {
		c.Add(float64(i % 2))
	}
}
