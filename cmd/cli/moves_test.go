package cli

import (
	"testing"

	"github.com/firstpick/firstpick/analytics"
)

// TestChangesAreOfTheSameAgents: a change between boards that no agent shares is one of the agents, and no page
// shows it.
func TestChangesAreOfTheSameAgents(t *testing.T) {
	of := func(agents ...string) (b analytics.Board) {
		for _, a := range agents {
			b.Agents = append(b.Agents, analytics.AgentBoard{Agent: a})
		}
		return b
	}
	for _, c := range []struct {
		was, is analytics.Board
		want    bool
	}{
		{of("old"), of("a", "b"), false},
		{of("old", "b"), of("a", "b"), true},
		{of(), of("a"), true}, // an older snapshot
	} {
		if got := shareAgent(c.was, c.is); got != c.want {
			t.Errorf("%+v and %+v: %t", c.was, c.is, got)
		}
	}
}
