package evals

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/store/state"
)

const (
	maxProviderKey = 4096 // characters
	shownOfSecret  = 4
)

// A KeyChange is an update of a provider key.
type KeyChange struct {
	Name string
	// Value is the key; empty keeps the one that is there.
	Value string
	// Hosts are those that it may be sent to; nil keeps them, or takes those of the
	// provider that the name belongs to.
	Hosts []string
}

// SetProviderKey stores a key of a model provider under the name by which evals
// call it, in place of the one that was there. Only an owner binds it to hosts that it
// was not bound to, and that are not its provider's.
func (s *Service) SetProviderKey(ctx context.Context, a Actor, c KeyChange) (*ProviderKey, error) {
	if err := errors.Join(a.may(ScopeRun), s.needPlan(a)); err != nil {
		return nil, s.fail(err)
	}
	if err := c.Check(); err != nil {
		return nil, err
	}
	var out *ProviderKey
	err := s.write(ctx, func(tx *state.Tx) error {
		if err := s.storeKey(ctx, tx, a, c); err != nil {
			return err
		}
		keys, err := s.providerKeys(ctx, tx, a)
		out = keyNamed(keys, c.Name)
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// storeKey stores a valid change.
func (s *Service) storeKey(ctx context.Context, tx *state.Tx, a Actor, c KeyChange) error {
	now := s.Now()
	if err := tx.LockWorkspace(ctx, a.Workspace.ID); err != nil {
		return err
	}
	before, err := s.providerKeys(ctx, tx, a)
	if err != nil {
		return err
	}
	known := keyNamed(before, c.Name)
	hosts, err := c.bind(a, known)
	if err != nil {
		return err
	}
	switch {
	case c.Value != "":
		key := state.ProviderKey{Name: c.Name, Shown: "..." + c.Value[len(c.Value)-shownOfSecret:], Hosts: hosts}
		err = tx.PutProviderKey(ctx, a.Workspace.ID, key, state.ProviderSecret(c.Value), now)
	case known == nil:
		return missing("not_found", "This workspace has no provider key of that name. Send its value, too.")
	default:
		err = tx.BindProviderKey(ctx, a.Workspace.ID, c.Name, hosts, now)
	}
	if err != nil {
		return err
	}
	keys, err := s.providerKeys(ctx, tx, a)
	if err != nil {
		return err
	}
	if most := s.Caps.or().ProviderKeys; len(keys) > most {
		return conflict("too_many_keys", "This workspace has all the provider keys it can have. Remove one that is not used.")
	}
	return s.audit(ctx, tx, a, now, "providerkey.set", map[string]string{"name": c.Name, "hosts": list(hosts)})
}

// Check validates a change, and puts it into its normal form.
func (c *KeyChange) Check() error {
	if !ProviderKeyName(c.Name) {
		return apierr.BadBody("invalid_name", "The name of a provider key is that of an environment variable, such as OPENAI_API_KEY: capital letters, digits and _, at most 100, ending in _KEY, _TOKEN or _SECRET.")
	}
	var err error
	if c.Hosts != nil {
		if c.Hosts, err = parseHosts(c.Hosts); err != nil {
			return apierr.BadBody("invalid_hosts", "hosts: "+err.Error()+".")
		}
		if c.Value == "" {
			return nil
		}
	}
	c.Value = strings.TrimSpace(c.Value)
	if len(c.Value) < 8 || len(c.Value) > maxProviderKey || strings.ContainsFunc(c.Value, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return apierr.BadBody("invalid_value", "value must be the key "+c.Name+": 8 to 4096 printable ASCII characters without blanks.")
	}
	if strings.Trim(c.Value, "0123456789.eE+-") == "" { // redaction could not distinguish it from numbers in responses
		return apierr.BadBody("invalid_value", "value must be the provider key "+c.Name+" (got a number).")
	}
	return nil
}

// bind returns the hosts that a key has after the change; known is the key as it is,
// nil for a new one.
func (c *KeyChange) bind(a Actor, known *ProviderKey) ([]string, error) {
	have := DefaultHosts(c.Name)
	if known != nil {
		have = known.Hosts
	}
	if c.Hosts == nil {
		if len(have) == 0 && a.owns() {
			return nil, apierr.BadBody("hosts_required", c.Name+" belongs to no provider known here. Name the hosts that it may be sent to, such as api.example.com.")
		}
		return have, nil
	}
	for _, h := range c.Hosts {
		if !a.owns() && !slices.Contains(have, h) {
			return nil, apierr.AccessDenied(NotBound(c.Name, h, have))
		}
	}
	return c.Hosts, nil
}

func keyNamed(keys []*ProviderKey, name string) *ProviderKey {
	if i := slices.IndexFunc(keys, func(k *ProviderKey) bool { return k.Name == name }); i >= 0 {
		return keys[i]
	}
	return nil
}

// ProviderKeyName reports whether a name is valid for a provider key. Names that change
// the behaviour of programs, such as LD_PRELOAD, are invalid.
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
		out[i] = &ProviderKey{Name: k.Name, Shown: k.Shown, Hosts: append([]string{}, k.Hosts...), CreatedAt: k.CreatedAt, UpdatedAt: k.UpdatedAt}
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

// mayBeSent refuses an eval that sends keys of the workspace to hosts which they are
// not bound to.
func (s *Service) mayBeSent(ctx context.Context, tx *state.Tx, a Actor, sum Summary) error {
	keys, err := s.providerKeys(ctx, tx, a)
	if err != nil {
		return err
	}
	if why := boundElsewhere(sum.KeyHosts, keys); why != "" {
		return invalid(Issue{Message: why})
	}
	return nil
}

// DropProviderKey deletes a provider key. Runs under way keep it until they end.
func (s *Service) DropProviderKey(ctx context.Context, a Actor, name string) error {
	if err := a.may(ScopeRun); err != nil {
		return err
	}
	now := s.Now()
	return s.write(ctx, func(tx *state.Tx) error {
		if err := tx.LockWorkspace(ctx, a.Workspace.ID); err != nil {
			return err
		}
		if err := tx.DropProviderKey(ctx, a.Workspace.ID, name); err != nil {
			return orMissing(err, "not_found", "This workspace has no provider key of that name.")
		}
		return s.audit(ctx, tx, a, now, "providerkey.removed", map[string]string{"name": name})
	})
}
