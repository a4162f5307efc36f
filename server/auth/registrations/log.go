package registrations

import (
	"context"
	"errors"

	"github.com/firstpick/firstpick/server/store/identity"
	"github.com/firstpick/firstpick/server/store/state"
)

// A WorkspaceLog is a part of the audit log of a workspace, newest line first.
type WorkspaceLog struct {
	Entries []state.AuditEntry
	// Emails are the addresses of the accounts in the entries, by id; accounts that are gone
	// are missing.
	Emails map[string]string
}

// WorkspaceLog returns the lines of an account's workspace that f chooses, whose WorkspaceID it sets.
func (s *Service) WorkspaceLog(ctx context.Context, a *state.Account, slug string, f state.WorkspaceLog) (*WorkspaceLog, error) {
	m, err := s.Access(ctx, a, slug, identity.Editor)
	if err != nil {
		return nil, err
	}
	tx := s.DB.Read()
	f.WorkspaceID, f.AccountID = m.ID, sanitize(f.AccountID)
	out := &WorkspaceLog{Emails: map[string]string{}}
	if out.Entries, err = tx.WorkspaceLog(ctx, &f); err != nil {
		return nil, s.DB.APIError(err)
	}
	for i := range out.Entries {
		for _, id := range []string{out.Entries[i].AccountID, out.Entries[i].Detail["member"]} {
			if _, known := out.Emails[id]; known || id == "" {
				continue
			}
			account, err := tx.Account(ctx, id)
			switch {
			case err == nil:
				out.Emails[id] = account.Email
			case !errors.Is(err, state.ErrNotFound):
				return nil, s.DB.APIError(err)
			}
		}
	}
	return out, nil
}
