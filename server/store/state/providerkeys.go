package state

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// A ProviderKey describes a workspace's key of a model provider. The secret goes to
// workers only.
type ProviderKey struct {
	Name      string   // unique in the workspace
	Shown     string   // the last characters of the secret
	Hosts     []string // that the secret may be sent to
	CreatedAt time.Time
	UpdatedAt time.Time
}

// A ProviderSecret is the key itself. Formatting, logging or encoding it shows a
// placeholder; convert it to a string.
type ProviderSecret string

const hidden = "(a provider key)"

// Format hides the key from fmt.
func (ProviderSecret) Format(s fmt.State, _ rune) { _, _ = io.WriteString(s, hidden) }

// MarshalText hides the key from JSON and logs.
func (ProviderSecret) MarshalText() ([]byte, error) { return []byte(hidden), nil }

// sealOf binds a sealed key to its row: it cannot be opened in another.
func sealOf(workspace, name string) string { return "provider key " + workspace + " " + name }

// PutProviderKey stores a key of a workspace and replaces the one of that name. The
// secret is sealed. The times of k are set to now.
func (tx *Tx) PutProviderKey(ctx context.Context, workspace string, k ProviderKey, secret ProviderSecret, now time.Time) error {
	_, err := tx.exec(ctx, `insert into provider_key (workspace_id, name, value_sealed, shown, hosts, created_at, updated_at) values ($1, $2, $3, $4, $5, $6, $6)
		on conflict (workspace_id, name) do update set value_sealed = excluded.value_sealed, shown = excluded.shown, hosts = excluded.hosts, updated_at = excluded.updated_at`,
		workspace, k.Name, tx.seal(sealOf(workspace, k.Name), string(secret)), k.Shown, hostsText(k.Hosts), us(now))
	return err
}

// BindProviderKey binds a key of a workspace to hosts, or reports ErrNotFound.
func (tx *Tx) BindProviderKey(ctx context.Context, workspace, name string, hosts []string, now time.Time) error {
	n, err := tx.exec(ctx, "update provider_key set hosts = $3, updated_at = $4 where workspace_id = $1 and name = $2", workspace, name, hostsText(hosts), us(now))
	if err == nil && n == 0 {
		return ErrNotFound
	}
	return err
}

func hostsText(hosts []string) string {
	text, err := json.Marshal(append([]string{}, hosts...))
	if err != nil {
		panic(err) // texts always encode
	}
	return string(text)
}

// ProviderKeys returns a workspace's provider keys without their values, by name.
func (tx *Tx) ProviderKeys(ctx context.Context, workspace string) ([]ProviderKey, error) {
	var out []ProviderKey
	err := tx.list(ctx, func(row scanner) error {
		var k ProviderKey
		var created, updated int64
		var hosts string
		if err := row.Scan(&k.Name, &k.Shown, &hosts, &created, &updated); err != nil {
			return err
		}
		k.CreatedAt, k.UpdatedAt = fromUS(created), fromUS(updated)
		err := json.Unmarshal([]byte(hosts), &k.Hosts)
		out = append(out, k)
		return err
	}, "select name, shown, hosts, created_at, updated_at from provider_key where workspace_id = $1 order by name", workspace)
	return out, err
}

// A BoundSecret is a key and the hosts that it may be sent to.
type BoundSecret struct {
	Secret ProviderSecret
	Hosts  []string
}

// ProviderSecrets returns the keys of a workspace by their names, for the worker
// of its runs.
func (tx *Tx) ProviderSecrets(ctx context.Context, workspace string) (map[string]BoundSecret, error) {
	out := map[string]BoundSecret{}
	err := tx.list(ctx, func(row scanner) error {
		var name, hosts string
		var sealed []byte
		if err := row.Scan(&name, &sealed, &hosts); err != nil {
			return err
		}
		key, err := tx.open(sealOf(workspace, name), sealed)
		k := BoundSecret{Secret: ProviderSecret(key)}
		err = errors.Join(err, json.Unmarshal([]byte(hosts), &k.Hosts))
		out[name] = k
		return err
	}, "select name, value_sealed, hosts from provider_key where workspace_id = $1", workspace)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// DropProviderKey deletes a key of a workspace, or reports ErrNotFound.
func (tx *Tx) DropProviderKey(ctx context.Context, workspace, name string) error {
	n, err := tx.exec(ctx, "delete from provider_key where workspace_id = $1 and name = $2", workspace, name)
	if err == nil && n == 0 {
		return ErrNotFound
	}
	return err
}
