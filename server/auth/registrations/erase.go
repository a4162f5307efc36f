package registrations

import (
	"context"
	"strings"

	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/store/identity"
	"github.com/firstpick/firstpick/server/store/state"
)

// confirmed fails unless somebody typed what a form asked for.
func confirmed(typed, want string) error {
	if want == "" || !strings.EqualFold(strings.TrimSpace(typed), want) {
		return apierr.InvalidRequest("Nothing was deleted: type " + want + " exactly to confirm.")
	}
	return nil
}

// EraseOwnWorkspace requests the erasure of an account's workspace with everything in it.
// Its owner confirms it by its slug. From then on nobody sees it.
func (s *Service) EraseOwnWorkspace(ctx context.Context, c *Caller, a *state.Account, slug, typed string) error {
	return s.change(ctx, c, a, slug, identity.Owner, func(u *unit, w *state.Workspace) error {
		if err := confirmed(typed, w.Slug); err != nil {
			return err
		}
		if err := u.auditMember("workspace.erasing", w, a.ID, nil); err != nil {
			return err
		}
		return u.tx.RequestErasure(u.ctx, state.EraseWorkspace, w.ID, u.now)
	})
}

// EraseOwnAccount requests the erasure of an account with its workspaces. Its owner
// confirms it by its address. All of its sessions end.
func (s *Service) EraseOwnAccount(ctx context.Context, c *Caller, a *state.Account, typed string) error {
	return s.write(ctx, c, func(u *unit) error {
		if err := confirmed(typed, a.Email); err != nil {
			return err
		}
		return u.tx.RequestErasure(u.ctx, state.EraseAccount, a.ID, u.now)
	})
}
