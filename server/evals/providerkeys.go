package evals

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/server/apierr"
	"github.com/firstpick/firstpick/server/state"
)

const (
	maxProviderKey = 4096 // characters
	shownOfSecret  = 4
)

// SetProviderKey stores a key of a model provider under the name by which evals
// call it, in place of the one that was there.
func (s *Service) SetProviderKey(ctx context.Context, a Actor, name, value string) (*ProviderKey, error) {
	if err := errors.Join(a.may(ScopeRun), a.mayPay()); err != nil {
		return nil, s.fail(err)
	}
	if !ProviderKeyName(name) {
		return nil, apierr.BadBody("invalid_name", "The name of a provider key is that of an environment variable, such as OPENAI_API_KEY: capital letters, digits and _, at most 100, ending in _KEY, _TOKEN or _SECRET.")
	}
	value = strings.TrimSpace(value)
	if len(value) < 8 || len(value) > maxProviderKey || strings.ContainsFunc(value, func(c rune) bool { return c <= ' ' || c > '~' }) {
		return nil, apierr.BadBody("invalid_value", "value must be the key: 8 to 4096 printable ASCII characters without blanks.")
	}
	if strings.Trim(value, "0123456789.eE+-") == "" { // could not be told from the numbers of answers, to keep it out of them
		return nil, apierr.BadBody("invalid_value", "value must be the key: a number is none.")
	}
	shown := "..." + value[len(value)-shownOfSecret:]
	now := s.Now()
	var out *ProviderKey
	err := s.write(ctx, func(tx *state.Tx) error {
		if err := tx.PutProviderKey(ctx, a.Workspace.ID, name, state.ProviderSecret(value), shown, now); err != nil {
			return err
		}
		keys, err := s.providerKeys(ctx, tx, a)
		if err != nil {
			return err
		}
		if most := s.Caps.or().ProviderKeys; len(keys) > most {
			return conflict("too_many_keys", "This workspace has all the provider keys it can have. Remove one that is not used.")
		}
		out = keys[slices.IndexFunc(keys, func(k *ProviderKey) bool { return k.Name == name })]
		return s.audit(ctx, tx, a, now, "providerkey.set", map[string]string{"name": name})
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// ProviderKeyName says whether a name may be a provider key's. Names that programs
// take as orders to themselves, such as LD_PRELOAD, are none.
func ProviderKeyName(name string) bool {
	if name == "" || len(name) > 100 || name[0] >= '0' && name[0] <= '9' {
		return false
	}
	for _, c := range []byte(name) {
		if (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' {
			return false
		}
	}
	for _, end := range []string{"_KEY", "_TOKEN", "_SECRET"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return false
}

// ProviderKeys returns the provider keys of a workspace, by name.
func (s *Service) ProviderKeys(ctx context.Context, a Actor) ([]*ProviderKey, error) {
	if err := a.may(ScopeRead); err != nil {
		return nil, err
	}
	keys, err := s.providerKeys(ctx, s.DB.Read(), a)
	return keys, s.fail(err)
}

func (s *Service) providerKeys(ctx context.Context, tx *state.Tx, a Actor) ([]*ProviderKey, error) {
	stored, err := tx.ProviderKeys(ctx, a.Workspace.ID)
	out := make([]*ProviderKey, len(stored))
	for i, k := range stored {
		out[i] = &ProviderKey{Name: k.Name, Shown: k.Shown, CreatedAt: k.CreatedAt, UpdatedAt: k.UpdatedAt}
	}
	return out, err
}

func (s *Service) providerKeyNames(ctx context.Context, tx *state.Tx, a Actor) ([]string, error) {
	keys, err := tx.ProviderKeys(ctx, a.Workspace.ID)
	names := make([]string, len(keys))
	for i := range keys {
		names[i] = keys[i].Name
	}
	return names, err
}

// DropProviderKey deletes a provider key. Runs under way keep it until they end.
func (s *Service) DropProviderKey(ctx context.Context, a Actor, name string) error {
	if err := a.may(ScopeRun); err != nil {
		return err
	}
	now := s.Now()
	return s.write(ctx, func(tx *state.Tx) error {
		if err := tx.DropProviderKey(ctx, a.Workspace.ID, name); err != nil {
			return orMissing(err, "not_found", "This workspace has no provider key of that name.")
		}
		return s.audit(ctx, tx, a, now, "providerkey.removed", map[string]string{"name": name})
	})
}
