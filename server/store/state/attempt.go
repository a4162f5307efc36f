package state

import (
	"context"

	"github.com/firstpick/firstpick/server/store/identity"
)

const attemptColumns = "id, registration_id, view_hash, code_mac, created_at, expires_at, wrong, state, ip, user_agent"

// AddAttempt stores a new attempt; the active one before it is superseded.
func (tx *Tx) AddAttempt(ctx context.Context, a *identity.Attempt) error {
	if _, err := tx.exec(ctx, "update attempt set state = $2 where registration_id = $1 and state = $3",
		a.RegistrationID, string(identity.Superseded), string(identity.Active)); err != nil {
		return err
	}
	_, err := tx.exec(ctx, "insert into attempt ("+attemptColumns+") values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
		a.ID, a.RegistrationID, a.ViewHash, a.CodeMAC, us(a.CreatedAt), us(a.ExpiresAt), int64(a.Wrong), string(a.State), a.IP, a.UserAgent)
	return err
}

// SaveAttempt stores the state and the count of wrong codes.
func (tx *Tx) SaveAttempt(ctx context.Context, a *identity.Attempt) error {
	_, err := tx.exec(ctx, "update attempt set wrong = $2, state = $3 where id = $1", a.ID, int64(a.Wrong), string(a.State))
	return err
}

// AttemptByView returns the attempt of a link.
func (tx *Tx) AttemptByView(ctx context.Context, viewHash []byte) (*identity.Attempt, error) {
	return tx.attempt(ctx, "view_hash = $1", viewHash)
}

// NewestAttempt returns the newest attempt of a registration, or nil. An active
// attempt is the newest, whatever its time.
func (tx *Tx) NewestAttempt(ctx context.Context, registration string) (*identity.Attempt, error) {
	a, err := tx.attempt(ctx, "registration_id = $1 order by case when state = 'active' then 0 else 1 end, created_at desc, id desc limit 1", registration)
	if err == ErrNotFound { //nolint:errorlint // one returns it as it is
		return nil, nil
	}
	return a, err
}

func (tx *Tx) attempt(ctx context.Context, where string, args ...any) (*identity.Attempt, error) {
	var a identity.Attempt
	var created, expires int64
	var st string
	err := tx.one(ctx, []any{&a.ID, &a.RegistrationID, &a.ViewHash, &a.CodeMAC, &created, &expires, &a.Wrong, &st, &a.IP, &a.UserAgent},
		"select "+attemptColumns+" from attempt where "+where, args...)
	if err != nil {
		return nil, err
	}
	a.CreatedAt, a.ExpiresAt, a.State = fromUS(created), fromUS(expires), identity.AttemptState(st)
	return &a, nil
}
