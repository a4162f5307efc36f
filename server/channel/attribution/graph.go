package attribution

import (
	"cmp"
	"slices"
)

const (
	// MaxIdentities is how many persons a visitor may be. One bound to more is a
	// shared device: its touches are not tied to persons.
	MaxIdentities = 5
	// MaxVisitors is the maximum number of visitors of a person. An identity bound to
	// more is a shared name, such as "guest": only its own touches count.
	MaxVisitors = 500
)

// A Graph maps visitors to persons. A binding counts for conversions up to one lookback
// after it, and for all before it, because an identify may be late. Persons are never
// merged: two persons with the same visitor share only that visitor's touches.
//
// A Graph is immutable and safe for concurrent use.
type Graph struct {
	visitor, identity map[string]int32 // numbers; identities follow the visitors
	// Of a number: the numbers bound to it, the latest binding first.
	start []int32
	bound []bond
}

// A bond is one end of a binding; at is its latest time, in microseconds.
type bond struct {
	other int32
	at    int64
}

// link is a binding in numbers.
type link struct {
	visitor, identity int32
	at                int64
}

// NewGraph builds a graph. Bindings that lack an end are left out.
func NewGraph(bindings []Binding) *Graph {
	g := &Graph{visitor: map[string]int32{}, identity: map[string]int32{}}
	links := make([]link, 0, len(bindings))
	for i := range bindings {
		b := &bindings[i]
		if b.Visitor != "" && b.Identity != "" {
			links = append(links, link{number(g.visitor, b.Visitor), number(g.identity, b.Identity), b.At.UnixMicro()})
		}
	}
	visitors := int32(len(g.visitor))
	for s := range g.identity {
		g.identity[s] += visitors
	}
	slices.SortFunc(links, func(a, b link) int {
		return cmp.Or(cmp.Compare(a.visitor, b.visitor), cmp.Compare(a.identity, b.identity), cmp.Compare(b.at, a.at))
	})
	links = slices.CompactFunc(links, func(a, b link) bool { return a.visitor == b.visitor && a.identity == b.identity })
	g.tie(links, visitors)
	return g
}

// number returns the number of a name, a new one if need be.
func number(of map[string]int32, name string) int32 {
	n, ok := of[name]
	if !ok {
		n = int32(len(of))
		of[name] = n
	}
	return n
}

// tie fills the bonds of both ends from links that each occur once.
func (g *Graph) tie(links []link, visitors int32) {
	g.start = make([]int32, g.nodes()+1)
	for _, l := range links {
		g.start[l.visitor+1]++
		g.start[l.identity+visitors+1]++
	}
	for i := range g.nodes() {
		g.start[i+1] += g.start[i]
	}
	g.bound = make([]bond, 2*len(links))
	next := slices.Clone(g.start)
	put := func(node, other int32, at int64) {
		g.bound[next[node]] = bond{other, at}
		next[node]++
	}
	for _, l := range links {
		put(l.visitor, l.identity+visitors, l.at)
		put(l.identity+visitors, l.visitor, l.at)
	}
	for i := range g.nodes() {
		slices.SortFunc(g.bonds(i), func(a, b bond) int { return cmp.Compare(b.at, a.at) })
	}
}

func (g *Graph) nodes() int32 { return int32(len(g.visitor) + len(g.identity)) }

func (g *Graph) bonds(node int32) []bond { return g.bound[g.start[node]:g.start[node+1]] }

// many reports whether a node has more than n bonds since a time.
func (g *Graph) many(node int32, n int, since int64) bool {
	b := g.bonds(node)
	return len(b) > n && b[n].at >= since
}
