package forecast

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/analytics/stats"
)

const (
	// fewPrompts is from how many prompts on a pilot is believed: a variance between
	// three of them may be anything.
	fewPrompts = 10
	// pilotRange is the share of pilots whose range holds the right answer.
	pilotRange = 0.80
)

// A Pilot is what earlier trials of a category show about its two most picked tools.
type Pilot struct {
	// Prompts counts the prompts; phrasings of one family are one.
	Prompts int
	// Second is as in Field. ICC is the share of the variance of the difference that lies
	// between prompts, 0 to 1.
	Second, ICC float64
	// low and high are the ends of the ICC's own range.
	low, high float64
	// without are the estimates without one prompt each.
	without []Pilot
}

// counts are the trials of one prompt family, and how many of them picked the two tools.
type counts struct{ trials, first, second int }

// PilotOf reads the pilot from cells of one category. families holds the family of a prompt
// by its name in cells; without one, a prompt is a family of its own. It is nil where
// families are too few, or fewer than two tools were picked.
func PilotOf(cells []analytics.Cell, families map[string]string) *Pilot {
	picks := map[string]int{}
	for _, c := range cells {
		for _, t := range c.Tools {
			picks[t.Slug] += t.Picks
		}
	}
	slugs := slices.SortedFunc(maps.Keys(picks), func(a, b string) int {
		return cmp.Or(cmp.Compare(picks[b], picks[a]), strings.Compare(a, b))
	})
	if len(slugs) < 2 {
		return nil
	}
	byFamily := map[string]counts{}
	for _, c := range cells {
		key := "prompt " + c.Prompt
		if families[c.Prompt] != "" {
			key = "family " + families[c.Prompt]
		}
		n := byFamily[key]
		n.trials, n.first, n.second = n.trials+c.Trials, n.first+c.Picks(slugs[0]), n.second+c.Picks(slugs[1])
		byFamily[key] = n
	}
	var prompts []counts
	for _, key := range slices.Sorted(maps.Keys(byFamily)) {
		if n := byFamily[key]; n.trials > 0 {
			prompts = append(prompts, n)
		}
	}
	if len(prompts) < fewPrompts {
		return nil
	}
	p, ok := estimate(prompts)
	if !ok {
		return nil
	}
	for i := range prompts {
		// Without this prompt there may be no second tool left, or no repeats.
		if w, ok := estimate(slices.Concat(prompts[:i], prompts[i+1:])); ok {
			p.without = append(p.without, w)
		}
	}
	return &p
}

// estimate is the pilot of these prompts; false where they have no second tool, or no
// repeats.
func estimate(prompts []counts) (Pilot, bool) {
	var all counts
	clusters := make([]stats.Cluster, len(prompts))
	for i, n := range prompts {
		all.trials, all.first, all.second = all.trials+n.trials, all.first+n.first, all.second+n.second
		clusters[i] = stats.Cluster{Sum: float64(n.first - n.second), Squares: float64(n.first + n.second), N: n.trials}
	}
	spread, ok := stats.SpreadOf(clusters)
	if !ok || all.second == 0 || spread.Between+spread.Within == 0 {
		return Pilot{}, false
	}
	p := Pilot{Prompts: len(prompts), ICC: spread.Rho(), Second: float64(all.second) / float64(all.trials-all.first)}
	p.low, p.high = stats.RhoRange(clusters, pilotRange)
	return p, true
}

// detectable is Detectable of the pilot's field with a range that holds the right answer
// for 80 % of pilots. It is the wider one of two. The jackknife over prompts (Efron and
// Tibshirani 1993, chapter 11), of the logarithm, includes the shares of the tools, but is
// too narrow where hardly any variance lies between prompts; the range of the ICC is too
// narrow where most of it does. In simulations it holds 71 to 90 %. Ends are infinite
// where no difference is shown.
func (p *Pilot) detectable(tools, prompts, trials int) (d, low, high float64) {
	at := func(p *Pilot, icc float64) float64 { return Field{tools, p.Second}.Detectable(prompts, trials, icc) }
	d, low, high = at(p, p.ICC), at(p, p.low), at(p, p.high)
	n, sum, squares := float64(len(p.without)), 0.0, 0.0
	for i := range p.without {
		v := math.Log(at(&p.without[i], p.without[i].ICC))
		sum, squares = sum+v, squares+v*v
	}
	half := stats.TQuantile((1+pilotRange)/2, n-1) * math.Sqrt((n-1)/n*max(0, squares-sum*sum/n))
	if math.IsInf(sum, 1) || d*math.Exp(half) >= 1 { // less than all of the trials do not do
		return d, min(low, d*math.Exp(-half)), math.Inf(1)
	}
	return d, min(low, d*math.Exp(-half)), max(high, d*math.Exp(half))
}
