package registrations

import (
	"cmp"
	"context"
	"errors"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/firstpick/firstpick/fixtures/inert"
	"github.com/firstpick/firstpick/server/channel/event"
	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/store/identity"
	"github.com/firstpick/firstpick/server/store/quota"
	"github.com/firstpick/firstpick/server/store/state"
)

// maxWorkspaces is how many workspaces an account may own.
const maxWorkspaces = 50

// SiteTaken is the reason of the error for the site of a workspace that the account has; its
// suggestion is that workspace.
const SiteTaken = "site_taken"

// CreateOwnWorkspace makes a workspace for an account, with a collector key, a secret one unless
// first has another kind. The key itself is in the answer alone. It fails with an *apierr.Error that names the invalid field,
// with a 400 for the site of a workspace that the account has, and with a 429 after too many.
func (s *Service) CreateOwnWorkspace(ctx context.Context, c *Caller, a *state.Account, set state.Settings, first KeyRequest) (w *state.Workspace, key string, err error) {
	set.RetentionDays = cmp.Or(set.RetentionDays, state.DefaultRetention)
	if err := checkSettings(&set); err != nil {
		return nil, "", err
	}
	k, key, err := s.newKey("", KeyRequest{Kind: cmp.Or(first.Kind, "secret"), Label: cmp.Or(first.Label, "first key")})
	if err != nil {
		return nil, "", err
	}
	err = s.write(ctx, c, func(u *unit) error {
		if err := u.take(quota.Use{Rule: "workspaces.account", Key: a.ID}); err != nil {
			return err
		}
		owner, err := u.tx.Account(ctx, a.ID) // locked: an erasure of it comes before or after
		if errors.Is(err, state.ErrNotFound) || err == nil && !owner.DisabledAt.IsZero() {
			return apierr.AccessDenied("This account is disabled, or is being deleted.")
		}
		if err != nil {
			return err
		}
		list, err := u.tx.Workspaces(ctx, a.ID)
		if err != nil {
			return err
		}
		for _, o := range list {
			if set.Site != "" && o.Site == set.Site {
				return &apierr.Error{
					Status: 400, Code: "invalid_request", Reason: SiteTaken, Suggestions: []string{o.Slug},
					Description: "Your workspace " + o.Slug + " is for " + set.Site + " already. Open it, or enter another address.",
				}
			}
		}
		if len(list) >= maxWorkspaces {
			return apierr.InvalidRequest("You have " + strconv.Itoa(maxWorkspaces) + " workspaces, which is the most an account can own.")
		}
		if w, err = u.newOwnWorkspace(a.ID, set, k); err != nil {
			return err
		}
		return u.auditMember("workspace.created", w, a.ID, map[string]string{"key": k.ID})
	})
	return w, key, err
}

// newOwnWorkspace stores a workspace of an account with its settings and its first key.
func (u *unit) newOwnWorkspace(account string, set state.Settings, k *state.CollectorKey) (*state.Workspace, error) {
	w, err := u.newWorkspace(account, u.now)
	if err != nil {
		return nil, err
	}
	w.Settings, k.WorkspaceID, k.CreatedBy = set, w.ID, account
	return w, errors.Join(u.tx.SetSettings(u.ctx, w.ID, set), u.addKey(k, true))
}

// auditMember appends an entry about what a member did in a workspace.
func (u *unit) auditMember(event string, w *state.Workspace, account string, detail map[string]string) error {
	return u.audit(event, &identity.Registration{WorkspaceID: w.ID, AccountID: account}, detail)
}

// OwnKeys returns the collector keys of an account's workspace that are not
// revoked, oldest first.
func (s *Service) OwnKeys(ctx context.Context, a *state.Account, slug string) ([]state.CollectorKey, error) {
	m, err := s.Access(ctx, a, slug, identity.Editor)
	if err != nil {
		return nil, err
	}
	keys, err := s.liveKeys(ctx, m.ID)
	return keys, s.DB.APIError(err)
}

// CreateOwnKey makes a collector key of an account's workspace. The key itself is
// in the answer alone.
func (s *Service) CreateOwnKey(ctx context.Context, c *Caller, a *state.Account, slug string, req KeyRequest) (*state.CollectorKey, string, error) {
	k, key, err := s.newKey("", req)
	if err != nil {
		return nil, "", err
	}
	err = s.change(ctx, c, a, slug, identity.Editor, func(u *unit, w *state.Workspace) error {
		k.WorkspaceID, k.CreatedBy = w.ID, a.ID
		if err := u.addKey(k, true); err != nil {
			return err
		}
		return u.auditMember("key.created", w, a.ID, map[string]string{"key": k.ID, "kind": k.Kind})
	})
	return k, key, err
}

// RevokeOwnKey ends a collector key of an account's workspace. Servers believe it
// for five seconds more.
func (s *Service) RevokeOwnKey(ctx context.Context, c *Caller, a *state.Account, slug, id string) error {
	return s.change(ctx, c, a, slug, identity.Editor, func(u *unit, w *state.Workspace) error {
		if err := u.revokeKey(w.ID, id); err != nil {
			return err
		}
		return u.auditMember("key.revoked", w, a.ID, map[string]string{"key": id})
	})
}

// The bounds of retention. Event ids are deduplicated for as long, so that a retry a
// month later still counts once.
const (
	leastRetention = 30  // days
	mostRetention  = 800 // days
)

// ChangeSettings stores the settings of a workspace. It fails with an *apierr.Error
// that names the invalid field.
func (s *Service) ChangeSettings(ctx context.Context, c *Caller, a *state.Account, slug string, set state.Settings) error {
	if err := checkSettings(&set); err != nil {
		return err
	}
	return s.change(ctx, c, a, slug, identity.Editor, func(u *unit, w *state.Workspace) error {
		if err := u.tx.SetSettings(ctx, w.ID, set); err != nil {
			return err
		}
		return u.auditMember("workspace.settings", w, a.ID, changedSettings(w.Settings, set))
	})
}

// changedSettings describes a change of settings for the audit log: the fields, and a new name.
func changedSettings(before, after state.Settings) map[string]string {
	var fields []string
	for _, f := range []struct {
		name    string
		changed bool
	}{
		{"name", before.Name != after.Name}, {"site", before.Site != after.Site},
		{"retention", before.RetentionDays != after.RetentionDays}, {"currency", before.Currency != after.Currency},
	} {
		if f.changed {
			fields = append(fields, f.name)
		}
	}
	detail := map[string]string{"changed": strings.Join(fields, " ")}
	if before.Name != after.Name {
		detail["name"] = after.Name
	}
	return detail
}

func checkSettings(set *state.Settings) error {
	set.Name = strings.TrimSpace(set.Name)
	if utf8.RuneCountInString(set.Name) > maxLabel || !utf8.ValidString(set.Name) || strings.ContainsFunc(set.Name, inert.Invisible) {
		return apierr.BadBody("invalid_name", "name must be at most 100 visible characters.")
	}
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

// NoteOwnErasure audits that a member had events of a person erased, and how many.
func (s *Service) NoteOwnErasure(ctx context.Context, c *Caller, a *state.Account, slug string, events int) error {
	return s.change(ctx, c, a, slug, identity.Owner, func(u *unit, w *state.Workspace) error {
		return u.auditMember("person.erased", w, a.ID, map[string]string{"events": strconv.Itoa(events)})
	})
}
