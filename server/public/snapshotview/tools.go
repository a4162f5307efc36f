package snapshotview

import (
	"cmp"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/fixtures/sorting"
	"github.com/firstpick/firstpick/server/kit/render"
)

// Ref returns the tool that q names, measured or not.
func (s *Site) Ref(q string) (catalog.Ref, bool) { return s.index.Lookup(q) }

// Rivals returns the tools of the catalogue that compete with the one that q names in its first category, those
// with a page first; others have no path.
func (s *Site) Rivals(q string) []render.Link {
	ref, ok := s.index.Lookup(q)
	if !ok || len(ref.Categories) == 0 {
		return nil
	}
	var paged, rest []render.Link
	for _, other := range s.index.Refs() {
		if other.Slug == ref.Slug || !slices.Contains(other.Categories, ref.Categories[0]) {
			continue
		}
		if page, ok := s.Views.Tool(other.Slug); ok {
			paged = append(paged, page)
		} else {
			rest = append(rest, render.Link{Text: other.Name})
		}
	}
	return append(paged, rest...)
}

// Home returns the board on which a tool is reported, by its slug; false for a tool that is
// not measured.
func (s *Site) Home(slug string) (analytics.Board, bool) {
	category, ok := s.home[slug]
	if !ok {
		return analytics.Board{}, false
	}
	return s.Leaderboard(category)
}

// Search returns up to n tools for a text, measured ones first: the one that it names, those
// whose name or slug has it, and those with a name near it.
func (s *Site) Search(text string, n int) []catalog.Ref {
	var slugs []string
	if ref, ok := s.index.Lookup(text); ok {
		slugs = append(slugs, ref.Slug)
	}
	part := strings.ToLower(strings.TrimSpace(text))
	for _, index := range []*catalog.Index{s.measured, s.index} {
		for _, ref := range index.Refs() {
			if len(part) > 1 && (strings.Contains(ref.Slug, part) || strings.Contains(strings.ToLower(ref.Name), part)) {
				slugs = append(slugs, ref.Slug)
			}
		}
	}
	var out []catalog.Ref
	known := map[string]bool{}
	for _, slug := range append(slugs, s.SuggestTools(text)...) {
		if ref, ok := s.index.Lookup(slug); ok && !known[ref.Slug] && len(out) < n {
			known[ref.Slug] = true
			out = append(out, ref)
		}
	}
	return out
}

// Named returns the slugs of the tools of a search, measured or not: named are those with the
// words of q in their name, the best match first (catalog.Match), then by how often agents picked
// or used them, then by name. near are other tools with a name near q.
func (s *Site) Named(q string) (named, near []string) {
	uses := map[string]int{}
	for _, b := range s.Boards {
		for _, t := range b.Tools {
			uses[t.Slug] += t.Picks
		}
	}
	for _, b := range s.Observed {
		for _, t := range b.Tools {
			uses[t.Slug] += t.Uses
		}
	}
	refs := s.index.Named(q)
	sorting.StableFunc(refs, func(a, b catalog.Named) int {
		return cmp.Or(cmp.Compare(a.Match, b.Match), uses[b.Slug]-uses[a.Slug], strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)))
	})
	for _, r := range refs {
		named = append(named, r.Slug)
	}
	for _, slug := range s.SuggestTools(q) {
		if !slices.Contains(named, slug) {
			near = append(near, slug)
		}
	}
	return named, near
}
