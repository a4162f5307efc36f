package state

import (
	"context"
	"crypto/hmac"
	"embed"
	"errors"
	"fmt"
	"io/fs"
)

//go:embed schema/*.sql
var schemaFiles embed.FS

// migrate applies the schema files that the store does not have yet, in order of
// their names, all in one transaction.
func (db *DB) migrate(ctx context.Context) error {
	names, err := fs.Glob(schemaFiles, "schema/*.sql")
	if err != nil {
		return err
	}
	return db.bulk(ctx, func(tx *Tx) error {
		if db.Engine() == "postgres" { // two servers may start at once
			if _, err := tx.exec(ctx, "select pg_advisory_xact_lock(7106192026)"); err != nil {
				return err
			}
		}
		if _, err := tx.exec(ctx, "create table if not exists schema_version (version bigint primary key)"); err != nil {
			return err
		}
		have, err := tx.schemaVersion(ctx)
		if err != nil {
			return err
		}
		if have > len(names) {
			return fmt.Errorf("its schema is version %d and this program knows %d; use a newer firstpick", have, len(names))
		}
		for version := have + 1; version <= len(names); version++ {
			file := names[version-1]
			ddl, err := schemaFiles.ReadFile(file)
			if err != nil {
				return err
			}
			if _, err := tx.exec(ctx, string(ddl)); err != nil {
				return fmt.Errorf("%s: %w", file, err)
			}
			if _, err := tx.exec(ctx, "insert into schema_version (version) values ($1)", version); err != nil {
				return err
			}
		}
		return nil
	})
}

func (tx *Tx) schemaVersion(ctx context.Context) (int, error) {
	var version int
	err := tx.one(ctx, []any{&version}, "select coalesce(max(version), 0) from schema_version")
	return version, err
}

// ErrMaster means that the store was sealed under another master key.
var ErrMaster = errors.New("the store was made with another master key")

// checkMaster compares a keyed hash of a constant with the stored one, and
// stores it the first time.
func (db *DB) checkMaster(ctx context.Context) error {
	want := db.vault.MAC("master check")
	return db.Write(ctx, func(tx *Tx) error {
		if _, err := tx.exec(ctx, "insert into setting (name, value) values ($1, $2) on conflict do nothing", "master", want); err != nil {
			return err
		}
		var got []byte
		if err := tx.one(ctx, []any{&got}, "select value from setting where name = $1", "master"); err != nil {
			return err
		}
		if !hmac.Equal(got, want) {
			return ErrMaster
		}
		return nil
	})
}
