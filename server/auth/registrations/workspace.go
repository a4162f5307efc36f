package registrations

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/store/identity"
	"github.com/firstpick/firstpick/server/store/quota"
	"github.com/firstpick/firstpick/server/store/state"
)

// keyPrefixes are the kinds of collector keys: secret for servers, publishable
// for browsers, log for log drains.
var keyPrefixes = map[string]string{"secret": "sk_live_", "publishable": "pk_live_", "log": "log_live_"}

const maxLabel = 100

func allowed(b state.Bearer, scope string) bool {
	return slices.Contains(strings.Fields(b.Scope), scope)
}

// A KeyRequest asks for a collector key. Origins are those of the pages that a
// publishable key is for, such as https://example.com.
type KeyRequest struct {
	Kind, Label string
	Origins     []string
}

// newKey checks a request for a collector key, and makes the key.
func (s *Service) newKey(workspace string, req KeyRequest) (k *state.CollectorKey, key string, err error) {
	prefix, ok := keyPrefixes[req.Kind]
	if !ok {
		return nil, "", apierr.BadBody("unsupported_kind", "kind must be secret, publishable or log.")
	}
	if err := req.checkOrigins(); err != nil {
		return nil, "", err
	}
	label := strings.TrimSpace(req.Label)
	if utf8.RuneCountInString(label) > maxLabel || !utf8.ValidString(label) || strings.ContainsFunc(label, unicode.IsControl) {
		return nil, "", apierr.BadBody("invalid_label", "label must be at most 100 characters of text.")
	}
	key = s.Secrets.Key(prefix)
	return &state.CollectorKey{
		ID: s.Secrets.ID("key_"), Hash: hash(key), WorkspaceID: workspace, Kind: req.Kind, Label: label, Origins: req.Origins,
		Shown: prefix + "..." + key[len(key)-4:], CreatedAt: s.Now(),
	}, key, nil
}

// addKey stores a key, if the workspace may have one more.
func (u *unit) addKey(k *state.CollectorKey, claimed bool) error {
	n, err := u.tx.LiveKeys(u.ctx, k.WorkspaceID)
	if err != nil {
		return err
	}
	most, advice := identity.ClaimedKeys, "Revoke one that is not used."
	if !claimed {
		most, advice = identity.UnclaimedKeys, "Revoke one, or claim the workspace."
	}
	if n >= most {
		return &apierr.Error{Status: 409, Code: "too_many_keys", Description: "This workspace has all the keys it can have. " + advice}
	}
	return u.tx.AddCollectorKey(u.ctx, k)
}

// CreateKey makes a collector key of the token's workspace, and returns that
// workspace's slug too. The key itself is in the answer alone.
func (s *Service) CreateKey(ctx context.Context, c *Caller, b state.Bearer, req KeyRequest) (k *state.CollectorKey, key, slug string, err error) {
	if !allowed(b, identity.ScopeWrite) {
		return nil, "", "", apierr.InsufficientScope(identity.ScopeWrite, "Creating a key needs analytics.write.")
	}
	if k, key, err = s.newKey(b.WorkspaceID, req); err != nil {
		return nil, "", "", err
	}
	err = s.write(ctx, c, func(u *unit) error {
		if err := u.stillValid(b); err != nil {
			return err
		}
		w, err := u.tx.Workspace(ctx, b.WorkspaceID)
		if err != nil {
			return err
		}
		slug = w.Slug
		if err := u.take(quota.Use{Rule: "keys.registration", Key: b.RegistrationID}); err != nil {
			return err
		}
		k.CreatedBy = b.AccountID
		if err := u.addKey(k, b.AccountID != ""); err != nil {
			return err
		}
		return u.auditBearer("key.created", b, map[string]string{"key": k.ID, "kind": req.Kind})
	})
	return k, key, slug, err
}

// stillValid refuses a token whose registration was claimed or revoked since the
// token was looked at.
func (u *unit) stillValid(b state.Bearer) error {
	r, err := u.tx.Registration(u.ctx, b.RegistrationID)
	if err != nil && !errors.Is(err, state.ErrNotFound) {
		return err
	}
	if err != nil || !r.MayExchange(b.Generation, u.now) {
		return apierr.InvalidToken()
	}
	return nil
}

func (u *unit) auditBearer(what string, b state.Bearer, detail map[string]string) error {
	return u.audit(what, &identity.Registration{ID: b.RegistrationID, WorkspaceID: b.WorkspaceID, AccountID: b.AccountID}, detail)
}

// Keys returns the collector keys of a token's workspace that are not revoked,
// oldest first.
func (s *Service) Keys(ctx context.Context, b state.Bearer) ([]state.CollectorKey, error) {
	if !allowed(b, identity.ScopeWrite) {
		return nil, apierr.InsufficientScope(identity.ScopeWrite, "Listing keys needs analytics.write.")
	}
	keys, err := s.liveKeys(ctx, b.WorkspaceID)
	return keys, s.DB.APIError(err)
}

func (s *Service) liveKeys(ctx context.Context, workspace string) ([]state.CollectorKey, error) {
	keys, err := s.DB.Read().CollectorKeys(ctx, workspace)
	return slices.DeleteFunc(keys, func(k state.CollectorKey) bool { return !k.RevokedAt.IsZero() }), err
}

// RevokeKey ends a collector key of a token's workspace. Servers believe it for
// five seconds more.
func (s *Service) RevokeKey(ctx context.Context, c *Caller, b state.Bearer, id string) error {
	if !allowed(b, identity.ScopeWrite) {
		return apierr.InsufficientScope(identity.ScopeWrite, "Revoking a key needs analytics.write.")
	}
	return s.write(ctx, c, func(u *unit) error {
		if err := u.stillValid(b); err != nil {
			return err
		}
		if err := u.revokeKey(b.WorkspaceID, id); err != nil {
			return err
		}
		return u.auditBearer("key.revoked", b, map[string]string{"key": id})
	})
}

func (u *unit) revokeKey(workspace, id string) error {
	err := u.tx.RevokeKey(u.ctx, workspace, id, u.now)
	if errors.Is(err, state.ErrNotFound) {
		return &apierr.Error{Status: 404, Code: "not_found", Description: "This workspace has no such key, or it is revoked already. GET /api/agent/keys lists them."}
	}
	return err
}

// ReadWorkspace returns the workspace of a token and its keys.
func (s *Service) ReadWorkspace(ctx context.Context, b state.Bearer) (*state.Workspace, []state.CollectorKey, error) {
	if !allowed(b, identity.ScopeRead) {
		return nil, nil, apierr.InsufficientScope(identity.ScopeRead, "This workspace is not claimed, so it is write-only. Claim it to read it.")
	}
	tx := s.DB.Read()
	w, err := tx.Workspace(ctx, b.WorkspaceID)
	if err != nil {
		return nil, nil, s.DB.APIError(err)
	}
	keys, err := s.liveKeys(ctx, b.WorkspaceID)
	return w, keys, s.DB.APIError(err)
}

// MayErase fails for a token that may not change its workspace.
func (s *Service) MayErase(b state.Bearer) error {
	if !allowed(b, identity.ScopeWrite) {
		return apierr.InsufficientScope(identity.ScopeWrite, "Erasing needs analytics.write.")
	}
	return nil
}

// AskPerson counts a question about a person, or an erasure: either reads all that
// is stored. It fails with a 429 when there were too many.
func (s *Service) AskPerson(ctx context.Context, c *Caller, b state.Bearer) error {
	return s.write(ctx, c, func(u *unit) error {
		return u.take(quota.Use{Rule: "person.registration", Key: b.RegistrationID})
	})
}

// NoteErasure notes that events of a person were erased, and how many.
func (s *Service) NoteErasure(ctx context.Context, c *Caller, b state.Bearer, events int) error {
	return s.write(ctx, c, func(u *unit) error {
		return u.auditBearer("person.erased", b, map[string]string{"events": strconv.Itoa(events)})
	})
}
