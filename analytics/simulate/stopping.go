package main

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/analytics/stopping"
)

// mostFamilies ends a run without a verdict.
const mostFamilies = 200

// led returns the rates of twelve tools, of which two lead.
func led(first, second float64) [][]float64 {
	rates := []float64{first, second}
	for rest := 0.8 * (1 - first - second); len(rates) < 12; rest /= 2 {
		rates = append(rates, rest/2)
	}
	return [][]float64{rates, rates, rates, rates}
}

// until runs an eval of four agents and two repeats until a verdict, with a look after
// every family. It returns the verdict and the number of families.
func (w *world) until(r *rand.Rand, text string) (verdict string, families int) {
	var slugs []string
	for i := range w.shares[0] {
		slugs = append(slugs, slug(i))
	}
	rule, err := stopping.Parse(text, slugs)
	if err != nil {
		panic(err) // a rule of this file
	}
	d, all := stopping.New(rule), w.draw(r)
	for g := range w.families {
		means := make([]float64, len(slugs))
		for _, c := range all.Cells[g*len(w.shares) : (g+1)*len(w.shares)] {
			for i, s := range slugs {
				means[i] += float64(c.Picks(s)) / float64(c.Trials*len(w.shares))
			}
		}
		d.Add(means)
		if v, ok := d.Decided(); ok {
			return v.Text, g + 1
		}
	}
	return "", w.families
}

func stops(n int, seed uint64) (out []Line) {
	for _, rule := range []string{"decided", "rank(t00) <= 1", "rank(t00) > 1"} {
		for _, k := range []int{2, 6} {
			w := &world{shares: equal(k, 4), icc: .3, shared: .8, families: mostFamilies, repeats: always(2)}
			out = append(out, repeat("a run of equal tools ends with a verdict on the first", fmt.Sprintf("%s, %d tools", rule, k), n, seed, 0, .05, func(r *rand.Rand) bool {
				verdict, _ := w.until(r, rule)
				return verdict != "" && (rule == "decided" || rightly(rule, verdict))
			}))
		}
	}
	for _, rates := range [][2]float64{{.5, .2}, {.45, .25}} {
		out = append(out, cheaper(n, seed, rates))
	}
	return out
}

// rightly reports whether a verdict claims that the first of equal tools is ahead, or behind.
func rightly(rule, verdict string) bool {
	return strings.HasPrefix(verdict, rule) && strings.HasSuffix(verdict, " is met")
}

// cheaper compares the families that a rule takes with those of the smallest board that
// shows the same as often, or in 90 % of cases: the rule nearly always comes to a verdict.
func cheaper(n int, seed uint64, rates [2]float64) Line {
	w := &world{shares: led(rates[0], rates[1]), icc: .3, shared: .8, families: mostFamilies, repeats: always(2)}
	var taken, met float64
	for i := range n {
		verdict, families := w.until(rand.New(rand.NewPCG(seed, uint64(i))), "rank(t00) <= 1") //nolint:gosec // seeded on purpose
		taken += float64(families) / float64(n)
		if verdict != "" {
			met += 1 / float64(n)
		}
	}
	fixed := 10
	for ; fixed < 2*mostFamilies; fixed += 2 + fixed/10 {
		w.families = fixed
		power := repeat("fixed", fmt.Sprint(rates, fixed), n, seed, 0, 1, func(r *rand.Rand) bool {
			b := analytics.Rank(w.draw(r))
			return standing(&b, 0).RankHigh == 1
		})
		if power.Value >= min(met, .9) {
			break
		}
	}
	what := fmt.Sprintf("%g against %g: %.0f families for a power of %.0f %%, a fixed design of 90 %% takes %d", rates[0], rates[1], taken, 100*met, fixed)
	return Line{Group: "trials of a run that stops, as a share of a fixed design with a power of 90 %", What: what, Value: taken / float64(fixed), High: .5}
}
