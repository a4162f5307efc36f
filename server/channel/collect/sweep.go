package collect

import (
	"context"
	"fmt"

	"github.com/firstpick/firstpick/server/store/state"
)

// Sweep deletes events that are older than their workspace keeps them, and those
// of workspaces that are deleted. It returns how many went.
func (s *Service) Sweep(ctx context.Context) (int64, error) {
	overdue, err := s.DB.Read().OverdueWorkspaces(ctx, s.Now())
	if err != nil {
		return 0, fmt.Errorf("overdue workspaces: %w", err)
	}
	var total int64
	for _, o := range overdue {
		n, err := s.drop(ctx, o)
		total += n
		if err != nil {
			return total, fmt.Errorf("events of %s: %w", o.WorkspaceID, err)
		}
	}
	return total, nil
}

func (s *Service) drop(ctx context.Context, o state.Overdue) (int64, error) {
	low, high, err := s.DB.Read().SeqBounds(ctx, o.Before)
	if err != nil {
		return 0, err
	}
	var total int64
	for after := low; after < high; after += state.EventSpan {
		if err := s.DB.Write(ctx, func(tx *state.Tx) error {
			n, err := tx.DropEvents(ctx, o.WorkspaceID, o.Before, after)
			total += n
			return err
		}); err != nil {
			return total, err
		}
	}
	return total, s.DB.Write(ctx, func(tx *state.Tx) error {
		if o.Gone {
			if err := tx.DropOrders(ctx, o.WorkspaceID); err != nil {
				return err
			}
		}
		return tx.DropDays(ctx, o.WorkspaceID, o.Before)
	})
}
