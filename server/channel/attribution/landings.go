package attribution

import (
	"cmp"
	"slices"

	"github.com/firstpick/firstpick/fixtures/sorting"
)

// A LandingTotal is the credit of the visits to one page.
type LandingTotal struct {
	Host, Path  string
	Conversions Count
	Kinds       map[string]Count // adds up to Conversions
	Families    []string         // sorted
}

// Landings adds up conversions, without refunds, by the page of the credited visits. It
// counts the families among the shares alone, so totals agree with those of Summary up to
// thousandths.
func Landings(credited []Credited, m Model) []LandingTotal {
	type page struct{ host, path string }
	pages := map[page]*LandingTotal{}
	var entries []entry
	var weights []uint64
	for i := range credited {
		c := &credited[i]
		if c.Kind == Refund || len(c.Touches) == 0 {
			continue
		}
		entries, weights = entries[:0], weights[:0]
		for i, t := range c.Touches {
			entries = append(entries, entry{at: t.At.UnixMicro(), touch: int32(i)})
		}
		last := m.lastOf(entries)
		for i := range entries {
			weights = append(weights, m.weight(i, len(entries), last))
		}
		counts := make([]int64, len(weights))
		split(int64(Whole), weights, counts)
		for i, n := range counts {
			t := c.Touches[i]
			family := t.credited()
			if n == 0 || family == NoAgent || !slices.ContainsFunc(c.Shares, func(s Share) bool { return s.Family == family }) {
				continue
			}
			at := of(pages, page{t.Host, t.Path}, func() *LandingTotal {
				return &LandingTotal{Host: t.Host, Path: t.Path, Kinds: map[string]Count{}}
			})
			at.Conversions += Count(n)
			at.Kinds[c.Kind] += Count(n)
			if !slices.Contains(at.Families, family) {
				at.Families = append(at.Families, family)
			}
		}
	}
	out := make([]LandingTotal, 0, len(pages))
	for _, t := range pages {
		slices.Sort(t.Families)
		out = append(out, *t)
	}
	sorting.Func(out, func(a, b LandingTotal) int {
		return cmp.Or(cmp.Compare(b.Conversions, a.Conversions), cmp.Compare(a.Host, b.Host), cmp.Compare(a.Path, b.Path))
	})
	return out
}
