package evals

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/kit/secret"
	"github.com/firstpick/firstpick/server/store/state"
)

const (
	keyPrefix = "fpe_" // of the key
	keyID     = "evk_" // of its id
	maxLabel  = 100
)

func noKey() error {
	return &apierr.Error{
		Status: http.StatusUnauthorized, Code: "invalid_token",
		Description: "This path needs a live eval key as Bearer token. The owner of a workspace mints keys in its settings.",
	}
}

// Authenticate returns whose key a token is. It fails with a 401 for one that is
// not live, and with a 403 while the workspace's plan does not include evals.
func (s *Service) Authenticate(ctx context.Context, token string, ip netip.Addr, userAgent string) (*Actor, error) {
	if !secret.IsKey(token, keyPrefix) {
		return nil, noKey()
	}
	now, tx := s.Now(), s.DB.Read()
	k, w, err := tx.EvalKeyByHash(ctx, secret.Hash(token))
	if errors.Is(err, state.ErrNotFound) {
		return nil, noKey()
	} else if err != nil {
		return nil, s.fail(err)
	}
	a := &Actor{Workspace: w, By: k.ID, Scopes: k.Scopes, IP: ip, UserAgent: userAgent}
	if err := s.ownerIn(ctx, tx, w); err != nil {
		return nil, s.fail(err)
	}
	if err := s.needPlan(*a); err != nil {
		return nil, err
	}
	if k.TouchDue(now) {
		if err := s.DB.Write(ctx, func(tx *state.Tx) error { return tx.TouchEvalKey(ctx, k.ID, now) }); err != nil {
			s.Log.Warn("the use of a key was not noted", "key", k.ID, "err", err)
		}
	}
	return a, nil
}

// ownerIn fails for a workspace whose owners' accounts are all disabled: its keys stop
// working at once.
func (s *Service) ownerIn(ctx context.Context, tx *state.Tx, w *state.Workspace) error {
	found, err := tx.HasOwner(ctx, w.ID)
	if err == nil && !found {
		return noKey()
	}
	return err
}

// A KeyRequest asks for a key. No scopes means both.
type KeyRequest struct {
	Label  string
	Scopes []string
}

// CreateKey mints a key. The key itself is in the answer alone.
func (s *Service) CreateKey(ctx context.Context, a Actor, req KeyRequest) (*Key, string, error) {
	if err := s.mayMint(a); err != nil {
		return nil, "", err
	}
	label := strings.TrimSpace(req.Label)
	if utf8.RuneCountInString(label) > maxLabel || !utf8.ValidString(label) || strings.ContainsFunc(label, unicode.IsControl) {
		return nil, "", apierr.BadBody("invalid_label", "label must be at most 100 characters of text.")
	}
	scopes, err := parseScopes(req.Scopes)
	if err != nil {
		return nil, "", err
	}
	token, now := s.Secrets.Key(keyPrefix), s.Now()
	k := &state.EvalKey{
		ID: s.Secrets.ID(keyID), Hash: secret.Hash(token), WorkspaceID: a.Workspace.ID, Label: label, Scopes: scopes,
		Shown: keyPrefix + "..." + token[len(token)-4:], CreatedAt: now, CreatedBy: a.By,
	}
	most := s.Caps.or().Keys
	err = s.write(ctx, func(tx *state.Tx) error {
		err := tx.AddEvalKey(ctx, k, most)
		if errors.Is(err, state.ErrTooManyKeys) {
			return conflict("too_many_keys", "This workspace has all the keys it can have. Revoke one that is not used.")
		} else if err != nil {
			return err
		}
		return s.audit(ctx, tx, a, now, "evalkey.created", map[string]string{"key": k.ID, "scopes": strings.Join(scopes, " ")})
	})
	if err != nil {
		return nil, "", err
	}
	return newKey(k), token, nil
}

// mayMint fails for a key: keys make no keys.
func (s *Service) mayMint(a Actor) error {
	if a.Scopes != nil {
		return apierr.AccessDenied("Keys are minted and revoked in the settings of the workspace, not with a key.")
	}
	if err := a.may(ScopeRun); err != nil {
		return err
	}
	return s.needPlan(a)
}

func parseScopes(given []string) ([]string, error) {
	if len(given) == 0 {
		return []string{ScopeRead, ScopeRun}, nil
	}
	var out []string
	for _, scope := range []string{ScopeRead, ScopeRun} {
		if slices.Contains(given, scope) {
			out = append(out, scope)
		}
	}
	for _, scope := range given {
		if scope != ScopeRead && scope != ScopeRun {
			return nil, apierr.BadBody("invalid_scope", "A scope is read or run.")
		}
	}
	return out, nil
}

// Keys returns the keys of a workspace, the revoked too, oldest first.
func (s *Service) Keys(ctx context.Context, a Actor) ([]*Key, error) {
	if err := a.may(ScopeRead); err != nil {
		return nil, err
	}
	stored, err := s.DB.Read().EvalKeys(ctx, a.Workspace.ID)
	out := make([]*Key, len(stored))
	for i := range stored {
		out[i] = newKey(stored[i])
	}
	return out, s.fail(err)
}

// KeyLabel returns the label of a key of the workspace, also of a revoked one; empty without
// such a key.
func (s *Service) KeyLabel(ctx context.Context, a Actor, id string) (string, error) {
	if err := a.may(ScopeRead); err != nil {
		return "", err
	}
	keys, err := s.DB.Read().EvalKeys(ctx, a.Workspace.ID)
	for _, k := range keys {
		if k.ID == id {
			return k.Label, nil
		}
	}
	return "", s.fail(err)
}

// RevokeKey ends a key at once. On any plan: a key must be stoppable.
func (s *Service) RevokeKey(ctx context.Context, a Actor, id string) error {
	if a.Scopes != nil {
		return s.mayMint(a)
	}
	if err := a.may(ScopeRun); err != nil {
		return err
	}
	now := s.Now()
	return s.write(ctx, func(tx *state.Tx) error {
		if err := tx.RevokeEvalKey(ctx, a.Workspace.ID, id, now); err != nil {
			return orMissing(err, "not_found", "This workspace has no such key, or it is revoked already.")
		}
		return s.audit(ctx, tx, a, now, "evalkey.revoked", map[string]string{"key": id})
	})
}

func newKey(k *state.EvalKey) *Key {
	return &Key{
		ID: k.ID, Label: k.Label, Shown: k.Shown, Scopes: k.Scopes, CreatedAt: k.CreatedAt,
		LastUsedAt: optional(k.LastUsedAt), RevokedAt: optional(k.RevokedAt),
	}
}

// Key returns the key that authenticated an actor.
func (s *Service) Key(ctx context.Context, a Actor) (*Key, error) {
	keys, err := s.Keys(ctx, Actor{Workspace: a.Workspace})
	if err != nil {
		return nil, err
	}
	for _, k := range keys {
		if k.ID == a.By {
			return k, nil
		}
	}
	return nil, noKey()
}
