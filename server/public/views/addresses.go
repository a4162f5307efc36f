package views

import (
	"cmp"
	"slices"
	"time"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/fixtures/sorting"
)

// An Address is a page for search engines. AsOf is when its data is from; nil if unknown.
type Address struct {
	Path string
	AsOf *time.Time
}

// Addresses lists the pages that search engines may index: those of Paths, and of boards also
// the history, the prompts, and comparisons of tools that are next to each other.
func (r *Renderer) Addresses() []Address {
	asOf := map[string]*time.Time{}
	var more []Address
	for i := range r.in.Boards {
		b := &r.in.Boards[i]
		for _, path := range []string{boardPath(b.Category), HistoryPath(b.Category)} {
			asOf[path] = b.AsOf
		}
		for _, s := range b.Tools {
			if path := toolPath(s.Slug); asOf[path] == nil || b.AsOf != nil && b.AsOf.After(*asOf[path]) {
				asOf[path] = b.AsOf
			}
		}
		more = append(more, Address{HistoryPath(b.Category), b.AsOf})
		for _, p := range b.Prompts {
			more = append(more, Address{PromptPath(b.Category, p.Name()), b.AsOf})
		}
		more = append(more, neighbours(b)...)
	}
	for i := range r.in.Observed {
		b := &r.in.Observed[i]
		asOf[observedPath(b.Category)] = b.AsOf
		for _, t := range b.Tools {
			if path := toolPath(t.Slug); asOf[path] == nil { // of a tool that was only observed
				asOf[path] = b.AsOf
			}
		}
	}
	out := []Address{{Path: "/snapshots"}}
	for _, path := range r.Paths() {
		out = append(out, Address{path, asOf[path]})
	}
	out = append(out, more...)
	sorting.Func(out, func(a, b Address) int { return cmp.Compare(a.Path, b.Path) })
	return slices.CompactFunc(out, func(a, b Address) bool { return a.Path == b.Path })
}

// neighbours are the comparisons of each tool with the next one that was picked.
func neighbours(b *analytics.Board) (out []Address) {
	for i := 1; i < len(b.Tools) && b.Tools[i].Picks > 0; i++ {
		out = append(out, Address{ComparePath(b.Tools[i-1].Slug, b.Tools[i].Slug), b.AsOf})
	}
	return out
}
