package alert

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/firstpick/firstpick/server/kit/mail"
	"github.com/firstpick/firstpick/server/store/state"
)

// mailAlerts puts one mail about alerts into the outbox, and reports whether it did:
// not for an owner who turned mail off, or without an address.
func (u *unit) mailAlerts(w *state.Workspace, fresh []item) (bool, error) {
	if on, err := u.tx.AlertMail(u.ctx, w.ID); err != nil || !on {
		return false, err
	}
	subject := fresh[0].alert.Summary
	if len(fresh) > 1 {
		subject = fmt.Sprintf("%d alerts", len(fresh))
	}
	var text []string
	for _, f := range fresh {
		text = append(text, f.alert.Summary)
		text = append(text, f.details...)
		text = append(text, "")
	}
	return u.mailOwner(w, subject, text)
}

// MailOwner puts a mail to the owner of a workspace into the outbox, in a transaction of
// the caller's. It does nothing for an owner who turned mail off, or whose address is not
// verified.
func (s *Service) MailOwner(ctx context.Context, tx *state.Tx, now time.Time, w *state.Workspace, subject string, text []string) error {
	on, err := tx.AlertMail(ctx, w.ID)
	if err == nil && on {
		u := &unit{s, ctx, tx, now}
		_, err = u.mailOwner(w, subject, text)
	}
	return err
}

// mailOwner puts a mail to the owner of a workspace into the outbox. It returns
// false for a workspace without an owner whose address is verified.
func (u *unit) mailOwner(w *state.Workspace, subject string, text []string) (bool, error) {
	return u.mailPicture(w, subject, text, nil)
}

// mailPicture is mailOwner with a picture, which may be nil.
func (u *unit) mailPicture(w *state.Workspace, subject string, text []string, picture *mail.Picture) (bool, error) {
	if w.OwnerID == "" {
		return false, nil
	}
	account, err := u.tx.Account(u.ctx, w.OwnerID)
	if errors.Is(err, state.ErrNotFound) {
		return false, nil
	}
	if err != nil || account.Email == "" || !account.Verified() || account.Disabled() {
		return false, err
	}
	page := u.page(w)
	text = append(text, "Workspace: "+page, "Settings:  "+page+"/settings")
	return true, u.Mail(u.ctx, u.tx, u.now, mail.Message{
		To: account.Email, Subject: label(w) + subject, Text: strings.Join(text, "\n") + "\n", Unsubscribe: page + "/settings", Picture: picture,
	})
}
