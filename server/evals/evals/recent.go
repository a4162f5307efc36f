package evals

import (
	"context"
)

// Recent returns the last n events of a run, in order. A Watch from the last one misses
// no event.
func (s *Service) Recent(ctx context.Context, a Actor, id string, n int) ([]Event, error) {
	if err := a.may(ScopeRead); err != nil {
		return nil, err
	}
	tx := s.DB.Read()
	row, err := tx.Run(ctx, a.Workspace.ID, id)
	if err != nil {
		return nil, s.fail(noRun(err))
	}
	stored, err := tx.RunEventsAfter(ctx, row.ID, max(0, row.LastEvent-int64(n)), n)
	out := make([]Event, len(stored))
	for i, e := range stored {
		out[i] = Event{e.Seq, e.At, e.Body}
	}
	return out, s.fail(err)
}
