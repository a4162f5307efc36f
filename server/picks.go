package server

import (
	"context"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/server/channel/picks"
	"github.com/firstpick/firstpick/server/evals/evals"
	"github.com/firstpick/firstpick/server/public/archive"
)

// ownTools knows what is measured of the tools of workspaces: the public board where it has
// the tool, else the workspace's own evals.
type ownTools struct {
	public *archive.Handler
	evals  *evals.Service // may be nil
}

// OwnTools returns the source of what is measured of the tools of workspaces.
func (s *Server) OwnTools() picks.Source { return ownTools{s.archive, s.cfg.Evals} }

// Tool implements picks.Source.
func (o ownTools) Tool(ctx context.Context, workspace, slug string) (picks.Choice, bool, error) {
	if c, ok := o.public.Tool(slug); ok || o.evals == nil {
		return c, ok, nil
	}
	own, err := o.evals.Tools(ctx, workspace)
	if i := slices.IndexFunc(own, func(c picks.Choice) bool { return c.Slug == slug }); i >= 0 {
		return own[i], true, err
	}
	return picks.Choice{}, false, err
}

// Search implements picks.Source: tools of the catalogue come before those of own evals.
func (o ownTools) Search(ctx context.Context, workspace, text string, n int) ([]picks.Choice, error) {
	found := o.public.Search(text, n)
	if o.evals == nil {
		return found, nil
	}
	own, err := o.evals.Tools(ctx, workspace)
	if err != nil {
		return nil, err
	}
	part := strings.ToLower(strings.TrimSpace(text))
	for _, c := range own {
		known := slices.ContainsFunc(found, func(f picks.Choice) bool { return f.Slug == c.Slug })
		if !known && len(found) < n && (strings.Contains(c.Slug, part) || strings.Contains(strings.ToLower(c.Name), part)) {
			found = append(found, c)
		}
	}
	return found, nil
}

// Own implements picks.Source.
func (o ownTools) Own(ctx context.Context, workspace string) ([]picks.Choice, error) {
	if o.evals == nil {
		return nil, nil
	}
	return o.evals.Tools(ctx, workspace)
}

// Measured implements picks.Source.
func (o ownTools) Measured(ctx context.Context, workspace, tool string) (*picks.Measured, error) {
	m, err := o.public.Measured(ctx, tool)
	if m == nil && err == nil && o.evals != nil {
		return o.evals.Measured(ctx, workspace, tool)
	}
	return m, err
}
