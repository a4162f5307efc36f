package stopping_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/firstpick/firstpick/analytics/stats"
	"github.com/firstpick/firstpick/analytics/stopping"
)

// The simulated evals have 4 agents, 2 repeats and up to 200 families, whose rates are drawn
// from a Dirichlet distribution with the intraclass correlation icc.
const (
	agents, repeats = 4, 2
	icc             = 0.3
	most            = 200
)

// family draws the picks of tools by agent in one family.
func family(r *rand.Rand, rates []float64) [][]int {
	weights, total, rest := make([]float64, len(rates)+1), 0.0, 1.0
	for i := range weights {
		rate := rest
		if i < len(rates) {
			rate = rates[i]
		}
		rest -= rate
		if rate > 1e-12 {
			weights[i] = distuv.Gamma{Alpha: rate * (1 - icc) / icc, Beta: 1, Src: r}.Rand()
		}
		total += weights[i]
	}
	picks := make([][]int, len(rates))
	for i := range picks {
		picks[i] = make([]int, agents)
	}
	for trial := range agents * repeats {
		u := r.Float64() * total
		for i := range picks {
			if u < weights[i] {
				picks[i][trial%agents]++
				break
			}
			u -= weights[i]
		}
	}
	return picks
}

// field returns the rates of twelve tools, of which two lead.
func field(first, second float64) []float64 {
	rates := []float64{first, second}
	for rest := 0.8 * (1 - first - second); len(rates) < 12; rest /= 2 {
		rates = append(rates, rest/2)
	}
	return rates
}

func slugs(n int) (out []string) {
	for i := range n {
		out = append(out, fmt.Sprint("t", i))
	}
	return out
}

// looks runs evals until a verdict or the last family, with a look after each one. It
// returns the shares of evals by verdict, and the mean number of families.
func looks(t *testing.T, text string, rates []float64, evals int) (map[string]float64, float64) {
	t.Helper()
	rule, err := stopping.Parse(text, slugs(len(rates)))
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(11, 4))
	shares, mean := map[string]float64{}, 0.0
	for range evals {
		d := stopping.New(rule)
		for n, ok := 0, false; n < most && !ok; n++ {
			means := make([]float64, len(rates))
			for i, row := range family(r, rates) {
				for _, picks := range row {
					means[i] += float64(picks) / (agents * repeats)
				}
			}
			d.Add(means)
			mean += 1 / float64(evals)
			_, ok = d.Decided()
		}
		if v, ok := d.Decided(); ok {
			shares[v.Text] += 1 / float64(evals)
		}
	}
	t.Logf("%s: mean %.1f families, %v", text, mean, shares)
	return shares, mean
}

func TestAtMostFivePercentOfVerdictsAreWrong(t *testing.T) {
	even := make([]float64, 6)
	for i := range even {
		even[i] = 0.15
	}
	for name, rates := range map[string][]float64{"all are equal": even, "two lead": field(0.35, 0.35)} {
		for _, rule := range []string{"decided", "rank(t0) <= 1", "rank(t0) > 1", fmt.Sprintf("pickRate(t0) >= %g", rates[0])} {
			shares, _ := looks(t, rule, rates, 120)
			sum := 0.0
			for verdict, share := range shares {
				if sum += share; share > stopping.Error || rule == "decided" && sum > stopping.Error {
					t.Errorf("%s: %.1f %% of the runs end with %q", name, 100*share, verdict)
				}
			}
		}
	}
}

// boards returns the share of boards with a fixed number of families that show the first
// tool ahead of all others.
func boards(rates []float64, families, evals int) float64 {
	r := rand.New(rand.NewPCG(7, 5))
	shown := 0.0
	for range evals {
		var trials [][]int
		picks := make([][]int, len(rates))
		for range families {
			trials = append(trials, []int{repeats, repeats, repeats, repeats})
			for i, row := range family(r, rates) {
				picks[i] = append(picks[i], row...)
			}
		}
		d := stats.NewDesign(trials, nil)
		var estimates []stats.Estimate
		var intervals []stats.Rate
		for _, p := range picks {
			e := d.Estimate(p)
			estimates, intervals = append(estimates, e), append(intervals, d.Rate(e))
		}
		if d.Compare(estimates, intervals).Ranks()[0].High == 1 {
			shown += 1 / float64(evals)
		}
	}
	return shown
}

// TestStoppingHalvesTheTrials compares with boards of twice as many families: they show less
// often what the rule shows nearly always.
func TestStoppingHalvesTheTrials(t *testing.T) {
	for _, rates := range [][]float64{field(0.5, 0.2), field(0.45, 0.25)} {
		shares, mean := looks(t, "rank(t0) <= 1", rates, 150)
		power := boards(rates, int(2*mean), 100)
		t.Logf("rates %.2f and %.2f: boards of %d families show it in %.0f %%", rates[0], rates[1], int(2*mean), 100*power)
		if met := shares["rank(t0) <= 1 is met"]; met < 0.95 || power > 0.9 {
			t.Errorf("rates %.2f and %.2f: met in %.2f; boards of twice the size show it in %.2f", rates[0], rates[1], met, power)
		}
	}
}
