package registrations

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/store/identity"
	"github.com/firstpick/firstpick/server/store/state"
)

// A Link is an agent that acts for a person.
type Link struct {
	Registration *identity.Registration
	Provider     string
	Workspace    string // slug
	Live         bool
	// Unreviewed means that the link was made on an issuer's word before the person
	// first signed in, and that the person has not decided about it.
	Unreviewed bool
}

// Linked returns the agents of a person, newest first.
func (s *Service) Linked(ctx context.Context, account *state.Account) ([]Link, error) {
	tx := s.DB.Read()
	list, err := tx.AccountRegistrations(ctx, account.ID)
	if err != nil {
		return nil, s.DB.APIError(err)
	}
	slugs := map[string]string{}
	workspaces, err := tx.Workspaces(ctx, account.ID)
	if err != nil {
		return nil, s.DB.APIError(err)
	}
	for _, w := range workspaces {
		slugs[w.ID] = w.Slug
	}
	var out []Link
	for _, r := range list {
		l := Link{Registration: r, Workspace: slugs[r.WorkspaceID], Live: r.RevokedAt.IsZero()}
		if r.ISS != "" {
			l.Provider = s.Issuers.NameOf(ctx, r.ISS)
			reviewed, err := tx.Reviewed(ctx, r.ISS, r.Sub)
			if err != nil {
				return nil, s.DB.APIError(err)
			}
			l.Unreviewed = l.Live && !reviewed
		}
		out = append(out, l)
	}
	return out, nil
}

// Unlink revokes an agent of a person's: its tokens and assertions are void, and
// where an issuer vouched for it, that issuer's word no longer counts.
func (s *Service) Unlink(ctx context.Context, c *Caller, accountID, registration string) error {
	r, err := s.owned(ctx, s.DB.Read(), accountID, registration)
	if err != nil || !r.RevokedAt.IsZero() {
		return s.DB.APIError(err)
	}
	return s.write(ctx, c, func(u *unit) error {
		_, err := u.unlink(r, "owner")
		return err
	})
}

// unlink ends a registration; where an issuer vouched for it, that word no longer
// counts. An owner ends none that went to another account meanwhile. It reports whether there was something to end.
func (u *unit) unlink(known *identity.Registration, by string) (bool, error) {
	if known.ISS != "" {
		if err := u.tx.RevokeSubject(u.ctx, known.ISS, known.Sub, u.Now()); err != nil {
			return false, err
		}
	}
	r, err := u.tx.Registration(u.ctx, known.ID)
	if err != nil || !r.RevokedAt.IsZero() || by == "owner" && r.AccountID != known.AccountID {
		return false, err
	}
	if err := u.end(r, by); err != nil || r.ISS == "" {
		return true, err
	}
	d, err := u.tx.Delegation(u.ctx, r.ISS, r.Sub)
	if err != nil || d == nil {
		return true, err
	}
	d.RevokedAt = u.now
	return true, u.tx.SaveDelegation(u.ctx, d)
}

// Unreviewed reports whether a person has to decide about agents that were linked
// before the first sign-in.
func (s *Service) Unreviewed(ctx context.Context, account *state.Account) (bool, error) {
	found, err := s.DB.Read().Unreviewed(ctx, account.ID)
	return found, s.DB.APIError(err)
}

// Keep confirms an agent that was linked before the person first signed in.
func (s *Service) Keep(ctx context.Context, accountID, registration string) error {
	return s.write(ctx, nil, func(u *unit) error {
		r, err := s.owned(ctx, u.tx, accountID, registration)
		if err != nil || r.ISS == "" {
			return err
		}
		d, err := u.tx.Delegation(ctx, r.ISS, r.Sub)
		if err != nil || d == nil {
			return err
		}
		d.ReviewedAt = u.now
		return u.tx.SaveDelegation(ctx, d)
	})
}

func (s *Service) owned(ctx context.Context, tx *state.Tx, accountID, registration string) (*identity.Registration, error) {
	r, err := tx.Registration(ctx, sanitize(registration))
	if errors.Is(err, state.ErrNotFound) || err == nil && (r.AccountID != accountID || accountID == "") {
		return nil, apierr.NotFound()
	}
	return r, err
}

// unlinkLife is how long the link in a notice works.
const unlinkLife = 30 * 24 * time.Hour

// unlinkToken lets the reader of the notice revoke that one link.
func (s *Service) unlinkToken(r *identity.Registration, now time.Time) string {
	return s.Vault.SealText("unlink", strings.Join([]string{r.ID, r.AccountID, strconv.FormatInt(now.Add(unlinkLife).Unix(), 10)}, " "))
}

// OpenUnlink returns the account and registration of the link in a notice.
func (s *Service) OpenUnlink(token string) (account, registration string, err error) {
	text, err := s.Vault.OpenText("unlink", token)
	if err != nil {
		return "", "", apierr.NotFound()
	}
	parts := strings.Fields(text)
	if len(parts) != 3 {
		return "", "", apierr.NotFound()
	}
	until, err := strconv.ParseInt(parts[2], 10, 64)
	if err != nil || s.Now().Unix() > until {
		return "", "", apierr.NotFound()
	}
	return parts[1], parts[0], nil
}
