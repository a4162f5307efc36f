package trafficdb

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/firstpick/firstpick/server/agentid"
	"github.com/firstpick/firstpick/server/attribution"
)

// subjects returns the visitors and identities whose touches may count for a
// conversion: its own, the identity of its visitor, and the visitors of these
// identities. Like attribution.Graph it passes over names given to everybody;
// which of the others count is for attribution to say.
func (j *Journeys) subjects(lookback time.Duration) (visitors, identities []string) {
	ofVisitor, ofIdentity := bonds{}, bonds{}
	for _, b := range j.Bindings {
		ofVisitor[b.Visitor] = append(ofVisitor[b.Visitor], bond{b.Identity, b.At})
		ofIdentity[b.Identity] = append(ofIdentity[b.Identity], bond{b.Visitor, b.At})
	}
	ofVisitor.sort()
	ofIdentity.sort()
	// Nothing is looked up under no name.
	seenVisitor, seenIdentity := map[string]bool{"": true}, map[string]bool{"": true}
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

// since returns what is bound to a name since a time, unless it is more than most.
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

// landings returns the pages and half hours of which attribution.Infer has to know
// all views and fetches: those around views without referrer and evidence.
func (j *Journeys) landings() []string {
	const halfHour = int64(attribution.InferWithin / time.Microsecond)
	seen := map[string]bool{}
	var keys []string
	for i := range j.Touches {
		t := &j.Touches[i]
		if !person(t.Class) || t.Spoofed || t.Evidence != "" || t.Referrer != "" || strings.Count(t.Path, "/") < 2 {
			continue
		}
		at := t.At.UnixMicro() / halfHour
		for n := at - 1; n <= at+1; n++ {
			add(seen, pageKey(n, t.Host, t.Path), &keys)
		}
	}
	return keys
}

func person(class string) bool {
	return class == "" || class == string(agentid.Browser) || class == string(agentid.None)
}

// pageKey names a page in a half hour since 1970, as around.sql does. Pages that
// are one to attribution have one key; others may share it.
func pageKey(halfHour int64, host, path string) string {
	return strconv.FormatInt(halfHour, 10) + " " + host + strings.TrimRight(strings.ReplaceAll(path, ".md", ""), "/")
}

// addAround adds touches that are not among those there already.
func (j *Journeys) addAround(touches []attribution.Touch) {
	known := make(map[string]bool, len(j.Touches))
	for i := range j.Touches {
		known[j.Touches[i].ID] = true
	}
	j.Touches = slices.Grow(j.Touches, len(touches))
	for i := range touches {
		if !known[touches[i].ID] {
			j.Touches = append(j.Touches, touches[i])
		}
	}
}
