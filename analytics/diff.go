package analytics

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/fixtures/sorting"
)

// The notes of a change.
const (
	// NoteCategory says that the whole category was added or removed.
	NoteCategory = "category"
	// NoteIdentity says that the two boards did not measure the same thing:
	// other agents, other tools, another number of prompts, or one of them
	// simulated. The change then need not be the agents' doing.
	NoteIdentity = "identity"
)

// A Change is one tool whose place differs between two sets of boards.
type Change struct {
	Category string `json:"category"`
	Tool     string `json:"tool"`
	// Kind is added, removed or moved.
	Kind string `json:"kind"`
	// Ranks are 0 and rates 0 where the tool is not on the board.
	OldRank int     `json:"oldRank"`
	NewRank int     `json:"newRank"`
	OldRate float64 `json:"oldPickRate"`
	NewRate float64 `json:"newPickRate"`
	// Diff is the new rate less the old, -1 to 1.
	Diff float64 `json:"diff"`
	// Test is nil where the tool is not on both boards, or was picked on neither.
	Test *ChangeTest `json:"test,omitempty"`
	// Notes are sorted codes; never nil.
	Notes []string `json:"notes"`
}

// A ChangeTest says whether the trials show a change. It is the estimate over the agents
// that both boards have, so Diff may differ a little from that of the boards' rates.
type ChangeTest struct {
	Diff float64 `json:"diff"`
	// CILow to CIHigh is a simultaneous 95 % interval of all tested changes: it excludes 0
	// exactly where Significant.
	CILow       float64 `json:"ciLow"`
	CIHigh      float64 `json:"ciHigh"`
	PAdjusted   float64 `json:"pAdjusted"`
	Significant bool    `json:"significant"`
	// Paired is the number of prompt families that were compared with themselves.
	Paired int `json:"paired"`
}

// TestOf returns the test of a difference that Simultaneous corrected.
func TestOf(d *Difference) *ChangeTest {
	return &ChangeTest{Round(d.Value), Round(d.Interval.Low), Round(d.Interval.High), Round(d.P), d.Shown, d.Paired}
}

// PickedOnEither lists the tools that two boards have and that were picked on one of them:
// those whose differences can show anything (Tarone 1990).
func PickedOnEither(older, newer Board) (slugs []string) {
	was := standings(&older)
	for _, s := range newer.Tools {
		if old, ok := was[s.Slug]; ok && old.Picks+s.Picks > 0 {
			slugs = append(slugs, s.Slug)
		}
	}
	return slugs
}

// Diff lists every tool whose rank or rate differs, by category, the largest
// change of rate first. Boards are matched by category, tools by slug.
func Diff(older, newer []Board) []Change {
	was, is := byCategory(older), byCategory(newer)
	out := []Change{}
	for _, category := range slices.Sorted(maps.Keys(union(was, is))) {
		out = append(out, changes(category, was[category], is[category])...)
	}
	return out
}

// changes compares one category; a nil board is one that does not exist.
func changes(category string, older, newer *Board) []Change {
	notes := notes(older, newer)
	was, is := standings(older), standings(newer)
	var out []Change
	for slug := range union(was, is) {
		o, known := was[slug]
		n, still := is[slug]
		c := Change{category, slug, "moved", o.Rank, n.Rank, o.PickRate, n.PickRate, Round(n.PickRate - o.PickRate), nil, slices.Clone(notes)}
		switch {
		case !known:
			c.Kind = "added"
		case !still:
			c.Kind = "removed"
		case o.Rank == n.Rank && o.PickRate == n.PickRate:
			continue
		}
		out = append(out, c)
	}
	sorting.Func(out, func(a, b Change) int {
		return cmp.Or(cmp.Compare(max(b.Diff, -b.Diff), max(a.Diff, -a.Diff)), strings.Compare(a.Tool, b.Tool))
	})
	return out
}

func notes(older, newer *Board) []string {
	switch {
	case older == nil || newer == nil:
		return []string{NoteCategory}
	case older.Synthetic != newer.Synthetic, older.NPrompts != newer.NPrompts,
		!maps.Equal(agentNames(older), agentNames(newer)), !sameKeys(standings(older), standings(newer)):
		return []string{NoteIdentity}
	}
	return []string{}
}

func byCategory(boards []Board) map[string]*Board {
	out := make(map[string]*Board, len(boards))
	for i := range boards {
		out[boards[i].Category] = &boards[i]
	}
	return out
}

func standings(b *Board) map[string]Standing {
	out := map[string]Standing{}
	if b != nil {
		for _, s := range b.Tools {
			out[s.Slug] = s
		}
	}
	return out
}

func agentNames(b *Board) map[string]bool {
	out := map[string]bool{}
	for _, a := range b.Agents {
		out[a.Agent] = true
	}
	return out
}

// union returns the keys of both.
func union[V any](a, b map[string]V) map[string]bool {
	out := map[string]bool{}
	for k := range a {
		out[k] = true
	}
	for k := range b {
		out[k] = true
	}
	return out
}

func sameKeys[V any](a, b map[string]V) bool {
	return len(a) == len(b) && len(union(a, b)) == len(a)
}
