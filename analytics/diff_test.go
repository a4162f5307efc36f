package analytics

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDiffTellsWhatMoved(t *testing.T) {
	older := []Board{{Category: "c", Tools: []Standing{{Slug: "x", Rank: 1, PickRate: .5}, {Slug: "gone", Rank: 2}}}}
	newer := []Board{{Category: "c", Tools: []Standing{{Slug: "x", Rank: 1, PickRate: .4}, {Slug: "new", Rank: 2, PickRate: .1}}}}
	want := []Change{
		{"c", "new", "added", 0, 2, 0, .1, .1, nil, []string{NoteIdentity}},
		{"c", "x", "moved", 1, 1, .5, .4, -.1, nil, []string{NoteIdentity}},
		{"c", "gone", "removed", 2, 0, 0, 0, 0, nil, []string{NoteIdentity}},
	}
	if d := cmp.Diff(want, Diff(older, newer)); d != "" {
		t.Error(d)
	}
}

func TestDiffSaysWhenMoreThanPicksChanged(t *testing.T) {
	board := func(edit func(*Board)) []Board {
		b := Board{Category: "c", NPrompts: 20, Agents: []AgentBoard{{Agent: "a"}}, Tools: []Standing{{Slug: "x", Rank: 1, PickRate: .5}}}
		edit(&b)
		return []Board{b}
	}
	older := board(func(*Board) {})
	moved := func(b *Board) { b.Tools = []Standing{{Slug: "x", Rank: 1, PickRate: .4}} }
	cases := map[string]struct {
		newer []Board
		want  []string
	}{
		"a rate alone has no note":          {board(moved), []string{}},
		"simulated agents are noted":        {board(func(b *Board) { moved(b); b.Synthetic = true }), []string{NoteIdentity}},
		"another set of prompts is noted":   {board(func(b *Board) { moved(b); b.NPrompts = 21 }), []string{NoteIdentity}},
		"another agent is noted":            {board(func(b *Board) { moved(b); b.Agents = []AgentBoard{{Agent: "b"}} }), []string{NoteIdentity}},
		"a category that is gone is a note": {nil, []string{NoteCategory}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := Diff(older, c.newer)
			if len(got) != 1 || !slices.Equal(got[0].Notes, c.want) || got[0].Notes == nil {
				t.Errorf("got %+v, want notes %v", got, c.want)
			}
		})
	}
	if got := Diff(older, older); len(got) != 0 || got == nil {
		t.Errorf("equal boards differ by %v", got)
	}
}
