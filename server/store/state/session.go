package state

import (
	"context"
	"time"
)

// A Session is a signed-in browser.
type Session struct {
	Hash            []byte
	AccountID       string
	FormToken       string // that every form of this session carries
	CreatedAt       time.Time
	SeenAt          time.Time
	AuthenticatedAt time.Time
}

// AddSession stores a session.
func (tx *Tx) AddSession(ctx context.Context, s *Session) error {
	_, err := tx.exec(ctx, "insert into session (hash, account_id, form_token, created_at, seen_at, authenticated_at) values ($1, $2, $3, $4, $5, $6)",
		s.Hash, s.AccountID, s.FormToken, us(s.CreatedAt), us(s.SeenAt), us(s.AuthenticatedAt))
	return err
}

// Session returns a session by the hash of its cookie.
func (tx *Tx) Session(ctx context.Context, hash []byte) (*Session, error) {
	s := Session{Hash: hash}
	var created, seen, authenticated int64
	err := tx.one(ctx, []any{&s.AccountID, &s.FormToken, &created, &seen, &authenticated},
		"select account_id, form_token, created_at, seen_at, authenticated_at from session where hash = $1", hash)
	s.CreatedAt, s.SeenAt, s.AuthenticatedAt = fromUS(created), fromUS(seen), fromUS(authenticated)
	return &s, err
}

// TouchSession notes that a session was used.
func (tx *Tx) TouchSession(ctx context.Context, hash []byte, now time.Time) error {
	_, err := tx.exec(ctx, "update session set seen_at = $2 where hash = $1", hash, us(now))
	return err
}

// DropSession deletes a session.
func (tx *Tx) DropSession(ctx context.Context, hash []byte) error {
	_, err := tx.exec(ctx, "delete from session where hash = $1", hash)
	return err
}

// A SignIn is a link that signs a person in.
type SignIn struct {
	Hash        []byte
	BrowserHash []byte // of the cookie of the browser that asked; empty for an operator's link
	Email       string
	CreatedAt   time.Time
	ExpiresAt   time.Time
	UsedAt      time.Time
}

// AddSignIn stores a link.
func (tx *Tx) AddSignIn(ctx context.Context, s *SignIn) error {
	_, err := tx.exec(ctx, "insert into sign_in (hash, browser_hash, email_sealed, created_at, expires_at, used_at) values ($1, $2, $3, $4, $5, 0)",
		s.Hash, bytes(s.BrowserHash), tx.seal("email", s.Email), us(s.CreatedAt), us(s.ExpiresAt))
	return err
}

// SignIn returns a link by its hash and locks it.
func (tx *Tx) SignIn(ctx context.Context, hash []byte) (*SignIn, error) {
	s := SignIn{Hash: hash}
	var email []byte
	var created, expires, used int64
	err := tx.one(ctx, []any{&s.BrowserHash, &email, &created, &expires, &used},
		"select browser_hash, email_sealed, created_at, expires_at, used_at from sign_in where hash = $1"+tx.lock(), hash)
	if err != nil {
		return nil, err
	}
	s.CreatedAt, s.ExpiresAt, s.UsedAt = fromUS(created), fromUS(expires), fromUS(used)
	s.Email, err = tx.open("email", email)
	return &s, err
}

// UseSignIn notes that a link was used.
func (tx *Tx) UseSignIn(ctx context.Context, hash []byte, now time.Time) error {
	_, err := tx.exec(ctx, "update sign_in set used_at = $2 where hash = $1", hash, us(now))
	return err
}

// DropSessions signs an account out everywhere.
func (tx *Tx) DropSessions(ctx context.Context, account string) error {
	_, err := tx.exec(ctx, "delete from session where account_id = $1", account)
	return err
}
