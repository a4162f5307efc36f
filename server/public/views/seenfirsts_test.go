package views

import (
	"testing"
	"time"

	"github.com/firstpick/firstpick/analytics/observed"
)

// TestSeenFirsts: only boards on which agents differ are shown; a tie with the first tool of all is no difference; of few
// units nothing is said.
func TestSeenFirsts(t *testing.T) {
	r := Renderer{}
	agent := func(name string, units, ash, birch, inOne int) observed.AgentBoard {
		use := func(slug string, n int) observed.Rate {
			return observed.Rate{Slug: slug, Use: observed.Use{UseRate: float64(n) / float64(units), CILow: .5, CIHigh: .8, Uses: n}, InOne: inOne}
		}
		return observed.AgentBoard{Agent: name, Part: observed.Part{NUnits: units, Tools: []observed.Rate{use("birch", birch), use("ash", ash)}}}
	}
	add := func(category string, agents ...observed.AgentBoard) {
		b := seenBoard(time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC), .4)
		b.Category, b.Name, b.Agents = category, category, agents
		b.Pairs = map[[2]string]observed.Pair{{"ash", "birch"}: {P: .001, Shown: true}}
		b.Tools[1].Uses, b.Tools[1].UseRate = 20, .2
		r.in.Observed = append(r.in.Observed, b)
	}
	add("alone", agent("Devin", 90, 60, 30, 0), agent("Codex", 9, 0, 9, 0))
	add("alike", agent("Devin", 60, 40, 10, 0), agent("Codex", 20, 10, 10, 0))
	if r.seenFirsts(nil) != nil {
		t.Error("a table where agents do not differ")
	}
	add("differ", agent("Codex", 60, 10, 40, 30), agent("Devin", 20, 15, 5, 0), agent("Cursor", 4, 0, 4, 0))
	f := r.seenFirsts(nil)
	if f == nil || len(f.Rows) != 1 || f.Rows[0].Name != "differ · Python" || f.Others() != "In 2 other categories with enough data, each used the first tool of all most." {
		t.Fatalf("%+v", f)
	}
	want := []seenFirst{
		{Agent: "Devin", Tool: "Ash", Rate: "15 of 20"},
		{Agent: "Codex", Tool: "Birch", Rate: "67%", Note: "50–80% of 60, mostly one repo", Other: true},
		{Agent: "Cursor"},
	}
	for i, c := range f.Rows[0].Cells {
		if c != want[i] {
			t.Errorf("got %+v, want %+v", c, want[i])
		}
	}
}
