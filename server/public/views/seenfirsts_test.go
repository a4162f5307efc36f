package views

import (
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/analytics/observed"
)

// TestSeenFirsts: boards on which a test shows that an agent differs come first, then those on which one does; a tie with the first tool of all, or what no test shows, is no
// difference; of few units nothing is said.
func TestSeenFirsts(t *testing.T) {
	r := Renderer{}
	agent := func(name string, units, ash, birch, inOne int) observed.AgentBoard {
		use := func(slug string, n int) observed.Rate {
			return observed.Rate{Slug: slug, Use: observed.Use{UseRate: float64(n) / float64(units), CILow: .5, CIHigh: .8, Uses: n}, Repos: 9, InOne: inOne}
		}
		return observed.AgentBoard{Agent: name, Part: observed.Part{NUnits: units, Tools: []observed.Rate{use("birch", birch), use("ash", ash)}}}
	}
	add := func(category string, agents ...observed.AgentBoard) {
		b := seenBoard(time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC), .4)
		b.Category, b.Name, b.Agents = category, category, agents
		b.Pairs = map[[2]string]observed.Pair{{"ash", "birch"}: {P: .001, Shown: true}}
		b.Tools[1].Uses, b.Tools[1].UseRate = 20, .2
		if category == "differ" {
			b.Agents[0].Pairs = map[[2]string]observed.Pair{{"birch", "ash"}: {Shown: true}}
		}
		r.in.Observed = append(r.in.Observed, b)
	}
	add("alone", agent("Devin", 90, 60, 30, 0), agent("Codex", 9, 0, 9, 0))
	if r.seenFirsts() != nil {
		t.Error("a table of one agent")
	}
	add("alike", agent("Devin", 60, 40, 10, 0), agent("Codex", 20, 10, 10, 0))
	add("one repository", agent("Devin", 60, 10, 40, 30), agent("Codex", 20, 10, 10, 0))
	add("differ", agent("Codex", 60, 10, 40, 20), agent("Devin", 20, 15, 5, 0), agent("Cursor", 4, 0, 4, 0))
	f := r.seenFirsts()
	if f == nil || len(f.Rows) != 3 || f.Rows[0].Name != "differ · Python" {
		t.Fatalf("%+v", f)
	}
	if len(f.Agents) != 2 { // Cursor has no cell
		t.Fatal(f.Agents)
	}
	want := []seenFirst{
		{Agent: "Devin", Tool: "Ash", Rate: "15 of 20"},
		{Agent: "Codex", Tool: "Birch", Rate: "67%", Of: "60", Interval: "50–80%", Other: true},
	}
	if len(f.Rows[0].Cells) != len(want) {
		t.Fatal(f.Rows[0].Cells)
	}
	for i, c := range f.Rows[0].Cells {
		if c != want[i] {
			t.Errorf("got %+v, want %+v", c, want[i])
		}
	}
	if c := f.Rows[2].Cells[1]; c.Tool != "Ash" || c.Other {
		t.Errorf("a tie: %+v", c)
	}
	if c := f.Rows[1].Cells[0]; c.Tool != "Birch" || c.Other || !c.InOne || c.Of != "60" {
		t.Errorf("one repository: %+v", c)
	}
	if g := f.Rows[0].ByTool(); len(g) != 2 || g[0].Tool != "Ash" || len(f.Rows[2].ByTool()) != 1 || len(f.Rows[2].ByTool()[0].Agents) != 2 {
		t.Errorf("by tool: %+v", g)
	}
	// Rows on which agents differ come first, those on which none does are apart; without one that differs there is one row.
	for n, want := range map[int]string{1: "differ", 9: "differ one repository"} {
		rows, same := f.few(n)
		got := ""
		for _, r := range rows {
			got += " " + strings.TrimSuffix(r.Name, " · Python")
		}
		if got != " "+want || len(same) != 1 || same[0].Name != "alike · Python" {
			t.Errorf("%d: %q, %+v", n, got, same)
		}
	}
	f.Rows = f.Rows[2:]
	if rows, same := f.few(2); len(rows) != 1 || len(same) != 0 {
		t.Errorf("%+v, %+v", rows, same)
	}
}
