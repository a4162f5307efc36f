package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Equal rates are the hardest case of the hypothesis: E reaches 1/alpha in at most alpha of
// the series, whatever the prompts' own rates are.
func TestLeadTestHoldsItsLevel(t *testing.T) {
	const series, nights, trials = 400, 200, 40
	r := rand.New(rand.NewPCG(11, 1))
	ever := 0
	for range series {
		var lead LeadTest
		most := 0.0
		for range nights {
			first, second := 0, 0
			for i := range trials {
				own := 0.2 + 0.6*float64(i%2) // of a trial that picks one of the two
				if r.Float64() < 0.7 {
					if r.Float64() < own {
						first++
					} else {
						second++
					}
				}
			}
			lead.Add(first, second)
			most = math.Max(most, lead.E())
		}
		if most >= 10 {
			ever++
		}
	}
	t.Logf("E ever reached 10 in %d of %d series of equal rates", ever, series)
	if ever > series/10 {
		t.Errorf("E ever reached 10 in %d of %d series of equal rates", ever, series)
	}
}

func TestLeadTestFindsALeadThatBeginsLate(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 2))
	var lead LeadTest
	for night := range 200 {
		own := 0.35
		if night >= 150 {
			own = 0.65
		}
		first, second := 0, 0
		for range 60 {
			if r.Float64() < own {
				first++
			} else {
				second++
			}
		}
		lead.Add(first, second)
		if e := lead.E(); night < 150 && e > 20 || night == 160 && e < 400 {
			t.Fatalf("night %d: E is %g", night, e)
		}
	}
}
