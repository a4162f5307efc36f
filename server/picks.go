package server

import (
	"context"

	"github.com/firstpick/firstpick/server/channel/picks"
	"github.com/firstpick/firstpick/server/evals/evals"
	"github.com/firstpick/firstpick/server/public/archive"
)

// ownTools knows what is measured of the tools of workspaces: the public board where it has
// the tool, else the workspace's own evals.
type ownTools struct {
	*archive.Handler // for the catalogue
	evals            *evals.Service
}

// OwnTools returns the source of what is measured of the tools of workspaces.
func (s *Server) OwnTools() picks.Source { return ownTools{s.archive, s.cfg.Evals} }

// Measured implements picks.Source.
func (o ownTools) Measured(ctx context.Context, workspace, tool string) (*picks.Measured, error) {
	m, err := o.Handler.Measured(ctx, tool)
	if m == nil && err == nil && o.evals != nil {
		return o.evals.Measured(ctx, workspace, tool)
	}
	return m, err
}
