package state

import (
	"context"
	"time"
)

// A SigningKey is a key that signs assertions; Private is its PKCS #8 form,
// stored sealed.
type SigningKey struct {
	KID        string
	Private    []byte
	CreatedAt  time.Time
	ActiveFrom time.Time
}

// SigningKeys returns all keys, by the time they become active.
func (tx *Tx) SigningKeys(ctx context.Context) ([]SigningKey, error) {
	var out []SigningKey
	err := tx.list(ctx, func(row scanner) error {
		var k SigningKey
		var sealed []byte
		var created, active int64
		if err := row.Scan(&k.KID, &sealed, &created, &active); err != nil {
			return err
		}
		private, err := tx.open("signing key", sealed)
		k.Private, k.CreatedAt, k.ActiveFrom = []byte(private), fromUS(created), fromUS(active)
		out = append(out, k)
		return err
	}, "select kid, key_sealed, created_at, active_from from signing_key order by active_from, kid")
	return out, err
}

// LockSigningKeys returns the same as SigningKeys, and locks the keys until commit.
func (tx *Tx) LockSigningKeys(ctx context.Context) ([]SigningKey, error) {
	if _, err := tx.exec(ctx, "update setting set value = value where name = $1", "master"); err != nil {
		return nil, err
	}
	return tx.SigningKeys(ctx)
}

// ActivateSigningKey lets a key sign from a time on.
func (tx *Tx) ActivateSigningKey(ctx context.Context, kid string, from time.Time) error {
	_, err := tx.exec(ctx, "update signing_key set active_from = $2 where kid = $1", kid, us(from))
	return err
}

// AddSigningKey stores a key.
func (tx *Tx) AddSigningKey(ctx context.Context, k *SigningKey) error {
	_, err := tx.exec(ctx, "insert into signing_key (kid, key_sealed, created_at, active_from) values ($1, $2, $3, $4)",
		k.KID, tx.seal("signing key", string(k.Private)), us(k.CreatedAt), us(k.ActiveFrom))
	return err
}

// DropSigningKey deletes a key. It reports whether there was one.
func (tx *Tx) DropSigningKey(ctx context.Context, kid string) (bool, error) {
	n, err := tx.exec(ctx, "delete from signing_key where kid = $1", kid)
	return n > 0, err
}

// An IssuerEntry is a trusted issuer that an operator added; Entry is its JSON.
type IssuerEntry struct {
	ISS, Entry string
}

// Issuers returns the trusted issuers in order of their names.
func (tx *Tx) Issuers(ctx context.Context) ([]IssuerEntry, error) {
	var out []IssuerEntry
	err := tx.list(ctx, func(row scanner) error {
		var e IssuerEntry
		err := row.Scan(&e.ISS, &e.Entry)
		out = append(out, e)
		return err
	}, "select iss, entry from issuer order by iss")
	return out, err
}

// SaveIssuer stores a trusted issuer, new or known.
func (tx *Tx) SaveIssuer(ctx context.Context, e IssuerEntry, now time.Time) error {
	_, err := tx.exec(ctx, "insert into issuer (iss, entry, created_at) values ($1, $2, $3) on conflict (iss) do update set entry = excluded.entry",
		e.ISS, e.Entry, us(now))
	return err
}

// DropIssuer deletes a trusted issuer. It reports whether there was one.
func (tx *Tx) DropIssuer(ctx context.Context, iss string) (bool, error) {
	n, err := tx.exec(ctx, "delete from issuer where iss = $1", iss)
	return n > 0, err
}
