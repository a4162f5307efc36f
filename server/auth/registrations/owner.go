package registrations

import (
	"context"
	"errors"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/firstpick/firstpick/server/channel/event"
	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/store/identity"
	"github.com/firstpick/firstpick/server/store/state"
)

// OwnWorkspaces returns the workspaces of an account, oldest first.
func (s *Service) OwnWorkspaces(ctx context.Context, a *state.Account) ([]*state.Workspace, error) {
	list, err := s.DB.Read().Workspaces(ctx, a.ID)
	return list, s.fail(err)
}

// OwnWorkspace returns a workspace of an account. It fails with a 404 for one of
// somebody else's, just as for one that is not there.
func (s *Service) OwnWorkspace(ctx context.Context, a *state.Account, slug string) (*state.Workspace, error) {
	w, err := ownWorkspace(ctx, s.DB.Read(), a, slug)
	return w, s.fail(err)
}

func ownWorkspace(ctx context.Context, tx *state.Tx, a *state.Account, slug string) (*state.Workspace, error) {
	w, err := tx.WorkspaceBySlug(ctx, slug)
	if errors.Is(err, state.ErrNotFound) || err == nil && (w.OwnerID == "" || w.OwnerID != a.ID) {
		return nil, &apierr.Error{Status: 404, Code: "not_found", Description: "You have no such workspace."}
	}
	return w, err
}

// change does something to a workspace of an account and notes it.
func (s *Service) change(ctx context.Context, c *Caller, a *state.Account, slug, what string, do func(tx *state.Tx, w *state.Workspace, now time.Time) (map[string]string, error)) error {
	now := s.Now()
	return s.write(ctx, func(tx *state.Tx) error {
		w, err := ownWorkspace(ctx, tx, a, slug)
		if err != nil {
			return err
		}
		detail, err := do(tx, w, now)
		if err != nil {
			return err
		}
		return s.audit(ctx, tx, now, c, what, &identity.Registration{WorkspaceID: w.ID, AccountID: a.ID}, detail)
	})
}

// OwnKeys returns the collector keys of an account's workspace that are not
// revoked, oldest first.
func (s *Service) OwnKeys(ctx context.Context, a *state.Account, slug string) ([]state.CollectorKey, error) {
	w, err := s.OwnWorkspace(ctx, a, slug)
	if err != nil {
		return nil, err
	}
	keys, err := s.liveKeys(ctx, w.ID)
	return keys, s.fail(err)
}

// CreateOwnKey makes a collector key of an account's workspace. The key itself is
// in the answer alone.
func (s *Service) CreateOwnKey(ctx context.Context, c *Caller, a *state.Account, slug string, req KeyRequest) (*state.CollectorKey, string, error) {
	k, key, err := s.newKey("", req)
	if err != nil {
		return nil, "", err
	}
	err = s.change(ctx, c, a, slug, "key.created", func(tx *state.Tx, w *state.Workspace, _ time.Time) (map[string]string, error) {
		k.WorkspaceID = w.ID
		return map[string]string{"key": k.ID, "kind": k.Kind}, addKey(ctx, tx, k, true)
	})
	return k, key, err
}

// RevokeOwnKey ends a collector key of an account's workspace. Servers believe it
// for five seconds more.
func (s *Service) RevokeOwnKey(ctx context.Context, c *Caller, a *state.Account, slug, id string) error {
	return s.change(ctx, c, a, slug, "key.revoked", func(tx *state.Tx, w *state.Workspace, now time.Time) (map[string]string, error) {
		return map[string]string{"key": id}, revokeKey(ctx, tx, w.ID, id, now)
	})
}

// How long events may be kept. Ids are told apart for as long, so that a retry a
// month later still counts once.
const (
	leastRetention = 30  // days
	mostRetention  = 800 // days
)

// ChangeSettings stores what an owner says about a workspace. It fails with an
// *apierr.Error that tells which field is wrong.
func (s *Service) ChangeSettings(ctx context.Context, c *Caller, a *state.Account, slug string, set state.Settings) error {
	if err := checkSettings(&set); err != nil {
		return err
	}
	return s.change(ctx, c, a, slug, "workspace.settings", func(tx *state.Tx, w *state.Workspace, _ time.Time) (map[string]string, error) {
		return nil, tx.SetSettings(ctx, w.ID, set)
	})
}

func checkSettings(set *state.Settings) error {
	set.Site = strings.TrimRight(strings.TrimSpace(set.Site), "/")
	if set.Site != "" {
		u, err := url.Parse(set.Site)
		if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "" || u.User != nil || u.Path != "" || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || len(set.Site) > 255 {
			return apierr.BadBody("invalid_site", "site must be an address without a path, such as https://acme.dev.")
		}
		set.Site = strings.ToLower(set.Site)
	}
	if set.RetentionDays < leastRetention || set.RetentionDays > mostRetention {
		return apierr.BadBody("invalid_retention", "Events are kept for 30 to 800 days.")
	}
	set.Currency = strings.ToUpper(strings.TrimSpace(set.Currency))
	if _, known := event.Exponent(set.Currency); !known && set.Currency != "" {
		return apierr.BadBody("invalid_currency", "currency must be a code of ISO 4217, such as USD, or empty.")
	}
	return nil
}

// NoteOwnErasure notes that an owner had events of a person erased, and how many.
func (s *Service) NoteOwnErasure(ctx context.Context, c *Caller, a *state.Account, slug string, events int) error {
	return s.change(ctx, c, a, slug, "person.erased", func(*state.Tx, *state.Workspace, time.Time) (map[string]string, error) {
		return map[string]string{"events": strconv.Itoa(events)}, nil
	})
}
