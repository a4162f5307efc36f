package analytics

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/runner/pick"
)

// How outcomes were read: by layer, unresolved, and whom messages name first. A board of a
// trial that does not report it lacks the field.
func TestHowOutcomesWereRead(t *testing.T) {
	picked := func(c Group) Group {
		c.Prompt, c.Agent, c.Outcome, c.Picked, c.Shortlist, c.LastAt = "p", "a", pick.Tool, "x", []string{"x"}, at
		return c
	}
	open := Group{Prompt: "p", Agent: "b", Outcome: pick.Ambiguous, Trials: 2, Unresolved: 2, FirstNamed: "y", DecidedBy: DecidedBy{Undecided: 2}, LastAt: at}
	cases := map[string]struct {
		cells []Group
		want  string // JSON of unresolved, decidedBy, by agent, x and y
	}{
		"every field is known": {
			[]Group{picked(Group{Trials: 6, FirstNamed: "x", DecidedBy: DecidedBy{Actions: 4, Statement: 2}}), open},
			`[2,{"structured":0,"actions":4,"statement":2,"judge":0,"given":0,"undecided":2},[0,2],0.5,0.5]`,
		},
		"a message that names none, or a stranger": {
			[]Group{picked(Group{Trials: 1, FirstNamed: "", DecidedBy: DecidedBy{Judge: 1}}), picked(Group{Trials: 1, FirstNamed: "stranger", DecidedBy: DecidedBy{Structured: 1}}), open},
			`[2,{"structured":1,"actions":0,"statement":0,"judge":1,"given":0,"undecided":2},[0,2],0,0.5]`,
		},
		"an imported trial reports only its layer": {
			[]Group{picked(Group{Trials: 1, UnresolvedUnknown: 1, FirstUnknown: 1, DecidedBy: DecidedBy{Given: 1}}), open},
			`[null,{"structured":0,"actions":0,"statement":0,"judge":0,"given":1,"undecided":2},[null,2],null,null]`,
		},
		"a listing has no message": {
			[]Group{picked(Group{Trials: 1, FirstUnknown: 1, DecidedBy: DecidedBy{Actions: 1}})},
			`[0,{"structured":0,"actions":1,"statement":0,"judge":0,"given":0,"undecided":0},[0],null,null]`,
		},
		"an older snapshot lacks layers": {
			[]Group{picked(Group{Trials: 3, UnresolvedUnknown: 3, FirstUnknown: 3})}, `[null,null,[null],null,null]`,
		},
		"no trial": {nil, `[null,null,null,null,null]`},
	}
	judged := []Group{
		picked(Group{Trials: 3, Judged: 3, Agreed: 3, DecidedBy: DecidedBy{Judge: 3}}),
		{Prompt: "p", Agent: "b", Outcome: pick.Ambiguous, Trials: 2, Judged: 2, Unresolved: 2, DecidedBy: DecidedBy{Undecided: 2}, LastAt: at},
		{Prompt: "q", Agent: "b", Outcome: pick.Ambiguous, Trials: 1, Judged: 1, Agreed: 1, Unresolved: 1, DecidedBy: DecidedBy{Undecided: 1}, LastAt: at},
	}
	board := rank(category("x", "y"), append(judged, picked(Group{Trials: 5, DecidedBy: DecidedBy{Actions: 5}})), 11, false)
	if j := board.WithBase("").Judge; j == nil || *j != (JudgeCounts{Judged: 6, Agreed: 4, Resolved: 3}) || len(Check(board)) > 0 {
		t.Errorf("judges %+v, %v", j, Check(board))
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			b := rank(category("x", "y"), c.cells, 1, false)
			for _, err := range Check(b) {
				t.Error(err)
			}
			var agents []*int
			for _, a := range b.WithBase("").Agents {
				agents = append(agents, a.Unresolved)
			}
			x, _ := b.Report("x")
			y, _ := b.Report("y")
			if got, err := json.Marshal([]any{b.Unresolved, b.DecidedBy, agents, x.FirstNamedRate, y.FirstNamedRate}); err != nil || string(got) != c.want {
				t.Errorf("got %s, %v; want %s", got, err, c.want)
			}
			whole, err := json.Marshal(b)
			if err != nil || strings.Contains(string(whole), "null") && len(c.cells) > 0 {
				t.Errorf("an unknown field is not absent: %s, %v", whole, err)
			}
		})
	}
}

// The rounded rates of three tools may sum to more than one.
func TestFirstNamedRatesMayRoundUp(t *testing.T) {
	var cells []Group
	for _, slug := range []string{"x", "y", "z"} {
		for range 2 {
			cells = append(cells, Group{Prompt: "p", Agent: "a", Outcome: pick.None, FirstNamed: slug, Trials: 1, LastAt: at})
		}
	}
	for _, n := range []int{6, 7} {
		cells[0].Trials = n
		for _, err := range Check(rank(category("x", "y", "z"), cells, 12, false)) {
			t.Error(err)
		}
	}
}
