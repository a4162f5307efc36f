package attribution

import (
	"cmp"
	"slices"
	"strings"
)

// Credit credits each conversion to families, in order of time. The result points at
// the touches, so do not change them while it is in use. The order of the input does
// not matter.
func Credit(conversions []Conversion, touches []Touch, graph *Graph, o Options) []Credited {
	c := &creditor{touches: touches, options: o, lookback: o.lookback(), nodes: newNodes(graph)}
	order := byTime(conversions)
	refunds := takeBacks(conversions, order, o)
	todo := make([]int32, 0, len(order)) // conversions whose credit is asked for
	for _, i := range order {
		if v := &conversions[i]; v.Kind != Refund && (o.holds(v.At) || refunds.wants(i)) {
			todo = append(todo, i)
		}
	}
	c.prepare(conversions, todo)
	credited := make([]Credited, 0, len(order))
	for _, i := range todo {
		v := c.credit(&conversions[i])
		if refunds.wants(i) {
			refunds.open(i, v)
		}
		if o.holds(v.At) {
			credited = append(credited, v)
		}
	}
	if len(refunds.refunds) == 0 {
		return credited
	}
	var taken []Credited
	for _, i := range refunds.refunds {
		if v := refunds.apply(&conversions[i], c); o.holds(v.At) {
			taken = append(taken, v)
		}
	}
	return merge(credited, taken)
}

// merge merges two lists that are each in order.
func merge(a, b []Credited) []Credited {
	all := make([]Credited, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		if compareConversions(&b[0].Conversion, &a[0].Conversion) < 0 {
			all, b = append(all, b[0]), b[1:]
		} else {
			all, a = append(all, a[0]), a[1:]
		}
	}
	return append(append(all, a...), b...)
}

// byTime returns the places of conversions in an order that does not depend on
// that of the input.
func byTime(conversions []Conversion) []int32 {
	order := make([]int32, len(conversions))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int {
		return cmp.Or(compareConversions(&conversions[a], &conversions[b]), cmp.Compare(a, b))
	})
	return order
}

func compareConversions(a, b *Conversion) int {
	if c := a.At.Compare(b.At); c != 0 {
		return c
	}
	return cmp.Or(
		strings.Compare(a.ID, b.ID),
		strings.Compare(a.Kind, b.Kind),
		strings.Compare(a.OrderID, b.OrderID),
		strings.Compare(a.RefundOf, b.RefundOf),
		strings.Compare(a.Visitor, b.Visitor),
		strings.Compare(a.Identity, b.Identity),
		strings.Compare(a.Currency, b.Currency),
		cmp.Compare(a.Value, b.Value),
	)
}

// A creditor holds the shared state of crediting conversions.
type creditor struct {
	touches    []Touch
	options    Options
	lookback   int64
	nodes      *nodes
	families   []string // by number; 0 is NoAgent
	competing  *index   // notes are numbers of families
	inferences []Inference
	landings   *index // notes are places among the inferences

	// Memory used again and again.
	reached []int32
	lists   [][]entry
	heap    [][]entry
	merged  []entry
	slot    []int32 // by family: its place among the shares and 1, or 0
	weights []uint64
	parts   []int64
	counts  []int64
	// Blocks from which the results are cut.
	pointers block[*Touch]
	shares   block[Share]
}

// prepare indexes the touches that the conversions can reach.
func (c *creditor) prepare(conversions []Conversion, todo []int32) {
	for _, i := range todo {
		v := &conversions[i]
		c.reached = c.nodes.reach(v, v.At.UnixMicro()-c.lookback, c.reached[:0])
		for _, node := range c.reached {
			c.nodes.wanted[node] = true
		}
	}
	c.families = []string{NoAgent}
	numbers := map[string]int32{NoAgent: 0}
	var entries []entry
	for i := range c.touches {
		t := &c.touches[i]
		if !t.competes() && (!c.options.IncludeNonAgent || !t.unassisted()) {
			continue
		}
		family, known := numbers[t.credited()]
		if !known {
			family = int32(len(c.families))
			numbers[t.credited()] = family
			c.families = append(c.families, t.credited())
		}
		entries = append(entries, entry{t.At.UnixMicro(), int32(i), family})
	}
	c.competing = newIndex(c.nodes, c.touches, entries)
	c.slot = make([]int32, len(c.families))

	c.inferences = nil
	entries = entries[:0]
	for _, f := range infer(c.touches) {
		entries = append(entries, entry{f.Landing.At.UnixMicro(), f.landing, int32(len(c.inferences))})
		c.inferences = append(c.inferences, f.Inference)
	}
	c.landings = newIndex(c.nodes, c.touches, entries)
}

// credit credits a conversion that is not a refund.
func (c *creditor) credit(v *Conversion) Credited {
	at := v.At.UnixMicro()
	from, to := at-c.lookback, at+Slack.Microseconds()
	c.reached = c.nodes.reach(v, from, c.reached[:0])
	touches, truncated := c.gather(c.competing, from, to)
	out := Credited{Conversion: *v, Applied: v.Value, Truncated: truncated, Touches: c.pointers.cut(len(touches))}
	agents := false
	for i, e := range touches {
		out.Touches[i] = &c.touches[e.touch]
		agents = agents || e.note != 0
	}
	out.Shares = c.share(v.Value, touches)
	for i := range out.Shares {
		if s := &out.Shares[i]; s.Family != NoAgent && (out.Evidence == "" || level(s.Evidence) < level(out.Evidence)) {
			out.Evidence = s.Evidence
		}
	}
	out.Assisted = agents && out.Evidence == ""
	if !agents && len(c.inferences) > 0 {
		out.Possible = c.possible(from, to)
	}
	return out
}

// possible returns the inference that a conversion may owe itself to: the first
// one within its lookback, or the last one if that is the model.
func (c *creditor) possible(from, to int64) *Inference {
	landings, _ := c.gather(c.landings, from, to)
	switch {
	case len(landings) == 0:
		return nil
	case c.options.Model == Last:
		return &c.inferences[landings[c.options.Model.lastOf(landings)].note]
	}
	return &c.inferences[landings[0].note]
}

// share shares a value among the families of touches by the model, the families
// in the order of their first credited touch.
func (c *creditor) share(value int64, touches []entry) []Share {
	if len(touches) == 0 {
		one := c.shares.cut(1)
		one[0] = Share{Family: NoAgent, Count: Whole, Value: value}
		return one
	}
	c.weights = c.weights[:0]
	var few [8]Share
	shares := few[:0]
	model := c.options.Model
	last := model.lastOf(touches)
	for i, e := range touches {
		w := model.weight(i, len(touches), last)
		if w == 0 {
			continue
		}
		evidence := c.touches[e.touch].Evidence
		if e.note == 0 {
			evidence = ""
		}
		k := c.slot[e.note]
		if k == 0 {
			shares = append(shares, Share{Family: c.families[e.note], Evidence: evidence})
			c.weights = append(c.weights, 0)
			k = int32(len(shares))
			c.slot[e.note] = k
		}
		c.weights[k-1] += w
		if s := &shares[k-1]; level(evidence) < level(s.Evidence) {
			s.Evidence = evidence
		}
	}
	for _, e := range touches {
		c.slot[e.note] = 0
	}
	c.parts = slices.Grow(c.parts[:0], len(shares))[:len(shares)]
	c.counts = slices.Grow(c.counts[:0], len(shares))[:len(shares)]
	split(value, c.weights, c.parts)
	split(int64(Whole), c.weights, c.counts)
	out := c.shares.cut(len(shares))
	for i, s := range shares {
		s.Value, s.Count = c.parts[i], Count(c.counts[i])
		out[i] = s
	}
	return out
}

// A block hands out slices of one large array, to spare the collector of
// garbage a hundred thousand small ones.
type block[T any] struct{ free []T }

func (b *block[T]) cut(n int) []T {
	if n == 0 {
		return nil
	}
	if n > len(b.free) {
		b.free = make([]T, max(n, 4096))
	}
	s := b.free[:n:n]
	b.free = b.free[n:]
	return s
}
