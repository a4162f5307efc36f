package state

import (
	"context"
	"errors"
	"time"
)

// A Delegation says that an issuer's subject acts for an account.
type Delegation struct {
	ISS, Sub   string
	AccountID  string
	CreatedAt  time.Time
	RevokedAt  time.Time
	ReviewedAt time.Time
}

// Delegation returns the delegation of a subject and locks it; nil without one.
// Its Sub is the requested one.
func (tx *Tx) Delegation(ctx context.Context, iss, sub string) (*Delegation, error) {
	d := Delegation{ISS: iss, Sub: sub}
	var created, revoked, reviewed int64
	err := tx.one(ctx, []any{&d.AccountID, &created, &revoked, &reviewed},
		"select account_id, created_at, revoked_at, reviewed_at from delegation where iss = $1 and sub_mac = $2"+tx.lock(), iss, tx.mac("sub", sub))
	if errors.Is(err, ErrNotFound) {
		return nil, nil
	}
	d.CreatedAt, d.RevokedAt, d.ReviewedAt = fromUS(created), fromUS(revoked), fromUS(reviewed)
	return &d, err
}

// SaveDelegation stores a delegation, new or known.
func (tx *Tx) SaveDelegation(ctx context.Context, d *Delegation) error {
	_, err := tx.exec(ctx, `insert into delegation (iss, sub_mac, account_id, created_at, revoked_at, reviewed_at) values ($1, $2, $3, $4, $5, $6)
		on conflict (iss, sub_mac) do update set account_id = excluded.account_id, created_at = excluded.created_at,
		revoked_at = excluded.revoked_at, reviewed_at = excluded.reviewed_at`,
		d.ISS, tx.mac("sub", d.Sub), d.AccountID, us(d.CreatedAt), us(d.RevokedAt), us(d.ReviewedAt))
	return err
}

// Reviewed reports whether the owner of a subject's account has seen the delegation.
func (tx *Tx) Reviewed(ctx context.Context, iss, sub string) (bool, error) {
	var at int64
	err := tx.one(ctx, []any{&at}, "select reviewed_at from delegation where iss = $1 and sub_mac = $2", iss, tx.mac("sub", sub))
	if errors.Is(err, ErrNotFound) {
		return true, nil
	}
	return at > 0, err
}

// Unreviewed reports whether an account has live delegations that its owner has not
// seen.
func (tx *Tx) Unreviewed(ctx context.Context, account string) (bool, error) {
	var n int
	err := tx.one(ctx, []any{&n}, "select count(*) from delegation where account_id = $1 and revoked_at = 0 and reviewed_at = 0", account)
	return n > 0, err
}

// HasDelegation whether an account has a live delegation to an issuer.
func (tx *Tx) HasDelegation(ctx context.Context, account, iss string) (bool, error) {
	var n int
	err := tx.one(ctx, []any{&n}, "select count(*) from delegation where account_id = $1 and iss = $2 and revoked_at = 0", account, iss)
	return n > 0, err
}

// RevokeSubject notes that assertions of a subject issued until a time are void,
// and locks the subject as LockSubject does.
func (tx *Tx) RevokeSubject(ctx context.Context, iss, sub string, until time.Time) error {
	_, err := tx.exec(ctx, `insert into subject_revocation (iss, sub_mac, revoked_at) values ($1, $2, $3)
		on conflict (iss, sub_mac) do update set revoked_at = case when excluded.revoked_at > subject_revocation.revoked_at
		then excluded.revoked_at else subject_revocation.revoked_at end`, iss, tx.mac("sub", sub), us(until))
	return err
}

// LockSubject locks an issuer's subject, known or not, until commit. It returns the
// time before which its assertions are void; zero when all are valid. Take this lock
// before those of the subject's rows.
func (tx *Tx) LockSubject(ctx context.Context, iss, sub string) (time.Time, error) {
	var at int64
	err := tx.one(ctx, []any{&at}, `insert into subject_revocation (iss, sub_mac, revoked_at) values ($1, $2, 0)
		on conflict (iss, sub_mac) do update set revoked_at = subject_revocation.revoked_at returning revoked_at`, iss, tx.mac("sub", sub))
	return fromUS(at), err
}

// UseOnce notes that a token id was used. It returns false when it was before.
func (tx *Tx) UseOnce(ctx context.Context, usage, iss, jti string, expires time.Time) (bool, error) {
	n, err := tx.exec(ctx, "insert into replay (usage, iss, jti_mac, expires_at) values ($1, $2, $3, $4) on conflict do nothing",
		usage, iss, tx.mac("jti", jti), us(expires))
	return n == 1, err
}
