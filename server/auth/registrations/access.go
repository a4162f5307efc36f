package registrations

import (
	"context"
	"errors"

	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/store/identity"
	"github.com/firstpick/firstpick/server/store/state"
)

// Access returns a workspace with the role of an account in it, if that includes the role
// that is needed. It is the one place that decides who may do what in a workspace: pages ask
// it when they are opened, and each change asks again in its transaction. It fails with the
// same 404 for a workspace of others as for one that does not exist, and with a 403 for a
// member whose role is too low.
func (s *Service) Access(ctx context.Context, a *state.Account, slug string, need identity.Role) (*state.Membership, error) {
	m, err := access(ctx, s.DB.Read(), a.ID, slug, need)
	return m, s.DB.APIError(err)
}

// access is Access in a transaction. It locks the workspace, so that the role holds until
// commit.
func (u *unit) access(account, slug string, need identity.Role) (*state.Membership, error) {
	return access(u.ctx, u.tx, account, slug, need)
}

func access(ctx context.Context, tx *state.Tx, account, slug string, need identity.Role) (*state.Membership, error) {
	m, err := tx.Membership(ctx, account, slug)
	switch {
	case errors.Is(err, state.ErrNotFound):
		return nil, &apierr.Error{Status: 404, Code: "not_found", Description: "You have no such workspace."}
	case err != nil:
		return nil, err
	case !m.Role.Includes(need):
		return nil, apierr.AccessDenied("Your role in this workspace is " + string(m.Role) + ", and this needs the role " + string(need) + ". Ask an owner of the workspace.")
	}
	return m, nil
}

// Memberships returns the workspaces of an account with its role in each, oldest first.
func (s *Service) Memberships(ctx context.Context, a *state.Account) ([]*state.Membership, error) {
	list, err := s.DB.Read().Memberships(ctx, a.ID)
	return list, s.DB.APIError(err)
}

// change runs do in a transaction on a workspace in which an account has a role.
func (s *Service) change(ctx context.Context, c *Caller, a *state.Account, slug string, need identity.Role, do func(u *unit, w *state.Workspace) error) error {
	return s.write(ctx, c, func(u *unit) error {
		m, err := u.access(a.ID, slug, need)
		if err != nil {
			return err
		}
		return do(u, m.Workspace)
	})
}
