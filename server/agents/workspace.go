package agents

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/firstpick/firstpick/server/apierr"
	"github.com/firstpick/firstpick/server/identity"
	"github.com/firstpick/firstpick/server/limit"
	"github.com/firstpick/firstpick/server/state"
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

const maxOrigins = 20

// checkOrigins holds publishable keys to pages: anybody can read them there, so
// one that works everywhere would be no key.
func (r *KeyRequest) checkOrigins() error {
	if r.Kind != "publishable" {
		if len(r.Origins) > 0 {
			return apierr.BadBody("invalid_origins", "origins belong to publishable keys only.")
		}
		return nil
	}
	if len(r.Origins) == 0 || len(r.Origins) > maxOrigins {
		return apierr.BadBody("invalid_origins", "A publishable key needs origins: 1 to 20 of the form https://example.com.")
	}
	for _, o := range r.Origins {
		u, err := url.Parse(o)
		if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || o != u.Scheme+"://"+strings.ToLower(u.Host) {
			return apierr.BadBody("invalid_origins", "An origin is a scheme and a host, such as https://example.com, in lower case and without a path.")
		}
	}
	return nil
}

// CreateKey makes a collector key of the token's workspace, and returns that
// workspace's slug too. The key itself is in the answer alone.
func (s *Service) CreateKey(ctx context.Context, c *Caller, b state.Bearer, req KeyRequest) (k *state.CollectorKey, key, slug string, err error) {
	if !allowed(b, identity.ScopeWrite) {
		return nil, "", "", apierr.InsufficientScope(identity.ScopeWrite, "Creating a key needs analytics.write.")
	}
	prefix, ok := keyPrefixes[req.Kind]
	if !ok {
		return nil, "", "", apierr.BadBody("unsupported_kind", "kind must be secret, publishable or log.")
	}
	if err := req.checkOrigins(); err != nil {
		return nil, "", "", err
	}
	label := strings.TrimSpace(req.Label)
	if utf8.RuneCountInString(label) > maxLabel || !utf8.ValidString(label) || strings.ContainsFunc(label, unicode.IsControl) {
		return nil, "", "", apierr.BadBody("invalid_label", "label must be at most 100 characters of text.")
	}
	now := s.Now()
	key = s.Secrets.Key(prefix)
	k = &state.CollectorKey{
		ID: s.Secrets.ID("key_"), Hash: hash(key), WorkspaceID: b.WorkspaceID, Kind: req.Kind, Label: label, Origins: req.Origins,
		Shown: prefix + "..." + key[len(key)-4:], CreatedAt: now,
	}
	err = s.write(ctx, func(tx *state.Tx) error {
		r, err := tx.Registration(ctx, b.RegistrationID)
		if err != nil && !errors.Is(err, state.ErrNotFound) {
			return err
		}
		if err != nil || !r.MayExchange(b.Generation, now) { // it was claimed or revoked since the token was looked at
			return apierr.InvalidToken()
		}
		w, err := tx.Workspace(ctx, b.WorkspaceID)
		if err != nil {
			return err
		}
		slug = w.Slug
		n, err := tx.LiveKeys(ctx, b.WorkspaceID)
		if err != nil {
			return err
		}
		most, advice := identity.ClaimedKeys, "Use one of them."
		if b.AccountID == "" {
			most, advice = identity.UnclaimedKeys, "Claim the workspace, or use a key at hand."
		}
		if n >= most {
			return &apierr.Error{Status: 409, Code: "too_many_keys", Description: "This workspace has all the keys it can have. " + advice}
		}
		if err := s.take(ctx, tx, now, c, limit.Use{Rule: "keys.registration", Key: b.RegistrationID}); err != nil {
			return err
		}
		if err := tx.AddCollectorKey(ctx, k); err != nil {
			return err
		}
		return s.audit(ctx, tx, now, c, "key.created", &identity.Registration{ID: b.RegistrationID, WorkspaceID: b.WorkspaceID, AccountID: b.AccountID},
			map[string]string{"key": k.ID, "kind": req.Kind})
	})
	return k, key, slug, err
}

// ReadWorkspace returns the workspace of a token and its keys.
func (s *Service) ReadWorkspace(ctx context.Context, b state.Bearer) (*state.Workspace, []state.CollectorKey, error) {
	if !allowed(b, identity.ScopeRead) {
		return nil, nil, apierr.InsufficientScope(identity.ScopeRead, "This workspace is not claimed, so it is write-only. Claim it to read it.")
	}
	tx := s.DB.Read()
	w, err := tx.Workspace(ctx, b.WorkspaceID)
	if err != nil {
		return nil, nil, s.fail(err)
	}
	keys, err := tx.CollectorKeys(ctx, b.WorkspaceID)
	return w, keys, s.fail(err)
}
