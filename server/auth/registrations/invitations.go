package registrations

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/kit/mail"
	"github.com/firstpick/firstpick/server/store/identity"
	"github.com/firstpick/firstpick/server/store/quota"
	"github.com/firstpick/firstpick/server/store/state"
)

const (
	// InvitationLife is how long an invitation can be accepted.
	InvitationLife = 7 * 24 * time.Hour
	// MaxMembers is how many members and invitations a workspace can have together.
	MaxMembers = 100
)

// Invite mails an invitation to an address. Whether the address has an account shows
// neither in the answer nor in the mail.
func (s *Service) Invite(ctx context.Context, c *Caller, a *state.Account, slug, address string, role identity.Role) error {
	email, ok := identity.ParseEmail(address)
	switch {
	case !ok:
		return apierr.BadBody("invalid_email", "Enter one e-mail address, such as kim@acme.dev.")
	case !role.Valid():
		return apierr.BadBody("invalid_role", "role must be viewer, editor or owner.")
	}
	return s.invite(ctx, c, a, slug, func(u *unit, w *state.Workspace) (*state.Invitation, error) {
		members, err := u.tx.Members(ctx, w.ID)
		if err != nil {
			return nil, err
		}
		for _, m := range members {
			if m.Email == email {
				return nil, apierr.BadBody("member_already", "This person is a member already.")
			}
		}
		open, err := u.tx.Invitations(ctx, w.ID)
		if err != nil {
			return nil, err
		}
		taken := len(members)
		for _, i := range open {
			if i.Email == email && u.now.Before(i.ExpiresAt) {
				return nil, apierr.BadBody("invited_already", "This person is invited already. Resend the invitation, or withdraw it first.")
			}
			if i.Email != email {
				taken++
			}
		}
		if taken >= MaxMembers {
			return nil, apierr.BadBody("too_many_members", "A workspace can have at most "+strconv.Itoa(MaxMembers)+" members and invitations together. Withdraw an invitation or remove a member first.")
		}
		return &state.Invitation{ID: s.Secrets.ID("inv_"), WorkspaceID: w.ID, Email: email, Role: role}, nil
	})
}

// ResendInvitation mails an invitation again, with a new link; the link of the mail before
// works no longer.
func (s *Service) ResendInvitation(ctx context.Context, c *Caller, a *state.Account, slug, id string) error {
	return s.invite(ctx, c, a, slug, func(u *unit, w *state.Workspace) (*state.Invitation, error) {
		return u.invitation(w, id)
	})
}

func (u *unit) invitation(w *state.Workspace, id string) (*state.Invitation, error) {
	i, err := u.tx.Invitation(u.ctx, w.ID, sanitize(id))
	if errors.Is(err, state.ErrNotFound) {
		return nil, &apierr.Error{Status: http.StatusNotFound, Code: "not_found", Description: "This workspace has no such invitation. It was accepted, declined or withdrawn."}
	}
	return i, err
}

// invite sends the invitation that which returns, with a new link.
func (s *Service) invite(ctx context.Context, c *Caller, a *state.Account, slug string, which func(*unit, *state.Workspace) (*state.Invitation, error)) error {
	token, id := s.Secrets.Token("inv_"), ""
	err := s.change(ctx, c, a, slug, identity.Owner, func(u *unit, w *state.Workspace) error {
		i, err := which(u, w)
		if err != nil {
			return err
		}
		if err := u.take(quota.Use{Rule: "invitations.account", Key: a.ID}, quota.Use{Rule: "invitations.email", Key: i.Email}); err != nil {
			return err
		}
		i.Hash, i.InvitedBy, i.SentAt, i.ExpiresAt = hash(token), a.ID, u.now, u.now.Add(InvitationLife)
		if err := u.tx.PutInvitation(ctx, i); err != nil {
			return err
		}
		if id, err = s.Outbox.put(ctx, u.tx, u.now, s.invitationMail(a, w, i, token)); err != nil {
			return err
		}
		return u.auditMember("member.invited", w, a.ID, map[string]string{"invitation": i.ID, "role": string(i.Role), "who": identity.MaskEmail(i.Email)})
	})
	if err == nil {
		s.Outbox.Await(ctx, id)
	}
	return err
}

// invitationMail has no text that somebody wrote, such as the workspace's name: it goes to
// people who did not ask for it.
func (s *Service) invitationMail(from *state.Account, w *state.Workspace, i *state.Invitation, token string) mail.Message {
	return mail.Message{To: i.Email, Subject: "You are invited to a workspace on firstpick", Text: lines(
		from.Email+" invites you to the workspace "+w.Slug+".",
		"",
		"Your role:  "+string(i.Role)+", who "+roleMeaning(i.Role),
		"",
		"Sign in with this address and accept, or decline, here:",
		s.BaseURL+"/invitations?token="+token,
		"",
		"The link works once, until "+i.ExpiresAt.UTC().Format(time.RFC1123)+", and for this address only.",
		"If you do not know the sender, ignore this mail.",
	)}
}

func roleMeaning(r identity.Role) string {
	return map[identity.Role]string{
		identity.Viewer: "reads the dashboard and results.",
		identity.Editor: "also changes evals, settings and keys.",
		identity.Owner:  "also changes members and the plan.",
	}[r]
}

// WithdrawInvitation ends an invitation: its link works no longer.
func (s *Service) WithdrawInvitation(ctx context.Context, c *Caller, a *state.Account, slug, id string) error {
	return s.change(ctx, c, a, slug, identity.Owner, func(u *unit, w *state.Workspace) error {
		i, err := u.invitation(w, id)
		if err != nil {
			return err
		}
		if err := u.tx.DropInvitation(ctx, i); err != nil {
			return err
		}
		return u.auditMember("member.withdrawn", w, a.ID, map[string]string{"invitation": i.ID, "who": identity.MaskEmail(i.Email)})
	})
}

// An Invited is an invitation as the invited person sees it.
type Invited struct {
	*state.Invitation
	Workspace *state.Workspace
	From      string // address of the owner who sent it; empty where the account is gone
}

// Invitation returns the invitation of a mailed link. It fails with one and the same 404
// for a link that is unknown, used, withdrawn, expired, or for another address than the
// account's verified one.
func (s *Service) Invitation(ctx context.Context, a *state.Account, token string) (*Invited, error) {
	tx := s.DB.Read()
	i, err := s.invited(ctx, tx, a, token)
	if err != nil {
		return nil, s.DB.APIError(err)
	}
	return s.open(ctx, tx, i)
}

// open adds the workspace and the sender to an invitation.
func (s *Service) open(ctx context.Context, tx *state.Tx, i *state.Invitation) (*Invited, error) {
	w, err := tx.Workspace(ctx, i.WorkspaceID)
	if err != nil {
		return nil, s.DB.APIError(err)
	}
	out := &Invited{Invitation: i, Workspace: w}
	from, err := tx.Account(ctx, i.InvitedBy)
	if err == nil {
		out.From = from.Email
	} else if errors.Is(err, state.ErrNotFound) {
		err = nil
	}
	return out, s.DB.APIError(err)
}

// InvitationOf returns the invitation of a mailed link without a sign-in: the mail of the link
// names the workspace, the sender and the role too. It returns nil for a link that does not
// work.
func (s *Service) InvitationOf(ctx context.Context, token string) (*Invited, error) {
	tx := s.DB.Read()
	i, err := tx.InvitationByHash(ctx, hash(token))
	if errors.Is(err, state.ErrNotFound) || err == nil && !s.Now().Before(i.ExpiresAt) {
		return nil, nil
	}
	if err != nil {
		return nil, s.DB.APIError(err)
	}
	return s.open(ctx, tx, i)
}

func (s *Service) invited(ctx context.Context, tx *state.Tx, a *state.Account, token string) (*state.Invitation, error) {
	i, err := tx.InvitationByHash(ctx, hash(token))
	if errors.Is(err, state.ErrNotFound) || err == nil && (!a.Verified() || a.Email != i.Email || !s.Now().Before(i.ExpiresAt)) {
		return nil, &apierr.Error{
			Status: http.StatusNotFound, Code: "not_found",
			Description: "This invitation does not work: it was used or withdrawn, it expired, or it is for another address than the one you signed in with. Sign in with the invited address, or ask for a new invitation.",
		}
	}
	return i, err
}

// AnswerInvitation accepts the invitation of a mailed link, or declines it. Either uses it
// up. It returns the workspace.
func (s *Service) AnswerInvitation(ctx context.Context, c *Caller, a *state.Account, token string, accept bool) (*state.Workspace, error) {
	var w *state.Workspace
	err := s.write(ctx, c, func(u *unit) error {
		account, err := u.tx.Account(ctx, a.ID) // it may be disabled since
		if err != nil {
			return err
		}
		if account.Disabled() {
			return apierr.AccessDenied("This account is disabled.")
		}
		i, err := s.invited(ctx, u.tx, account, token)
		if err != nil {
			return err
		}
		if err := u.tx.LockWorkspace(ctx, i.WorkspaceID); err != nil {
			return err
		}
		if err := u.tx.DropInvitation(ctx, i); errors.Is(err, state.ErrNotFound) {
			return apierr.InvalidRequest("This invitation was answered or withdrawn at the same moment. Ask for a new one.")
		} else if err != nil {
			return err
		}
		if w, err = u.tx.Workspace(ctx, i.WorkspaceID); err != nil {
			return err
		}
		detail := map[string]string{"invitation": i.ID, "role": string(i.Role), "invited_by": i.InvitedBy}
		if !accept {
			return u.auditMember("member.declined", w, a.ID, detail)
		}
		switch _, err := u.tx.Role(ctx, w.ID, a.ID); {
		case err == nil:
			return nil // a member since; the role stays
		case !errors.Is(err, state.ErrNotFound):
			return err
		}
		if err := u.tx.PutMember(ctx, w.ID, a.ID, i.Role, u.now); err != nil {
			return err
		}
		return u.auditMember("member.joined", w, a.ID, detail)
	})
	return w, err
}
