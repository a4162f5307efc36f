package registrations

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/firstpick/firstpick/server/kit/mail"
	"github.com/firstpick/firstpick/server/kit/secret"
	"github.com/firstpick/firstpick/server/store/identity"
	"github.com/firstpick/firstpick/server/store/state"
)

// An Outbox sends mail that a transaction decided on: the mail is stored with
// the decision, so neither is there without the other, and sent afterwards, at
// least once.
type Outbox struct {
	DB      *state.DB
	Mailer  mail.Mailer
	Log     *slog.Logger
	Now     func() time.Time
	Secrets secret.Source

	wake chan struct{}

	mu      sync.Mutex
	waiting map[string]chan struct{}
}

const (
	mailLease  = time.Minute      // in which one server alone tries a mail
	mailGiveUp = 12 * time.Hour   // after which a mail is dropped
	mailFirst  = 10 * time.Second // pause after the first failure; it doubles
	mailMost   = 30 * time.Minute
	mailAwait  = 2 * time.Second
)

// NewOutbox returns an outbox.
func NewOutbox(db *state.DB, m mail.Mailer, log *slog.Logger, now func() time.Time, secrets secret.Source) *Outbox {
	return &Outbox{DB: db, Mailer: m, Log: log, Now: now, Secrets: secrets, wake: make(chan struct{}, 1), waiting: map[string]chan struct{}{}}
}

// Put stores a mail in a transaction.
func (o *Outbox) Put(ctx context.Context, tx *state.Tx, now time.Time, m mail.Message) error {
	if m.To == "" {
		return nil // a person known by telephone only
	}
	_, err := o.put(ctx, tx, now, m)
	return err
}

func (o *Outbox) put(ctx context.Context, tx *state.Tx, now time.Time, m mail.Message) (string, error) {
	content, err := json.Marshal(m)
	if err != nil {
		return "", err
	}
	id := o.Secrets.ID("mail_")
	return id, tx.AddMail(ctx, id, content, now)
}

// Await kicks Run and waits until it has tried a mail, two seconds at most: a
// person who is sent to the mailbox should find the mail there.
func (o *Outbox) Await(ctx context.Context, id string) {
	tried := make(chan struct{})
	o.mu.Lock()
	o.waiting[id] = tried
	o.mu.Unlock()
	defer func() { o.mu.Lock(); delete(o.waiting, id); o.mu.Unlock() }()
	o.Kick()
	ctx, cancel := context.WithTimeout(ctx, mailAwait)
	defer cancel()
	select {
	case <-tried:
	case <-ctx.Done():
	}
}

func (o *Outbox) tried(id string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if ch := o.waiting[id]; ch != nil {
		close(ch)
		delete(o.waiting, id)
	}
}

// Kick makes Run look at once.
func (o *Outbox) Kick() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// Run sends mail until ctx ends: when kicked, and at every tick to retry failures.
func (o *Outbox) Run(ctx context.Context, tick <-chan time.Time) {
	for {
		if err := o.Flush(ctx); err != nil && ctx.Err() == nil {
			o.Log.Warn("reading the outbox failed", "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-o.wake:
		case <-tick:
		}
	}
}

// Flush sends all mail that is due.
func (o *Outbox) Flush(ctx context.Context) error {
	for {
		var m *state.QueuedMail
		err := o.DB.Write(ctx, func(tx *state.Tx) error {
			var err error
			m, err = tx.ClaimMail(ctx, o.Now(), mailLease)
			return err
		})
		if err != nil || m == nil {
			return err
		}
		if err := o.send(ctx, m); err != nil {
			return err
		}
	}
}

func (o *Outbox) send(ctx context.Context, m *state.QueuedMail) error {
	var msg mail.Message
	err := json.Unmarshal(m.Content, &msg)
	if err == nil {
		msg.ID = m.ID
		err = o.Mailer.Send(ctx, msg)
	}
	defer o.tried(m.ID)
	ctx = context.WithoutCancel(ctx) // a sent mail is recorded even while the server stops, or it would be sent again
	now := o.Now()
	return o.DB.Write(ctx, func(tx *state.Tx) error {
		switch {
		case err == nil:
			return tx.DropMail(ctx, m.ID)
		case mail.IsPermanent(err) || now.Sub(m.Created) > mailGiveUp:
			o.Log.Error("sending a mail failed for good", "mail", m.ID, "tries", m.Tries, "err", err)
			return tx.DropMail(ctx, m.ID)
		default:
			o.Log.Warn("sending a mail failed; it will be retried", "mail", m.ID, "tries", m.Tries, "err", err)
			return tx.PostponeMail(ctx, m.ID, now.Add(min(mailFirst<<min(m.Tries-1, 10), mailMost)))
		}
	})
}

// linkedMail notifies the owner that an agent was linked.
func (s *Service) linkedMail(account *state.Account, c *Ceremony) mail.Message {
	r := c.Registration
	how := "it registered by itself"
	switch {
	case c.Provider != "":
		how = "vouched for by " + c.Provider
	case r.Kind == identity.ServiceAuth:
		how = "it gave your address"
	}
	return mail.Message{To: account.Email, Subject: "An agent was linked to your account", Text: lines(
		"You confirmed a code. An agent is now linked to your account: "+how+".",
		"",
		"Workspace:  "+c.Workspace.Slug,
		"Scopes:     read analytics, send analytics",
		"From:       "+c.Attempt.IP,
		"When:       "+c.Attempt.CreatedAt.UTC().Format(time.RFC1123),
		"",
		"If this was not you, revoke it here:",
		s.BaseURL+"/agents/unlink?token="+s.unlinkToken(r, s.Now()),
		"",
		"All your agents: "+s.BaseURL+"/agents",
	)}
}

func (s *Service) unlinkedMail(account *state.Account, provider string) mail.Message {
	return mail.Message{To: account.Email, Subject: "An agent's access was revoked", Text: lines(
		fmt.Sprintf("%s revoked its agent. The agent no longer has access.", provider),
		"Your workspace and its keys are unchanged.",
		"",
		"All your agents: "+s.BaseURL+"/agents",
	)}
}

func (s *Service) signInMail(email, link string) mail.Message {
	return mail.Message{To: email, Subject: "Sign in to firstpick", Text: lines(
		"Open this link in the browser that requested it:",
		"",
		link,
		"",
		fmt.Sprintf("It works once, for %d minutes, and in that browser only.", int(SignInLife.Minutes())),
		"If you did not request it, ignore this mail: the link works in no other browser.",
	)}
}

func lines(l ...string) string { return strings.Join(l, "\n") + "\n" }
