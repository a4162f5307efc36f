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

// mailAlerts puts one mail about alerts into the outbox, unless the owner wants
// none or there is none. It says whether it did.
func (s *Service) mailAlerts(ctx context.Context, tx *state.Tx, now time.Time, w *state.Workspace, fresh []item) (bool, error) {
	if on, err := tx.AlertMail(ctx, w.ID); err != nil || !on {
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
	return s.mailOwner(ctx, tx, now, w, subject, text)
}

// mailOwner puts a mail to the owner of a workspace into the outbox. It returns
// false where there is nobody to write to.
func (s *Service) mailOwner(ctx context.Context, tx *state.Tx, now time.Time, w *state.Workspace, subject string, text []string) (bool, error) {
	if w.OwnerID == "" {
		return false, nil
	}
	account, err := tx.Account(ctx, w.OwnerID)
	if errors.Is(err, state.ErrNotFound) {
		return false, nil
	}
	if err != nil || account.Email == "" || !account.Verified() || account.Disabled() {
		return false, err
	}
	page := s.BaseURL + "/workspaces/" + w.Slug
	text = append(text, "Workspace: "+page, "Settings:  "+page+"/settings")
	return true, s.Mail(ctx, tx, now, mail.Message{
		To: account.Email, Subject: "[" + w.Slug + "] " + subject, Text: strings.Join(text, "\n") + "\n", Unsubscribe: page + "/settings",
	})
}
