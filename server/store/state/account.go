package state

import (
	"context"
	"time"
)

// An Account is a person.
type Account struct {
	ID         string
	Email      string // canonical; empty for a person known by telephone only
	VerifiedAt time.Time
	AssertedBy string // issuer on whose word the account was made
	Phone      string
	Admin      bool
	CreatedAt  time.Time
	DisabledAt time.Time
}

// Verified reports whether the account's owner has verified the address.
func (a *Account) Verified() bool { return !a.VerifiedAt.IsZero() }

// Disabled reports whether an operator disabled the account.
func (a *Account) Disabled() bool { return !a.DisabledAt.IsZero() }

const accountColumns = "id, email_sealed, verified_at, asserted_by, phone_sealed, admin, created_at, disabled_at"

// AddAccount stores a new account.
func (tx *Tx) AddAccount(ctx context.Context, a *Account) error {
	_, err := tx.exec(ctx, `insert into account (id, email_mac, email_sealed, verified_at, asserted_by, phone_sealed, admin, created_at, disabled_at)
		values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
		a.ID, tx.mac("email", a.Email), tx.seal("email", a.Email), us(a.VerifiedAt), a.AssertedBy, tx.seal("phone", a.Phone), flag(a.Admin), us(a.CreatedAt), us(a.DisabledAt))
	return err
}

// SaveAccount updates an account.
func (tx *Tx) SaveAccount(ctx context.Context, a *Account) error {
	_, err := tx.exec(ctx, "update account set verified_at = $2, admin = $3, disabled_at = $4 where id = $1",
		a.ID, us(a.VerifiedAt), flag(a.Admin), us(a.DisabledAt))
	return err
}

func (tx *Tx) scanAccount(scan func(...any) error) (*Account, error) {
	var a Account
	var email, phone []byte
	var verified, admin, created, disabled int64
	if err := scan(&a.ID, &email, &verified, &a.AssertedBy, &phone, &admin, &created, &disabled); err != nil {
		return nil, err
	}
	var err error
	if a.Email, err = tx.open("email", email); err != nil {
		return nil, err
	}
	if a.Phone, err = tx.open("phone", phone); err != nil {
		return nil, err
	}
	a.VerifiedAt, a.Admin, a.CreatedAt, a.DisabledAt = fromUS(verified), admin != 0, fromUS(created), fromUS(disabled)
	return &a, nil
}

func (tx *Tx) account(ctx context.Context, query string, args ...any) (*Account, error) {
	return tx.scanAccount(func(dest ...any) error { return tx.one(ctx, dest, query, args...) })
}

// Account returns an account by id.
func (tx *Tx) Account(ctx context.Context, id string) (*Account, error) {
	return tx.account(ctx, "select "+accountColumns+" from account where id = $1"+tx.lock(), id)
}

// VerifiedAccount returns the account whose owner proved the address.
func (tx *Tx) VerifiedAccount(ctx context.Context, email string) (*Account, error) {
	return tx.account(ctx, "select "+accountColumns+" from account where email_mac = $1 and verified_at > 0"+tx.lock(), tx.mac("email", email))
}

// AssertedAccounts returns and locks the accounts that were made on an issuer's word for the
// address, oldest first.
func (tx *Tx) AssertedAccounts(ctx context.Context, email string) ([]*Account, error) {
	var out []*Account
	err := tx.list(ctx, func(row scanner) error {
		a, err := tx.scanAccount(row.Scan)
		out = append(out, a)
		return err
	}, "select "+accountColumns+" from account where email_mac = $1 and verified_at = 0 order by created_at, id"+tx.lock(), tx.mac("email", email))
	return out, err
}

// AnyAdmin reports whether an operator's account exists.
func (tx *Tx) AnyAdmin(ctx context.Context) (bool, error) {
	var n int
	err := tx.one(ctx, []any{&n}, "select count(*) from account where admin = 1")
	return n > 0, err
}

// MergeAccount hands everything of one account to another and deletes it.
func (tx *Tx) MergeAccount(ctx context.Context, from, into string) error {
	for _, query := range []string{
		"update workspace set owner_id = $2 where owner_id = $1",
		`insert into member (workspace_id, account_id, role, since) select workspace_id, $2, role, since from member where account_id = $1
			on conflict (workspace_id, account_id) do update set role = excluded.role where excluded.role = 'owner'`,
		"delete from member where account_id = $1 and account_id <> $2",
		"update collector_key set created_by = $2 where created_by = $1",
		"update registration set account_id = $2 where account_id = $1",
		"update delegation set account_id = $2 where account_id = $1",
	} {
		if _, err := tx.exec(ctx, query, from, into); err != nil {
			return err
		}
	}
	_, err := tx.exec(ctx, "delete from account where id = $1", from)
	return err
}
