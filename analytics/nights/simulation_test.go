package nights_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/analytics/nights"
)

// A design is a category of tools whose rates differ between prompts.
type design struct{ tools, agents, prompts, repeats int }

// rates draws the rates of the tools on each prompt; one trial in twenty picks none.
func (d design) rates(r *rand.Rand) [][]float64 {
	out := make([][]float64, d.prompts)
	for p := range out {
		sum := 0.0
		out[p] = make([]float64, d.tools)
		for i := range out[p] {
			out[p][i] = r.ExpFloat64() / float64(i+1)
			sum += out[p][i]
		}
		for i := range out[p] {
			out[p][i] *= 0.95 / sum
		}
	}
	return out
}

func (d design) night(r *rand.Rand, rates [][]float64, number int) nights.Night {
	at := time.Date(2026, 1, 1+number, 0, 0, 0, 0, time.UTC)
	n := nights.Night{At: at, Prompts: map[string]string{}, Models: map[string]string{}}
	for i := range d.tools {
		n.Board.Tools = append(n.Board.Tools, analytics.Standing{Slug: fmt.Sprint("t", i)})
	}
	for p := range d.prompts {
		for a := range d.agents {
			for k := range d.repeats {
				t := nights.Trial{ID: fmt.Sprint(p, "/", a, "/", k), FinishedAt: at, Prompt: fmt.Sprint("e/", p), Agent: fmt.Sprint("a", a)}
				x := r.Float64()
				for i, rate := range rates[p] {
					if x -= rate; x < 0 {
						t.Picked = n.Board.Tools[i].Slug
						break
					}
				}
				n.Trials = append(n.Trials, t)
			}
		}
	}
	return n
}

// tries is the number of series without a change. FIRSTPICK_TRIES=1000 gives the figures
// of /docs/history.
func tries(t *testing.T) int {
	t.Helper()
	n, err := strconv.Atoi(os.Getenv("FIRSTPICK_TRIES"))
	if err != nil {
		return 25
	}
	return n
}

func TestSimulatedSeriesWithoutAChange(t *testing.T) {
	d, r, n := design{6, 3, 10, 3}, rand.New(rand.NewPCG(1, 2)), tries(t)
	ever := 0
	for range n {
		h, rates, shown := nights.New("c"), d.rates(r), false
		for number := range 60 {
			h.Add(d.night(r, rates, number))
			for _, tool := range h.Series().Nights[number].Tools {
				shown = shown || len(tool.Shown) > 0
			}
		}
		if shown {
			ever++
		}
	}
	t.Logf("a change was shown on some night in %d of %d series", ever, n)
	if ever > n/20 {
		t.Errorf("a change was shown in %d of %d series without one", ever, n)
	}
}

func TestSimulatedDrops(t *testing.T) {
	const quiet, after = 15, 15
	d, r, n := design{12, 3, 20, 3}, rand.New(rand.NewPCG(3, 4)), max(10, tries(t)/10)
	for _, loss := range []float64{0.2, 0.3, 0.5} {
		found, delay := 0, 0
		for range n {
			h, rates := nights.New("c"), d.rates(r)
			for number := range quiet + after {
				if number == quiet {
					for _, p := range rates {
						p[0], p[1] = p[0]*(1-loss), p[1]+p[0]*loss
					}
				}
				h.Add(d.night(r, rates, number))
				if s := h.Series().Nights[number].Tools[0].Shown; number >= quiet && len(s) > 0 && s[0].Direction == nights.Drop {
					found, delay = found+1, delay+number-quiet+1
					break
				}
			}
		}
		t.Logf("a loss of %.0f %% was shown in %d of %d series, after %.1f nights on average", 100*loss, found, n, float64(delay)/float64(max(1, found)))
		if loss == 0.5 && found < n {
			t.Errorf("a loss of half the rate was shown in %d of %d series", found, n)
		}
	}
}
