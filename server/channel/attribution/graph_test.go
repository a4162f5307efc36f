package attribution

import (
	"fmt"
	"slices"
	"testing"
)

func TestSharedNames(t *testing.T) {
	var bindings []Binding
	for i := range MaxIdentities + 1 {
		bindings = append(bindings, Binding{"kiosk", fmt.Sprint("person", i), t0}, Binding{"", "guest", t0}, Binding{"v", "", t0})
	}
	for i := range MaxVisitors + 1 {
		bindings = append(bindings, Binding{fmt.Sprint("device", i), "guest", t0})
	}
	for i := range MaxVisitors {
		bindings = append(bindings, Binding{fmt.Sprint("own", i), "collector of phones", t0})
	}
	g := NewGraph(slices.Concat(bindings, bindings))
	if visitors, identities := shared(g); visitors != 1 || identities != 1 {
		t.Errorf("%d visitors and %d identities are shared", visitors, identities)
	}
	touches := []Touch{
		{At: t0, Visitor: "device7", Family: "A", Evidence: Tag},
		{At: t0, Visitor: "own7", Family: "B", Evidence: Tag},
		{At: t0, Identity: "guest", Family: "C", Evidence: Tag},
	}
	for who, want := range map[string]string{"guest": "C", "collector of phones": "B"} {
		c := Credit([]Conversion{{Identity: who, At: t0}}, touches, g, Options{})
		if got := c[0].Shares[0].Family; got != want {
			t.Errorf("%s: %s, not %s", who, got, want)
		}
	}
}

// shared returns how many visitors are bound to more than MaxIdentities, and how
// many identities to more than MaxVisitors, at any time.
func shared(g *Graph) (visitors, identities int) {
	for _, n := range g.visitor {
		if len(g.bonds(n)) > MaxIdentities {
			visitors++
		}
	}
	for _, n := range g.identity {
		if len(g.bonds(n)) > MaxVisitors {
			identities++
		}
	}
	return visitors, identities
}
