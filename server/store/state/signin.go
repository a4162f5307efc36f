package state

import (
	"context"
	"errors"
	"time"
)

// SignInAccount returns the account that a user of an identity provider signs in to.
func (tx *Tx) SignInAccount(ctx context.Context, iss, sub string) (*Account, error) {
	var id string
	if err := tx.one(ctx, []any{&id}, "select account_id from sign_in_identity where iss = $1 and sub_mac = $2", iss, tx.mac("sub", sub)); err != nil {
		return nil, err
	}
	return tx.Account(ctx, id)
}

// HasSignIn reports whether an account is linked to a user of an identity provider.
func (tx *Tx) HasSignIn(ctx context.Context, account, iss string) (bool, error) {
	var n int
	err := tx.one(ctx, []any{&n}, "select count(*) from sign_in_identity where account_id = $1 and iss = $2", account, iss)
	return n > 0, err
}

// ErrLinked means that the account or the user of the provider is linked already.
var ErrLinked = errors.New("linked already")

// AddSignInIdentity links a user of an identity provider to an account. It fails with
// ErrLinked where either is linked to another.
func (tx *Tx) AddSignInIdentity(ctx context.Context, iss, sub, account string, now time.Time) error {
	n, err := tx.exec(ctx, "insert into sign_in_identity (iss, sub_mac, account_id, created_at) values ($1, $2, $3, $4) on conflict do nothing",
		iss, tx.mac("sub", sub), account, us(now))
	if err == nil && n == 0 {
		return ErrLinked
	}
	return err
}
