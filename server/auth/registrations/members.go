package registrations

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/store/identity"
	"github.com/firstpick/firstpick/server/store/state"
)

// Members returns the members of an account's workspace, the longest first, and its
// invitations.
func (s *Service) Members(ctx context.Context, a *state.Account, slug string) ([]*state.Member, []*state.Invitation, error) {
	m, err := s.Access(ctx, a, slug, identity.Viewer)
	if err != nil {
		return nil, nil, err
	}
	tx := s.DB.Read()
	members, err := tx.Members(ctx, m.ID)
	if err != nil {
		return nil, nil, s.DB.APIError(err)
	}
	invitations, err := tx.Invitations(ctx, m.ID)
	return members, invitations, s.DB.APIError(err)
}

// SetRole gives a member another role. The last owner stays one.
func (s *Service) SetRole(ctx context.Context, c *Caller, a *state.Account, slug, member string, role identity.Role) error {
	if !role.Valid() {
		return apierr.BadBody("invalid_role", "role must be viewer, editor or owner.")
	}
	return s.change(ctx, c, a, slug, identity.Owner, func(u *unit, w *state.Workspace) error {
		before, err := u.roleOf(w, member)
		if err != nil || before == role {
			return err
		}
		return u.setRole(w, a.ID, member, role, before)
	})
}

func (u *unit) setRole(w *state.Workspace, by, member string, role, before identity.Role) error {
	if err := u.tx.PutMember(u.ctx, w.ID, member, role, u.now); err != nil {
		return err
	}
	if err := u.settle(w, member, role); err != nil {
		return err
	}
	return u.auditMember("member.role", w, by, map[string]string{"member": member, "role": string(role), "before": string(before)})
}

// RemoveMember ends a membership: from the commit on, the member's sessions and agents have
// no access to the workspace. With keys, the keys that the member created are revoked.
func (s *Service) RemoveMember(ctx context.Context, c *Caller, a *state.Account, slug, member string, keys bool) error {
	return s.change(ctx, c, a, slug, identity.Owner, func(u *unit, w *state.Workspace) error {
		detail := map[string]string{"member": member}
		if err := u.drop(w, member); err != nil {
			return err
		}
		if keys {
			n, err := u.tx.RevokeKeysOf(ctx, w.ID, member, u.now)
			if err != nil {
				return err
			}
			detail["keys"] = strconv.FormatInt(n, 10)
		}
		return u.auditMember("member.removed", w, a.ID, detail)
	})
}

// Leave ends an account's own membership. The last owner cannot leave.
func (s *Service) Leave(ctx context.Context, c *Caller, a *state.Account, slug string) error {
	return s.change(ctx, c, a, slug, identity.Viewer, func(u *unit, w *state.Workspace) error {
		if err := u.drop(w, a.ID); err != nil {
			return err
		}
		return u.auditMember("member.left", w, a.ID, nil)
	})
}

// Transfer makes a member an owner, to whom the workspace's mail goes from then on, and the
// account an editor.
func (s *Service) Transfer(ctx context.Context, c *Caller, a *state.Account, slug, member string) error {
	return s.change(ctx, c, a, slug, identity.Owner, func(u *unit, w *state.Workspace) error {
		before, err := u.roleOf(w, member)
		if err != nil {
			return err
		}
		if member == a.ID {
			return apierr.BadBody("same_owner", "Choose another member than yourself.")
		}
		if err := u.setRole(w, a.ID, member, identity.Owner, before); err != nil {
			return err
		}
		if err := u.tx.SetOwner(ctx, w.ID, member); err != nil {
			return err
		}
		if err := u.setRole(w, a.ID, a.ID, identity.Editor, identity.Owner); err != nil {
			return err
		}
		return u.auditMember("workspace.transferred", w, a.ID, map[string]string{"member": member})
	})
}

func noMember() error {
	return &apierr.Error{Status: http.StatusNotFound, Code: "not_found", Description: "This workspace has no such member."}
}

func (u *unit) roleOf(w *state.Workspace, member string) (identity.Role, error) {
	role, err := u.tx.Role(u.ctx, w.ID, sanitize(member))
	if errors.Is(err, state.ErrNotFound) {
		return "", noMember()
	}
	return role, err
}

func (u *unit) drop(w *state.Workspace, member string) error {
	err := u.tx.DropMember(u.ctx, w.ID, sanitize(member))
	if errors.Is(err, state.ErrNotFound) {
		return noMember()
	} else if err != nil {
		return err
	}
	return u.settle(w, member, "")
}

// settle completes a change of a member's role; it is empty for an account that has left.
// Agents act for owners: those of an account that is not an owner are revoked.
func (u *unit) settle(w *state.Workspace, member string, role identity.Role) error {
	err := u.tx.SettleOwners(u.ctx, w.ID)
	if errors.Is(err, state.ErrNoOwner) {
		return apierr.BadBody("last_owner", "A workspace needs an owner, and this is the last one. Make another member an owner first.")
	}
	if err != nil || role == identity.Owner {
		return err
	}
	agents, err := u.tx.AccountRegistrations(u.ctx, member)
	if err != nil {
		return err
	}
	for _, found := range agents {
		if found.WorkspaceID != w.ID {
			continue
		}
		r, err := u.tx.Registration(u.ctx, found.ID) // locked
		if err != nil {
			return err
		}
		if r.AccountID != member || r.WorkspaceID != w.ID || !r.RevokedAt.IsZero() {
			continue
		}
		if err := u.end(r, "members"); err != nil {
			return err
		}
	}
	return nil
}
