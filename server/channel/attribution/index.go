package attribution

import (
	"cmp"
	"slices"
	"strings"
)

// none is the number of an unknown name.
const none int32 = -1

// nodes numbers the visitors and identities that conversions reach: those of the
// graph as the graph does, and others after them.
type nodes struct {
	graph             *Graph
	visitor, identity map[string]int32 // those that the graph does not know
	wanted            []bool           // by number
}

func newNodes(g *Graph) *nodes {
	return &nodes{graph: g, visitor: map[string]int32{}, identity: map[string]int32{}, wanted: make([]bool, g.nodes())}
}

// ask returns the number of a name and assigns a new one if necessary; none for an empty
// name.
func (n *nodes) ask(known, extra map[string]int32, name string) int32 {
	if name == "" {
		return none
	}
	if id, ok := known[name]; ok {
		return id
	}
	id, ok := extra[name]
	if !ok {
		id = int32(len(n.wanted))
		extra[name] = id
		n.wanted = append(n.wanted, false)
	}
	return id
}

// find returns the number of a name if some conversion reaches it.
func (n *nodes) find(known, extra map[string]int32, name string) int32 {
	if name == "" {
		return none
	}
	id, ok := known[name]
	if !ok {
		id, ok = extra[name]
	}
	if !ok || !n.wanted[id] {
		return none
	}
	return id
}

// reach appends to dst the nodes whose touches count for a conversion: its
// identity, the visitors bound to that since a time, and its own visitor. Shared
// devices are excluded if the conversion names a person. A conversion without a person
// belongs to the person of its visitor, if there is exactly one. Nodes are unique.
func (n *nodes) reach(c *Conversion, since int64, dst []int32) []int32 {
	g := n.graph
	visitor := n.ask(g.visitor, n.visitor, c.Visitor)
	identity := n.ask(g.identity, n.identity, c.Identity)
	known := func(node int32) bool { return node != none && node < g.nodes() }
	if identity == none && known(visitor) && g.many(visitor, 0, since) && !g.many(visitor, 1, since) {
		identity = g.bonds(visitor)[0].other
	}
	shared := known(visitor) && g.many(visitor, MaxIdentities, since)
	if visitor != none && (identity == none || !shared) {
		dst = append(dst, visitor)
	}
	if identity == none {
		return dst
	}
	dst = append(dst, identity)
	if !known(identity) || g.many(identity, MaxVisitors, since) {
		return dst
	}
	for _, b := range g.bonds(identity) {
		if b.at < since {
			break
		}
		if b.other != visitor && !g.many(b.other, MaxIdentities, since) {
			dst = append(dst, b.other)
		}
	}
	return dst
}

// An entry is a touch in a list. Note is the number of its family, or whatever
// the list's owner puts there.
type entry struct {
	at    int64 // microseconds
	touch int32 // its place in the input
	note  int32
}

// An index holds, for each node, its touches in order of time.
type index struct {
	start   []int32
	entries []entry
}

// newIndex indexes entries by the visitor and the identity of their touches.
func newIndex(n *nodes, touches []Touch, entries []entry) *index {
	type place struct{ visitor, identity int32 }
	places := make([]place, len(entries))
	x := &index{start: make([]int32, len(n.wanted)+1)}
	for i, e := range entries {
		t := &touches[e.touch]
		p := place{n.find(n.graph.visitor, n.visitor, t.Visitor), n.find(n.graph.identity, n.identity, t.Identity)}
		places[i] = p
		if p.visitor != none {
			x.start[p.visitor+1]++
		}
		if p.identity != none {
			x.start[p.identity+1]++
		}
	}
	for i := range n.wanted {
		x.start[i+1] += x.start[i]
	}
	x.entries = make([]entry, x.start[len(n.wanted)])
	next := slices.Clone(x.start)
	for i, e := range entries {
		for _, node := range [2]int32{places[i].visitor, places[i].identity} {
			if node != none {
				x.entries[next[node]] = e
				next[node]++
			}
		}
	}
	for i := range n.wanted {
		sortEntries(touches, x.of(int32(i)))
	}
	return x
}

func (x *index) of(node int32) []entry { return x.entries[x.start[node]:x.start[node+1]] }

// within returns the touches of a node from one time to another, both included.
func (x *index) within(node int32, from, to int64) []entry {
	list := x.of(node)
	list = list[before(list, from):]
	return list[:before(list, to+1)]
}

// before returns how many entries of a sorted list are earlier than a time. It is a
// hand-written loop, because most of the time is spent here.
func before(list []entry, at int64) int {
	low, high := 0, len(list)
	for low < high {
		if middle := int(uint(low+high) >> 1); list[middle].at < at {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low
}

func sortEntries(touches []Touch, list []entry) {
	if len(list) > 1 {
		slices.SortFunc(list, func(a, b entry) int { return order(touches, a, b) })
	}
}

// order compares entries by time, then by their touches. It is 0 only for two
// entries of one touch.
func order(touches []Touch, a, b entry) int {
	if a.at != b.at {
		return cmp.Compare(a.at, b.at)
	}
	if a.touch == b.touch {
		return 0
	}
	return cmp.Or(compare(&touches[a.touch], &touches[b.touch]), cmp.Compare(a.touch, b.touch))
}

// compare orders touches of one time: the stronger evidence first, then by name.
// Only touches that differ in nothing compare equal.
func compare(a, b *Touch) int {
	return cmp.Or(
		cmp.Compare(level(a.Evidence), level(b.Evidence)),
		strings.Compare(a.credited(), b.credited()),
		strings.Compare(a.ID, b.ID),
		strings.Compare(a.Host, b.Host),
		strings.Compare(a.Path, b.Path),
		strings.Compare(a.Visitor, b.Visitor),
		strings.Compare(a.Identity, b.Identity),
		strings.Compare(a.Family, b.Family),
		strings.Compare(a.Agent, b.Agent),
		strings.Compare(a.Class, b.Class),
		strings.Compare(a.Evidence, b.Evidence),
		strings.Compare(a.Referrer, b.Referrer),
		a.At.Compare(b.At),
	)
}
