package trafficdb

import (
	"slices"
	"strings"
	"time"

	"github.com/firstpick/firstpick/server/channel/attribution"
)

// subjects returns the visitors and identities whose touches may count for a
// conversion: its own, the identity of its visitor, and the visitors of these
// identities. Like attribution.Graph it passes over names given to everybody;
// which of the others count is decided by attribution.
func (j *Journeys) subjects(lookback time.Duration) (visitors, identities []string) {
	ofVisitor, ofIdentity := make(bonds, len(j.Bindings)), make(bonds, len(j.Bindings))
	for _, b := range j.Bindings {
		ofVisitor[b.Visitor] = append(ofVisitor[b.Visitor], bond{b.Identity, b.At})
		ofIdentity[b.Identity] = append(ofIdentity[b.Identity], bond{b.Visitor, b.At})
	}
	ofVisitor.sort()
	ofIdentity.sort()
	// Nothing is looked up under no name.
	seenVisitor, seenIdentity := make(map[string]bool, len(j.Conversions)), make(map[string]bool, len(j.Conversions))
	seenVisitor[""], seenIdentity[""] = true, true
	for i := range j.Conversions {
		c := &j.Conversions[i]
		since := c.At.Add(-lookback)
		names := append(ofVisitor.since(c.Visitor, since, 1), c.Identity)
		for _, name := range names {
			for _, v := range ofIdentity.since(name, since, attribution.MaxVisitors) {
				add(seenVisitor, v, &visitors)
			}
			add(seenIdentity, name, &identities)
		}
		add(seenVisitor, c.Visitor, &visitors)
	}
	return visitors, identities
}

func add(seen map[string]bool, name string, to *[]string) {
	if !seen[name] {
		seen[name] = true
		*to = append(*to, name)
	}
}

// bonds are the ends of the bindings of a name, the latest first.
type bonds map[string][]bond

type bond struct {
	other string
	at    time.Time
}

func (b bonds) sort() {
	for _, list := range b {
		slices.SortFunc(list, func(x, y bond) int { return y.at.Compare(x.at) })
	}
}

// since returns the names bound to a name since a time, unless there are more than most.
func (b bonds) since(name string, since time.Time, most int) (others []string) {
	for _, x := range b[name] {
		if x.at.Before(since) {
			break
		}
		if len(others) == most {
			return nil
		}
		others = append(others, x.other)
	}
	return others
}

// joined makes one text of names, as the queries take them: a list as a parameter
// is slow. Events hold no control characters.
func joined(names []string) string { return strings.Join(names, "\x1f") }

// addAround adds touches, which may be among those there already.
func (j *Journeys) addAround(touches []attribution.Touch) {
	known := make(map[string]bool, len(touches))
	for i := range touches {
		known[touches[i].ID] = true
	}
	j.Touches = slices.DeleteFunc(j.Touches, func(t attribution.Touch) bool { return known[t.ID] })
	j.Touches = append(j.Touches, touches...)
}
