package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// nightly measures a tool every night: families differ in their rates (intra-class
// correlation icc) and are the same for two agents.
type nightly struct {
	families, repeats int
	rate, icc         float64
}

// rates draws the rate of each family.
func (s nightly) rates(r *rand.Rand) []float64 {
	out := make([]float64, s.families)
	for i := range out {
		out[i] = s.rate
		if k := 1/s.icc - 1; s.icc > 0 {
			out[i] = distuv.Beta{Alpha: s.rate * k, Beta: (1 - s.rate) * k, Src: r}.Rand()
		}
	}
	return out
}

// cells measures a night on which all rates have changed by the factor.
func (s nightly) cells(r *rand.Rand, rates []float64, factor float64) []NightCell {
	out := make([]NightCell, 0, 2*len(rates))
	for i, rate := range rates {
		for _, agent := range []string{"a", "b"} {
			c := NightCell{Family: fmt.Sprint(i), Agent: agent, Trials: s.repeats}
			for range s.repeats {
				if r.Float64() < rate*factor {
					c.Picks++
				}
			}
			out = append(out, c)
		}
	}
	return out
}

func TestNightTestHoldsItsLevel(t *testing.T) {
	const series, nights = 300, 60
	for _, s := range []nightly{{5, 5, 0.45, 0.3}, {5, 3, 0.05, 0.05}, {2, 1, 0.5, 0}} {
		r := rand.New(rand.NewPCG(7, 4))
		drops, rises := 0, 0
		for range series {
			var n NightTest
			rates, drop, rise := s.rates(r), 0.0, 0.0
			for range nights {
				n.Add(s.cells(r, rates, 1))
				drop, rise = math.Max(drop, n.DropE()), math.Max(rise, n.RiseE())
			}
			if drop >= 10 {
				drops++
			}
			if rise >= 10 {
				rises++
			}
		}
		t.Logf("%+v: E ever reached 10 for a drop in %d and for a rise in %d of %d series", s, drops, rises, series)
		if limit := series / 10; drops > limit || rises > limit {
			t.Errorf("%+v: false drops %d, rises %d, want at most %d", s, drops, rises, limit)
		}
	}
}

func TestNightPower(t *testing.T) {
	const series, quiet, limit = 60, 20, 20 / 0.05 // 20 hypotheses
	s := nightly{20, 5, 0.45, 0.3}
	r := rand.New(rand.NewPCG(7, 5))
	found := 0
	for range series {
		var n NightTest
		rates := s.rates(r)
		for range quiet {
			n.Add(s.cells(r, rates, 1))
		}
		for range 5 {
			n.Add(s.cells(r, rates, 0.35/0.45))
			if n.DropE() >= limit {
				found++
				break
			}
		}
		if n.RiseE() > 1 {
			t.Errorf("after a drop the evidence of a rise is %g", n.RiseE())
		}
	}
	t.Logf("found a drop of 10 points within 5 nights in %d of %d series", found, series)
	if found < series*9/10 {
		t.Errorf("found a drop of 10 points within 5 nights in %d of %d series", found, series)
	}
}

// TestNightlyFDR rejects with EBH every night among 20 tools of which two drop, and
// counts false rejections at the last night.
func TestNightlyFDR(t *testing.T) {
	const boards, tools, quiet, after = 25, 20, 10, 10
	s := nightly{5, 5, 0.45, 0.3}
	r := rand.New(rand.NewPCG(7, 6))
	share, found := 0.0, 0
	for range boards {
		e := make([]float64, tools)
		for k := range e {
			var n NightTest
			rates := s.rates(r)
			for range quiet {
				n.Add(s.cells(r, rates, 1))
			}
			factor := 1.0
			if k < 2 {
				factor = 0.4
			}
			for range after {
				n.Add(s.cells(r, rates, factor))
			}
			e[k] = n.DropE()
		}
		all, wrong := 0.0, 0.0
		for k, rejected := range EBH(e, 0.05) {
			if rejected {
				all++
				if k >= 2 {
					wrong++
				} else {
					found++
				}
			}
		}
		share += wrong / math.Max(1, all) / boards
	}
	if share > 0.05 || found < boards*2*9/10 {
		t.Errorf("share of false rejections %.3f; %d of %d drops found", share, found, boards*2)
	}
}

func TestNightTestOfFewCells(t *testing.T) {
	cell := func(family string, picks, trials int) NightCell { return NightCell{family, "a", picks, trials} }
	var n, split NightTest
	if n.DropE() != 1 || n.RiseE() != 1 {
		t.Errorf("before any night: %g, %g", n.DropE(), n.RiseE())
	}
	n.Add([]NightCell{cell("x", 5, 5), cell("y", 2, 2)})
	n.Add([]NightCell{cell("z", 0, 5), cell("x", 0, 0)})
	if n.DropE() != 1 || n.RiseE() != 1 {
		t.Errorf("without a reference: %g, %g", n.DropE(), n.RiseE())
	}
	split.Add([]NightCell{cell("x", 3, 3), cell("x", 2, 2), cell("y", 2, 2), cell("z", 0, 5)})
	n.Add([]NightCell{cell("x", 0, 5)})
	split.Add([]NightCell{cell("x", 0, 2), cell("x", 0, 3)})
	if n.DropE() <= 1 || n.RiseE() >= 1 || n.DropE() != split.DropE() {
		t.Errorf("5 of 5, then 0 of 5: drop %g, rise %g; in parts %g", n.DropE(), n.RiseE(), split.DropE())
	}
	// By hand: p = 1/C(10,5), z = 2.6523, one night of weight 1/21.
	z := -NormalQuantile(1. / 252)
	want := 20./21 + (math.Exp(z-0.5)/4+math.Exp(2*z-2)*3/4)/21
	if math.Abs(n.DropE()-want) > 1e-9 {
		t.Errorf("drop %g, want %g", n.DropE(), want)
	}
}

// TestNightFactorsAverageToOne integrates E over two uniform p-values.
func TestNightFactorsAverageToOne(t *testing.T) {
	const step = 0.1
	one, two := 0.0, 0.0
	for x := -8.0; x < 8; x += step {
		for y := -8.0; y < 8; y += step {
			weight := math.Exp(-(x*x+y*y)/2) / (2 * math.Pi) * step * step
			var m startMixture
			m.add(math.Erfc(x/math.Sqrt2)/2, 1)
			one += weight * m.e(1)
			m.add(math.Erfc(y/math.Sqrt2)/2, 2)
			two += weight * m.e(2)
		}
	}
	within(t, "mean after one night", one, 1, 1e-4)
	within(t, "mean after two nights", two, 1, 1e-4)
}

func TestNightBreak(t *testing.T) {
	s := nightly{20, 5, 0.5, 0}
	r := rand.New(rand.NewPCG(7, 7))
	rates := s.rates(r)
	var n NightTest
	for range 10 {
		n.Add(s.cells(r, rates, 1))
	}
	with, before := n, n.DropE()
	with.Break()
	n.reference = nil // with shares the map
	for night := range 10 {
		with.Add(s.cells(r, rates, 0.5))
		if night == 0 && with.DropE() != before {
			t.Errorf("the first night of a segment changed the evidence from %g to %g", before, with.DropE())
		}
	}
	if with.DropE() > 20 {
		t.Errorf("a drop across a break has evidence %g", with.DropE())
	}
}

func TestNightTestStaysFinite(t *testing.T) {
	var n NightTest
	for night := range 400 {
		picks := 0
		if night < 200 {
			picks = 1000
		}
		n.Add([]NightCell{{"x", "a", picks, 1000}})
	}
	if e := n.DropE(); math.IsInf(e, 0) || math.IsNaN(e) || e < 1e50 {
		t.Errorf("evidence %g", e)
	}
	if e := n.RiseE(); math.IsNaN(e) || e <= 0 || e > 1 {
		t.Errorf("evidence of a rise %g", e)
	}
}

func BenchmarkNightTest(b *testing.B) {
	s := nightly{20, 5, 0.45, 0.3}
	r := rand.New(rand.NewPCG(7, 8))
	cells := s.cells(r, s.rates(r), 1)
	var n NightTest
	for b.Loop() {
		n.Add(cells)
	}
}
