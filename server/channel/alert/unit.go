package alert

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/store/identity"
	"github.com/firstpick/firstpick/server/store/state"
)

// A unit is one transaction of a Service. It carries its context, against the usual
// advice, because it never outlives the function that write calls with it; passing
// ctx, tx and now to every helper hid the parameters that differ.
type unit struct {
	*Service
	ctx context.Context
	tx  *state.Tx
	now time.Time
}

// write runs fn in a transaction and returns an *apierr.Error.
func (s *Service) write(ctx context.Context, fn func(u *unit) error) error {
	return s.fail(s.transact(ctx, fn))
}

// transact is write for background work: it returns the errors of the store.
func (s *Service) transact(ctx context.Context, fn func(u *unit) error) error {
	return s.DB.Write(ctx, func(tx *state.Tx) error { return fn(&unit{s, ctx, tx, s.Now()}) })
}

// change is write on the alerts of a workspace by a member, who must still be an editor: the
// workspace is locked, so that the role holds until commit.
func (s *Service) change(ctx context.Context, workspace, by string, fn func(u *unit) error) error {
	return s.write(ctx, func(u *unit) error {
		if err := u.tx.LockWorkspace(ctx, workspace); err != nil {
			return err
		}
		role, err := u.tx.Role(ctx, workspace, by)
		if err != nil {
			return err
		}
		if !role.Includes(identity.Editor) {
			return apierr.AccessDenied("Changing alerts needs the role editor in the workspace. Ask an owner of it.")
		}
		return fn(u)
	})
}

func (s *Service) fail(err error) error {
	if errors.Is(err, state.ErrNotFound) {
		return &apierr.Error{Status: http.StatusNotFound, Code: "not_found", Description: "The workspace has no such webhook."}
	}
	return s.DB.APIError(err)
}

// audit appends an entry about a channel; by is the account that did it, if one did.
func (u *unit) audit(workspace, by, event, channel string) error {
	return u.tx.Audit(u.ctx, state.AuditEntry{
		ID: u.Secrets.ID("aud_"), At: u.now, Event: event, WorkspaceID: workspace, AccountID: by, Detail: map[string]string{"channel": channel},
	})
}
