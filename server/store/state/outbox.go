package state

import (
	"context"
	"errors"
	"time"
)

// AddMail puts a mail into the outbox, in the transaction that gives reason for
// it. Its content is stored sealed.
func (tx *Tx) AddMail(ctx context.Context, id string, content []byte, now time.Time) error {
	_, err := tx.exec(ctx, "insert into outbox (id, mail_sealed, created_at, next_at, tries) values ($1, $2, $3, $3, 0)",
		id, tx.seal("mail", string(content)), us(now))
	return err
}

// A QueuedMail is a mail that is due.
type QueuedMail struct {
	ID      string
	Content []byte
	Created time.Time
	Tries   int // this one included
}

// ClaimMail leases the mail that is due longest. It returns nil when no mail is due.
// A mail is sent twice when a server dies between sending and DropMail.
func (tx *Tx) ClaimMail(ctx context.Context, now time.Time, lease time.Duration) (*QueuedMail, error) {
	skip := ""
	if tx.db.Engine() == "postgres" {
		skip = " for update skip locked"
	}
	var m QueuedMail
	var sealed []byte
	var created int64
	err := tx.one(ctx, []any{&m.ID, &sealed, &created, &m.Tries}, `update outbox set tries = tries + 1, next_at = $2
		where id = (select id from outbox where next_at <= $1 order by next_at, id limit 1`+skip+`) returning id, mail_sealed, created_at, tries`,
		us(now), us(now.Add(lease)))
	if errors.Is(err, ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	content, err := tx.open("mail", sealed)
	m.Content, m.Created = []byte(content), fromUS(created)
	return &m, err
}

// DropMail deletes a mail: it was sent, or is given up.
func (tx *Tx) DropMail(ctx context.Context, id string) error {
	_, err := tx.exec(ctx, "delete from outbox where id = $1", id)
	return err
}

// PostponeMail sets when a mail is tried again.
func (tx *Tx) PostponeMail(ctx context.Context, id string, next time.Time) error {
	_, err := tx.exec(ctx, "update outbox set next_at = $2 where id = $1", id, us(next))
	return err
}
