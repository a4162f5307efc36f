package label

import (
	"cmp"
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/firstpick/firstpick/fixtures/sorting"
)

// An Item is a trial that may be drawn.
type Item struct {
	Trial string
	// Stratum is what is drawn in proportion. Size is how much likelier than others the
	// trial is drawn, above 0.
	Stratum string
	Size    float64
}

// Draw draws n of the items without replacement, or all of them if there are fewer, with
// probabilities in proportion to their sizes: systematic sampling from the items in the
// order of their strata, at random within each (Madow 1949; Särndal, Swensson and Wretman
// 1992, section 3.6). Each stratum gets its share, up to rounding, and there may be more
// strata than draws. The same arguments give the same sample; its order is random.
func Draw(items []Item, n int, seed uint64) []Drawn {
	r := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // a sample that can be drawn again
	items = slices.Clone(items)
	sorting.Func(items, func(a, b Item) int { return cmp.Compare(a.Trial, b.Trial) })
	r.Shuffle(len(items), func(i, j int) { items[i], items[j] = items[j], items[i] })
	strata := map[string][]Item{}
	for _, item := range items {
		strata[item.Stratum] = append(strata[item.Stratum], item)
	}
	items = items[:0]
	for _, stratum := range slices.Sorted(maps.Keys(strata)) {
		items = append(items, strata[stratum]...)
	}
	probabilities := probabilities(items, n)
	start, sum := r.Float64(), 0.0
	var out []Drawn
	for i, p := range probabilities {
		sum += p
		if p == 1 || sum > start+float64(len(out)) {
			out = append(out, Drawn{items[i].Trial, p, items[i].Stratum})
		}
	}
	r.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

// probabilities returns those of the items: n times the share of the size. A trial that
// would have more than 1 is drawn for certain, and the others share what is left.
func probabilities(items []Item, n int) []float64 {
	out := make([]float64, len(items))
	for certain := -1; ; {
		left, sum, before := float64(n), 0.0, certain
		for i, item := range items {
			if out[i] == 1 {
				left--
			} else {
				sum += item.Size
			}
		}
		certain = 0
		for i, item := range items {
			if out[i] != 1 {
				out[i] = min(1, left*item.Size/sum)
			}
			if out[i] == 1 {
				certain++
			}
		}
		if certain == before || certain == len(items) {
			return out
		}
	}
}
