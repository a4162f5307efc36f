package state

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"

	"github.com/firstpick/firstpick/server/kit/secret"
)

// The settings of a store's identity.
const (
	settingID      = "store"
	settingOrigins = "store origins"
)

// ID returns the id of the store. It is random, made with the store, and not in backups: a
// restored store is another one.
func (db *DB) ID() string { return db.id }

// RestoredFrom reports whether the store was filled from a backup of the store with this
// id, directly or by others between.
func (db *DB) RestoredFrom(id string) bool { return slices.Contains(db.origins, id) }

// identify reads the store's id, and makes it in a new store.
func (db *DB) identify(ctx context.Context) error {
	tx := db.Read()
	var id, origins []byte
	err := tx.one(ctx, []any{&id}, "select value from setting where name = $1", settingID)
	if errors.Is(err, ErrNotFound) {
		random := secret.Hash(string(db.vault.Seal(settingID, []byte(settingID)))) // the seal's nonce is random
		err = db.Write(ctx, func(tx *Tx) error {                                   // another process may make it now
			if _, err := tx.exec(ctx, "insert into setting (name, value) values ($1, $2) on conflict do nothing", settingID, []byte(hex.EncodeToString(random[:12]))); err != nil {
				return err
			}
			return tx.one(ctx, []any{&id}, "select value from setting where name = $1", settingID)
		})
	}
	if err != nil {
		return err
	}
	db.id = string(id)
	err = tx.one(ctx, []any{&origins}, "select value from setting where name = $1", settingOrigins)
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(origins, &db.origins)
}

// setOrigins notes the stores of a backup.
func (tx *Tx) setOrigins(ctx context.Context, stores []string) error {
	if len(stores) == 0 {
		return nil
	}
	text, err := json.Marshal(stores)
	if err != nil {
		return err
	}
	_, err = tx.exec(ctx, "insert into setting (name, value) values ($1, $2) on conflict (name) do update set value = excluded.value", settingOrigins, text)
	return err
}
