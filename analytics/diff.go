package analytics

import (
	"cmp"
	"maps"
	"slices"
	"strings"
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

// A Change is one tool whose place differs between two sets of boards. It
// describes; whether a change means anything is another question.
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
	// Notes are sorted codes; never nil.
	Notes []string `json:"notes"`
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
		c := Change{category, slug, "moved", o.Rank, n.Rank, o.PickRate, n.PickRate, round(n.PickRate - o.PickRate), slices.Clone(notes)}
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
	slices.SortFunc(out, func(a, b Change) int {
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
