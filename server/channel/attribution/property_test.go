package attribution

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"
)

// invent returns a world in which everything happens often: ties, shared
// devices, refunds of refunds, edges of windows.
func invent(r *rand.Rand) story {
	var s story
	name := func(kind string, of int) string {
		if n := r.IntN(of + 1); n > 0 {
			return fmt.Sprint(kind, n)
		}
		return ""
	}
	pick := func(words ...string) string { return words[r.IntN(len(words))] }
	size := 1 + r.IntN(8)
	at := func() time.Time {
		return t0.Add(time.Duration(r.IntN(40)-20) * []time.Duration{time.Second, 10 * time.Minute, 5 * 24 * time.Hour}[r.IntN(3)])
	}
	for range r.IntN(60) {
		s.touches = append(s.touches, Touch{
			ID: name("t", 5), At: at(), Visitor: name("v", size), Identity: name("p", size),
			Family: name("F", 4), Agent: name("agent", 1),
			Class:    pick("", "browser", "browser", "user_fetch", "training_crawler", "http_library"),
			Evidence: pick("", "", SignedLink, Signature, Tag, Referrer, Declared),
			Host:     name("h", 1), Path: pick("/", "/docs/a", "/docs/a.md", "/docs/b"), Referrer: name("r", 1),
			Spoofed: r.IntN(9) == 0,
		})
	}
	for range r.IntN(40) {
		s.bindings = append(s.bindings, Binding{name("v", size), name("p", 2*size), at()})
	}
	for i := range r.IntN(30) {
		c := Conversion{ID: fmt.Sprint("c", i), Kind: pick("signup", Paid, Paid, Refund), Visitor: name("v", size), Identity: name("p", size),
			At: at(), Value: r.Int64N(50), Currency: pick("USD", "EUR"), OrderID: name("o", 5)}
		switch r.IntN(9) {
		case 0:
			c.Value = math.MaxInt64 - r.Int64N(3)
		case 1:
			c.Value = math.MinInt64 + r.Int64N(3)
		}
		if c.Kind == Refund && r.IntN(9) > 0 {
			c.Value, c.RefundOf = min(-c.Value, c.Value), name("o", 5)
		}
		s.conversions = append(s.conversions, c)
	}
	return s
}

func worlds(t *testing.T, check func(t *testing.T, r *rand.Rand, s story, o Options)) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		s := invent(r)
		for _, m := range []Model{First, Last, Linear, Position, "unknown"} {
			o := Options{Model: m, Lookback: []time.Duration{0, 7 * 24 * time.Hour, 30 * 24 * time.Hour}[r.IntN(3)], IncludeNonAgent: r.IntN(3) == 0}
			if r.IntN(3) == 0 {
				o.From = t0
			}
			check(t, r, s, o)
			if t.Failed() {
				t.Fatalf("seed %d, %+v", seed, o)
			}
		}
	}
}

// What is credited is what was converted, in money and in number, whatever comes.
func TestNothingIsLostOrMade(t *testing.T) {
	worlds(t, func(t *testing.T, _ *rand.Rand, s story, o Options) {
		credited := s.credit(o)
		given := 0
		for _, c := range s.conversions {
			if o.holds(c.At) {
				given++
			}
		}
		if len(credited) != given {
			t.Errorf("%d of %d conversions", len(credited), given)
		}
		for _, c := range credited {
			value, count := int64(0), Count(0)
			families := map[string]bool{}
			for _, share := range c.Shares {
				value += share.Value
				count += share.Count
				if families[share.Family] {
					t.Errorf("%s has two shares", share.Family)
				}
				families[share.Family] = true
				if (share.Evidence == "") != (share.Family == NoAgent) {
					t.Errorf("%+v", share)
				}
				if (share.Value < 0) != (c.Applied < 0) && share.Value != 0 {
					t.Errorf("%+v of %d", share, c.Applied)
				}
			}
			if value != c.Applied || count != Whole || c.Kind != Refund && c.Applied != c.Value {
				t.Errorf("%+v", c)
			}
			if c.Kind == Refund && (c.Applied > 0 || c.Value < 0 && c.Applied < c.Value || c.Problem == "" && c.Applied != c.Value) {
				t.Errorf("%+v", c)
			}
			if single := o.Model != Linear && o.Model != Position; single && len(c.Shares) != 1 {
				t.Errorf("%d families for one conversion", len(c.Shares))
			}
			if c.Possible != nil && c.Evidence != "" {
				t.Errorf("both possible and credited: %+v", c)
			}
		}
	})
}

// Nobody is taken more than was given, and an order taken back whole leaves
// nobody with anything.
func TestRefundsNeverExceed(t *testing.T) {
	worlds(t, func(t *testing.T, _ *rand.Rand, s story, o Options) {
		o.From = time.Time{}
		type key struct{ order, family string }
		left, whole := map[key]int64{}, map[string]int64{}
		credited := s.credit(o)
		for _, c := range credited {
			for _, share := range c.Shares {
				if c.Kind != Refund && c.Applied > 0 {
					left[key{c.ID, share.Family}] = share.Value
					whole[c.ID] += share.Value
				}
			}
		}
		for _, c := range credited {
			for _, share := range c.Shares {
				if c.Kind == Refund && c.Problem != OtherCurrency && c.Order != "" {
					left[key{c.Order, share.Family}] += share.Value
					whole[c.Order] += share.Value
				}
			}
		}
		for k, n := range left {
			if n < 0 || whole[k.order] == 0 && n != 0 {
				t.Errorf("%v is left with %d of %d", k, n, whole[k.order])
			}
		}
	})
}

// The order of the input changes nothing.
func TestOrderOfInput(t *testing.T) {
	worlds(t, func(t *testing.T, r *rand.Rand, s story, o Options) {
		want := s.credit(o)
		mixed := story{slices.Clone(s.touches), slices.Clone(s.bindings), slices.Clone(s.conversions)}
		r.Shuffle(len(mixed.touches), func(i, j int) { mixed.touches[i], mixed.touches[j] = mixed.touches[j], mixed.touches[i] })
		r.Shuffle(len(mixed.bindings), func(i, j int) { mixed.bindings[i], mixed.bindings[j] = mixed.bindings[j], mixed.bindings[i] })
		r.Shuffle(len(mixed.conversions), func(i, j int) {
			mixed.conversions[i], mixed.conversions[j] = mixed.conversions[j], mixed.conversions[i]
		})
		got := mixed.credit(o)
		if !reflect.DeepEqual(got, want) {
			t.Errorf("got\n%snot\n%s", retell(got), retell(want))
		}
		if !reflect.DeepEqual(Summary(got), Summary(want)) {
			t.Error("other totals")
		}
	})
}

// slow credits a conversion as the design says, by looking at everything.
func slow(s story, c Conversion, o Options) (touches []Touch) {
	from, to := c.At.Add(-time.Duration(o.lookback())*time.Microsecond), c.At.Add(Slack)
	identities := func(visitor string) map[string]bool {
		of := map[string]bool{}
		for _, b := range s.bindings {
			if b.Visitor == visitor && b.Visitor != "" && b.Identity != "" && !b.At.Before(from) {
				of[b.Identity] = true
			}
		}
		return of
	}
	person := c.Identity
	if own := identities(c.Visitor); person == "" && len(own) == 1 {
		for person = range own {
		}
	}
	for _, t := range s.touches {
		if t.At.Before(from) || t.At.After(to) || !t.competes() && (!o.IncludeNonAgent || !t.unassisted()) {
			continue
		}
		bound := identities(t.Visitor)
		mine := person != "" && t.Identity == person ||
			person != "" && bound[person] && len(bound) <= MaxIdentities ||
			c.Visitor != "" && t.Visitor == c.Visitor && (person == "" || len(bound) <= MaxIdentities)
		if mine {
			touches = append(touches, t)
		}
	}
	slices.SortFunc(touches, func(a, b Touch) int {
		if d := a.At.Compare(b.At); d != 0 {
			return d
		}
		return compare(&a, &b)
	})
	return touches
}

// The indexes find what a look at everything finds.
func TestAgainstTheSlowWay(t *testing.T) {
	worlds(t, func(t *testing.T, _ *rand.Rand, s story, o Options) {
		for _, c := range s.credit(o) {
			if c.Kind == Refund {
				continue
			}
			var got []Touch
			for _, touch := range c.Touches {
				got = append(got, *touch)
			}
			if want := slow(s, c.Conversion, o); !slices.Equal(got, want) {
				t.Errorf("%+v: got\n%v\nnot\n%v", c.Conversion, got, want)
			}
		}
	})
}

// A part is within one unit of its exact share, and parts add up.
func TestSplit(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		weights := make([]uint64, 1+r.IntN(20))
		total := 0.0
		for i := range weights {
			weights[i] = r.Uint64N(1 << r.IntN(59))
			total += float64(weights[i])
		}
		if total == 0 {
			continue
		}
		value := r.Int64() >> r.IntN(60)
		if r.IntN(2) == 0 {
			value = -value
		}
		parts := make([]int64, len(weights))
		split(value, weights, parts)
		sum := int64(0)
		for i, p := range parts {
			sum += p
			exact := float64(value) * float64(weights[i]) / total
			if math.Abs(float64(p)-exact) > 1+math.Abs(exact)*1e-12 {
				t.Errorf("%d of %d by %d: %d, not about %f", i, value, weights[i], p, exact)
			}
		}
		if sum != value {
			t.Fatalf("%v of %d by %v", parts, value, weights)
		}
	}
}
