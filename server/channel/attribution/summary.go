package attribution

import (
	"cmp"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/fixtures/sorting"
)

// Totals are sums over credited conversions.
type Totals struct {
	Kinds    []KindTotal     // by kind; refunds are money only and not among them
	Revenue  []Revenue       // by currency
	Families []FamilyTotal   // those with credit, most conversions first
	Problems map[Problem]int // refunds with a problem
}

// A KindTotal counts the conversions of a kind.
type KindTotal struct {
	Kind        string
	Total       int
	AgentDriven Count
	Assisted    int // an agent competed, but the model credits no agent
	Possible    int // inferred; in neither of the others
}

// Revenue is money of one currency, in minor units. Total and AgentDriven are
// net of refunds; Refunded and AgentRefunded are the deducted amounts.
type Revenue struct {
	Currency                string
	Total, AgentDriven      int64
	Refunded, AgentRefunded int64
}

// A FamilyTotal is the credit of one family.
type FamilyTotal struct {
	Family      string
	Conversions Count
	Kinds       map[string]Count // adds up to Conversions
	Revenue     []Money          // by currency
	Evidence    map[string]Count // adds up to Conversions
}

// Money is an amount in minor units; Net is the amount less Refunded.
type Money struct {
	Currency      string
	Net, Refunded int64
}

// Summary adds up credited conversions.
func Summary(credited []Credited) Totals {
	kinds := map[string]*KindTotal{}
	revenue := map[string]*Revenue{}
	families := map[string]*FamilyTotal{}
	t := Totals{Problems: map[Problem]int{}}
	for i := range credited {
		c := &credited[i]
		if c.Problem != "" {
			t.Problems[c.Problem]++
		}
		if c.Kind != Refund {
			of(kinds, c.Kind, func() *KindTotal { return &KindTotal{Kind: c.Kind} }).add(c)
		}
		if c.Applied != 0 {
			of(revenue, c.Currency, func() *Revenue { return &Revenue{Currency: c.Currency} }).add(c)
		}
		for j := range c.Shares {
			if s := &c.Shares[j]; s.Family != NoAgent {
				of(families, s.Family, func() *FamilyTotal {
					return &FamilyTotal{Family: s.Family, Kinds: map[string]Count{}, Evidence: map[string]Count{}}
				}).add(c, s)
			}
		}
	}
	for _, k := range kinds {
		t.Kinds = append(t.Kinds, *k)
	}
	for _, r := range revenue {
		t.Revenue = append(t.Revenue, *r)
	}
	for _, f := range families {
		sorting.Func(f.Revenue, func(a, b Money) int { return strings.Compare(a.Currency, b.Currency) })
		t.Families = append(t.Families, *f)
	}
	sorting.Func(t.Kinds, func(a, b KindTotal) int { return strings.Compare(a.Kind, b.Kind) })
	sorting.Func(t.Revenue, func(a, b Revenue) int { return strings.Compare(a.Currency, b.Currency) })
	sorting.Func(t.Families, func(a, b FamilyTotal) int {
		return cmp.Or(cmp.Compare(b.Conversions, a.Conversions), strings.Compare(a.Family, b.Family))
	})
	return t
}

// of returns the value of a key, a fresh one if need be.
func of[K comparable, V any](m map[K]*V, key K, fresh func() *V) *V {
	v, ok := m[key]
	if !ok {
		v = fresh()
		m[key] = v
	}
	return v
}

func (k *KindTotal) add(c *Credited) {
	k.Total++
	k.AgentDriven += c.AgentCount()
	if c.Assisted {
		k.Assisted++
	}
	if c.Possible != nil {
		k.Possible++
	}
}

func (r *Revenue) add(c *Credited) {
	r.Total += c.Applied
	agents := int64(0)
	for _, s := range c.Shares {
		if s.Family != NoAgent {
			agents += s.Value
		}
	}
	r.AgentDriven += agents
	if c.Kind == Refund {
		r.Refunded -= c.Applied
		r.AgentRefunded -= agents
	}
}

func (f *FamilyTotal) add(c *Credited, s *Share) {
	if c.Kind != Refund {
		f.Conversions += s.Count
		f.Kinds[c.Kind] += s.Count
		f.Evidence[s.Evidence] += s.Count
	}
	f.Revenue = addMoney(f.Revenue, c, s.Value)
}

// addMoney adds a part of a conversion to sums by currency.
func addMoney(sums []Money, c *Credited, value int64) []Money {
	if value == 0 {
		return sums
	}
	i := slices.IndexFunc(sums, func(m Money) bool { return m.Currency == c.Currency })
	if i < 0 {
		i = len(sums)
		sums = append(sums, Money{Currency: c.Currency})
	}
	sums[i].Net += value
	if c.Kind == Refund {
		sums[i].Refunded -= value
	}
	return sums
}
