package attribution

import "slices"

// A Step is a touch before a conversion, with its credit.
type Step struct {
	*Touch
	Why    Reason
	Family string // that it is credited to; empty unless it counted
	Count  Count  // its share of the conversion
	Value  int64  // and of its money, in minor units
}

// A Reason explains why a touch counted or not.
type Reason string

// The reasons.
const (
	Counted      Reason = "counted"
	NotByModel   Reason = "not_by_model"     // it competed, and the model credits others
	TooEarly     Reason = "before_lookback"  // longer ago than the lookback
	TooLate      Reason = "after_conversion" // later than the conversion
	Impostor     Reason = "impostor"         // it claims to be an agent that it is not
	OnlyReach    Reason = "reach"            // its class reads pages and brings no visitors
	NoEvidence   Reason = "no_evidence"      // no evidence of an agent
	SharedDevice Reason = "shared_device"    // its visitor is more persons than MaxIdentities
	OldBinding   Reason = "old_binding"      // its visitor was last known as this person before the lookback
	LeftOut      Reason = "left_out"         // one of the middle of more than MaxTouches
)

// Steps returns the touches of the person who converted, oldest first, and the share of
// each, which adds up to the families' shares of Credit. The conversion must not be a
// refund; a refund has the steps of its order.
func Steps(v *Conversion, touches []Touch, graph *Graph, o Options) []Step {
	c := &creditor{touches: touches, options: o, lookback: o.lookback(), nodes: newNodes(graph)}
	c.prepare([]Conversion{*v}, []int32{0})
	credited := c.credit(v)
	since := v.At.UnixMicro() - c.lookback
	ties := c.nodes.ties(v, since)
	var steps []Step
	for i := range touches {
		t := &touches[i]
		if tie := ties.of(t); tie != "" {
			steps = append(steps, Step{Touch: t, Why: c.why(t, tie, v.At.UnixMicro(), credited.Touches)})
		}
	}
	slices.SortFunc(steps, func(a, b Step) int {
		if c := a.At.Compare(b.At); c != 0 {
			return c
		}
		return compare(a.Touch, b.Touch)
	})
	o.Model.deal(steps, &credited)
	return steps
}

// why returns the reason for a touch before the model is applied.
func (c *creditor) why(t *Touch, tie Reason, at int64, competed []*Touch) Reason {
	led := Touch{Class: t.Class, Evidence: Signature}
	switch {
	case tie != Counted:
		return tie
	case t.Spoofed:
		return Impostor
	case !led.competes():
		return OnlyReach
	case !t.competes():
		return NoEvidence
	case t.At.UnixMicro() < at-c.lookback:
		return TooEarly
	case t.At.UnixMicro() > at+Slack.Microseconds():
		return TooLate
	case !slices.Contains(competed, t):
		return LeftOut
	}
	return NotByModel
}

// deal distributes each family's share to its touches.
func (m Model) deal(steps []Step, credited *Credited) {
	entries := make([]entry, len(credited.Touches))
	for i, t := range credited.Touches {
		entries[i].at = t.At.UnixMicro()
	}
	last := m.lastOf(entries)
	weights := map[*Touch]uint64{}
	for i, t := range credited.Touches {
		weights[t] = m.weight(i, len(entries), last)
	}
	for _, share := range credited.Shares {
		var places []int
		var parts []uint64
		for i := range steps {
			if w := weights[steps[i].Touch]; w > 0 && steps[i].credited() == share.Family {
				places, parts = append(places, i), append(parts, w)
			}
		}
		if len(places) == 0 {
			continue
		}
		counts, values := make([]int64, len(parts)), make([]int64, len(parts))
		split(int64(share.Count), parts, counts)
		split(share.Value, parts, values)
		for i, place := range places {
			s := &steps[place]
			s.Why, s.Family, s.Count, s.Value = Counted, share.Family, Count(counts[i]), values[i]
		}
	}
}

// ties are the names of who converted, and whether their touches count.
type ties struct{ visitor, identity map[string]Reason }

// ties returns all names of the person who converted: those that reach returns count,
// and the others have the reason for their exclusion.
func (n *nodes) ties(v *Conversion, since int64) ties {
	g := n.graph
	names := make([]string, g.nodes())
	for name, id := range g.visitor {
		names[id] = name
	}
	for name, id := range g.identity {
		names[id] = name
	}
	out := ties{map[string]Reason{}, map[string]Reason{}}
	// A reached name that is not in the graph is the conversion's.
	out.visitor[v.Visitor], out.identity[v.Identity] = SharedDevice, Counted
	persons := []string{v.Identity}
	for _, id := range n.reach(v, since, nil) {
		switch {
		case id >= g.nodes():
			out.visitor[v.Visitor] = Counted
		case int(id) < len(g.visitor):
			out.visitor[names[id]] = Counted
		default:
			out.identity[names[id]] = Counted
			persons = append(persons, names[id])
		}
	}
	for _, person := range persons {
		id, known := g.identity[person]
		if !known || g.many(id, MaxVisitors, since) {
			continue
		}
		for _, b := range g.bonds(id) {
			switch name := names[b.other]; {
			case out.visitor[name] != "":
			case g.many(b.other, MaxIdentities, since):
				out.visitor[name] = SharedDevice
			default:
				out.visitor[name] = OldBinding
			}
		}
	}
	delete(out.visitor, "")
	delete(out.identity, "")
	return out
}

// of returns how a touch is tied to who converted; empty for not at all.
func (t ties) of(touch *Touch) Reason {
	if t.identity[touch.Identity] != "" {
		return Counted
	}
	return t.visitor[touch.Visitor]
}
