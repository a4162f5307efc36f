package state

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

// An AccessToken is an opaque bearer token. It is valid while its generation is
// the registration's.
type AccessToken struct {
	Hash           []byte
	RegistrationID string
	Generation     int
	Scope          string
	CreatedAt      time.Time
	ExpiresAt      time.Time
	IP             string
}

// AddAccessToken stores a token. When its registration has keep live ones
// already, the oldest are revoked.
func (tx *Tx) AddAccessToken(ctx context.Context, t *AccessToken, keep int) error {
	if _, err := tx.exec(ctx, `update access_token set revoked_at = $2 where hash in (
		select hash from access_token where registration_id = $1 and revoked_at = 0 and expires_at > $2 and generation = $3
		order by created_at desc, hash limit 1000 offset $4)`, t.RegistrationID, us(t.CreatedAt), int64(t.Generation), keep-1); err != nil {
		return err
	}
	_, err := tx.exec(ctx, `insert into access_token (hash, registration_id, generation, scope, created_at, expires_at, revoked_at, ip)
		values ($1, $2, $3, $4, $5, $6, 0, $7)`,
		t.Hash, t.RegistrationID, int64(t.Generation), t.Scope, us(t.CreatedAt), us(t.ExpiresAt), t.IP)
	return err
}

// RevokeToken revokes one token. It returns the token's registration, or "" when
// there was nothing to revoke.
func (tx *Tx) RevokeToken(ctx context.Context, hash []byte, now time.Time) (string, error) {
	var registration string
	err := tx.one(ctx, []any{&registration}, "update access_token set revoked_at = $2 where hash = $1 and revoked_at = 0 and expires_at > $2 returning registration_id", hash, us(now))
	if errors.Is(err, ErrNotFound) {
		return "", nil
	}
	return registration, err
}

// RevokeTokens revokes every token of a registration.
func (tx *Tx) RevokeTokens(ctx context.Context, registration string, now time.Time) (int64, error) {
	return tx.exec(ctx, "update access_token set revoked_at = $2 where registration_id = $1 and revoked_at = 0", registration, us(now))
}

// A Bearer is the registration of a valid access token.
type Bearer struct {
	RegistrationID string
	WorkspaceID    string
	AccountID      string
	Generation     int
	Scope          string
	ExpiresAt      time.Time
}

// bearerSQL holds every condition of a valid token, so that the check is one
// read. An unclaimed registration ends with its window.
const bearerSQL = `select t.registration_id, r.workspace_id, r.account_id, t.generation, t.scope, t.expires_at
	from access_token t join registration r on r.id = t.registration_id
	where t.hash = $1 and t.revoked_at = 0 and t.expires_at > $2 and t.generation = r.generation and r.revoked_at = 0 and r.denied_at = 0
	and (r.claimed_at > 0 or r.claim_expires > $2)
	and not exists (select 1 from account a where a.id = r.account_id and a.disabled_at > 0)`

// Bearer checks an access token by its hash: ErrNotFound when it is not valid.
func (db *DB) Bearer(ctx context.Context, hash []byte, now time.Time) (Bearer, error) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	var b Bearer
	var expires int64
	err := db.bearer.QueryRowContext(ctx, hash, us(now)).Scan(&b.RegistrationID, &b.WorkspaceID, &b.AccountID, &b.Generation, &b.Scope, &expires)
	if errors.Is(err, sql.ErrNoRows) {
		return b, ErrNotFound
	}
	b.ExpiresAt = fromUS(expires)
	return b, err
}
