package attribution

import (
	"cmp"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/fixtures/sorting"
)

// A LandingTotal is the credit of the visits to one page.
type LandingTotal struct {
	Host, Path  string
	Conversions Count            // without refunds
	Kinds       map[string]Count // adds up to Conversions
	Families    []string         // sorted
	Revenue     []Money          // by currency
}

// Landings adds up conversions by the page of the credited visits. It counts the families among
// the shares alone, so totals agree with those of Summary.
func Landings(credited []Credited, m Model) []LandingTotal {
	type page struct{ host, path string }
	pages := map[page]*LandingTotal{}
	d := divider{model: m}
	for i := range credited {
		c := &credited[i]
		d.divide(c, func(t *Touch, s Share) {
			if c.Kind == Refund && s.Value == 0 {
				return
			}
			of(pages, page{t.Host, t.Path}, func() *LandingTotal {
				return &LandingTotal{Host: t.Host, Path: t.Path, Kinds: map[string]Count{}}
			}).add(c, s)
		})
	}
	out := make([]LandingTotal, 0, len(pages))
	for _, t := range pages {
		slices.Sort(t.Families)
		sorting.Func(t.Revenue, func(a, b Money) int { return strings.Compare(a.Currency, b.Currency) })
		out = append(out, *t)
	}
	sorting.Func(out, func(a, b LandingTotal) int {
		return cmp.Or(cmp.Compare(b.Conversions, a.Conversions), cmp.Compare(a.Host, b.Host), cmp.Compare(a.Path, b.Path))
	})
	return out
}

func (l *LandingTotal) add(c *Credited, s Share) {
	if c.Kind != Refund {
		l.Conversions += s.Count
		l.Kinds[c.Kind] += s.Count
	}
	if !slices.Contains(l.Families, s.Family) {
		l.Families = append(l.Families, s.Family)
	}
	l.Revenue = addMoney(l.Revenue, c, s.Value)
}

// OnPages leaves the conversions of which a visit to some pages has or possibly has a share, with
// the shares of these visits alone.
func OnPages(credited []Credited, m Model, on func(host, path string) bool) []Credited {
	var out []Credited
	d := divider{model: m}
	for i := range credited {
		c := credited[i]
		var shares []Share
		d.divide(&c, func(t *Touch, s Share) {
			if !on(t.Host, t.Path) {
				return
			}
			i := slices.IndexFunc(shares, func(has Share) bool { return has.Family == s.Family })
			if i < 0 {
				shares = append(shares, s)
				return
			}
			shares[i].Count, shares[i].Value = shares[i].Count+s.Count, shares[i].Value+s.Value
			if level(s.Evidence) < level(shares[i].Evidence) {
				shares[i].Evidence = s.Evidence
			}
		})
		switch {
		case len(shares) > 0:
			c.Shares = shares
			c.Evidence = slices.MinFunc(shares, func(a, b Share) int { return cmp.Compare(level(a.Evidence), level(b.Evidence)) }).Evidence
		case c.Possible == nil || !on(c.Possible.Landing.Host, c.Possible.Landing.Path):
			continue
		}
		out = append(out, c)
	}
	return out
}

// A divider divides conversions among touches. It reuses its memory.
type divider struct {
	model         Model
	entries       []entry
	touches       []*Touch
	weights       []uint64
	counts, money []int64
}

// divide passes the touches that the model credits, each with its part of the share of its
// family; the parts of a family add up to its share. Shares without an agent have none.
func (d *divider) divide(c *Credited, each func(*Touch, Share)) {
	d.entries = d.entries[:0]
	for i, t := range c.Touches {
		d.entries = append(d.entries, entry{at: t.At.UnixMicro(), touch: int32(i)})
	}
	last := d.model.lastOf(d.entries)
	for _, s := range c.Shares {
		if s.Family == NoAgent {
			continue
		}
		d.touches, d.weights = d.touches[:0], d.weights[:0]
		for i, t := range c.Touches {
			if w := d.model.weight(i, len(c.Touches), last); w > 0 && t.credited() == s.Family {
				d.touches, d.weights = append(d.touches, t), append(d.weights, w)
			}
		}
		n := len(d.weights)
		if n == 0 {
			continue
		}
		d.counts, d.money = slices.Grow(d.counts[:0], n)[:n], slices.Grow(d.money[:0], n)[:n]
		split(int64(s.Count), d.weights, d.counts)
		split(s.Value, d.weights, d.money)
		for i, t := range d.touches {
			each(t, Share{Family: s.Family, Evidence: t.Evidence, Count: Count(d.counts[i]), Value: d.money[i]})
		}
	}
}
