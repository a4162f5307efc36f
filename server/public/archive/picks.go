package archive

import (
	"context"
	"slices"

	"github.com/firstpick/firstpick/analytics/nights"
	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/server/channel/picks"
	"github.com/firstpick/firstpick/server/public/snapshotview"
)

// Tool returns a tool of the catalogue of the current snapshot.
func (h *Handler) Tool(slug string) (picks.Choice, bool) {
	s := h.Current()
	if s == nil {
		return picks.Choice{}, false
	}
	ref, ok := s.Ref(slug)
	return choice(s, ref), ok
}

// Search returns up to n tools of the catalogue of the current snapshot that a text names.
func (h *Handler) Search(text string, n int) (out []picks.Choice) {
	s := h.Current()
	if s == nil {
		return nil
	}
	for _, ref := range s.Search(text, n) {
		out = append(out, choice(s, ref))
	}
	return out
}

func choice(s *snapshotview.Site, ref catalog.Ref) picks.Choice {
	c := picks.Choice{Slug: ref.Slug, Name: ref.Name, Domains: ref.Domains}
	if board, ok := s.Home(ref.Slug); ok {
		c.Category, c.Public = board.Name, true
	}
	return c
}

// Measured returns what the snapshots measured of a tool; nil where they did not.
func (h *Handler) Measured(ctx context.Context, slug string) (*picks.Measured, error) {
	s := h.Current()
	if s == nil {
		return nil, nil
	}
	board, ok := s.Home(slug)
	if !ok {
		return nil, nil
	}
	series, err := h.Series(ctx, board.Category)
	if err != nil {
		return nil, err
	}
	m := &picks.Measured{Source: picks.Public, Slug: slug, Board: board, Nights: upTo(series.Nights, s.ID)}
	m.URL = m.Standing().URL
	return m, nil
}

// upTo returns the nights up to that of a snapshot: what was published and not promoted is
// no news yet. A snapshot whose night is not counted, because it has no trials of its own,
// leaves all.
func upTo(list []nights.Line, snapshot string) []nights.Line {
	if i := slices.IndexFunc(list, func(l nights.Line) bool { return l.Snapshot == snapshot }); i >= 0 {
		return list[:i+1]
	}
	return list
}
