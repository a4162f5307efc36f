package registrations

import (
	"context"
	"crypto/subtle"
	"errors"
	"time"

	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/store/identity"
	"github.com/firstpick/firstpick/server/store/quota"
	"github.com/firstpick/firstpick/server/store/state"
)

// How long links that sign in work.
const (
	SignInLife   = 15 * time.Minute
	operatorLife = time.Hour // of a link that an operator hands out
)

// AskSignIn mails a link that signs in the browser of a cookie. Its answer is
// the same for every address. Known is the id of a browser that signed in as the
// address before, or "": it has a limit of its own, so that strangers who ask for
// the address's links do not lock its owner out.
func (s *Service) AskSignIn(ctx context.Context, c *Caller, email, browser, known string) error {
	token := s.Secrets.Token("sin_")
	link := s.BaseURL + "/signin/link?token=" + token
	var id string
	err := s.write(ctx, c, func(u *unit) error {
		uses := []quota.Use{{Rule: "sign-in.browser", Key: known}}
		if known == "" {
			uses = []quota.Use{
				{Rule: "sign-in.ip", Key: c.network()}, {Rule: "sign-in.email-block", Key: c.about(email)},
				{Rule: "sign-in.email", Key: email}, {Rule: "sign-in.email-day", Key: email},
			}
		}
		if err := u.take(uses...); err != nil {
			return err
		}
		if err := u.tx.AddSignIn(ctx, &state.SignIn{
			Hash: hash(token), BrowserHash: hash(browser), Email: email, CreatedAt: u.now, ExpiresAt: u.now.Add(SignInLife),
		}); err != nil {
			return err
		}
		var err error
		id, err = s.Outbox.put(ctx, u.tx, u.now, s.signInMail(email, link))
		return err
	})
	if err == nil {
		s.Outbox.Await(ctx, id)
	}
	return err
}

// ErrOtherBrowser means that a link was opened in a browser that did not ask for it.
var ErrOtherBrowser = errors.New("the link belongs to another browser")

// FollowLink signs in by a link. The browser is the cookie of the one that asked.
func (s *Service) FollowLink(ctx context.Context, c *Caller, token, browser string) (*state.Account, error) {
	var account *state.Account
	err := s.transact(ctx, c, func(u *unit) error {
		link, err := u.tx.SignIn(ctx, hash(token))
		if err != nil {
			return err
		}
		if !link.UsedAt.IsZero() || !u.now.Before(link.ExpiresAt) {
			return state.ErrNotFound
		}
		if len(link.BrowserHash) > 0 && subtle.ConstantTimeCompare(link.BrowserHash, hash(browser)) != 1 {
			return ErrOtherBrowser
		}
		if err := u.tx.UseSignIn(ctx, link.Hash, u.now); err != nil {
			return err
		}
		account, err = u.signIn(link.Email, "link")
		return err
	})
	switch {
	case errors.Is(err, state.ErrNotFound):
		return nil, apierr.NotFound()
	case errors.Is(err, ErrOtherBrowser):
		return nil, err
	}
	return account, s.DB.APIError(err)
}

// A ProviderUser is a person at an identity provider, as its ID token names them.
type ProviderUser struct {
	ISS, Sub string
	Email    string // canonical; may be empty
	Verified bool   // the provider verified the address
}

// Why a user of an identity provider is not signed in.
var (
	ErrUnverified    = errors.New("the provider gave no verified address")
	ErrOtherIdentity = errors.New("the account is linked to another user of the provider")
)

// SignInProvider signs in a user of an identity provider. The first time, the verified
// address decides on the account and links it to the user; from then on the user does,
// by issuer and subject, for an address may come to belong to somebody else (OpenID
// Connect Core 1.0, 5.7).
func (s *Service) SignInProvider(ctx context.Context, c *Caller, user ProviderUser, by string) (*state.Account, error) {
	var account *state.Account
	err := s.transact(ctx, c, func(u *unit) error {
		var err error
		account, err = u.tx.SignInAccount(ctx, user.ISS, user.Sub)
		switch {
		case err == nil:
			account, err = u.signIn(account.Email, by)
			return err
		case !errors.Is(err, state.ErrNotFound):
			return err
		case !user.Verified || user.Email == "":
			return ErrUnverified
		}
		if account, err = u.signIn(user.Email, by); err != nil {
			return err
		}
		linked, err := u.tx.HasSignIn(ctx, account.ID, user.ISS)
		if err != nil {
			return err
		}
		if linked {
			return ErrOtherIdentity
		}
		if err := u.tx.AddSignInIdentity(ctx, user.ISS, user.Sub, account.ID, u.now); err != nil {
			return err
		}
		return u.audit("sign_in.linked", &identity.Registration{AccountID: account.ID, ISS: user.ISS}, nil)
	})
	switch {
	case errors.Is(err, ErrUnverified), errors.Is(err, ErrOtherIdentity):
		return nil, err
	case errors.Is(err, state.ErrLinked): // by another request at the same moment
		return nil, ErrOtherIdentity
	}
	return account, s.DB.APIError(err)
}

// signIn returns the account of a proven address. Accounts that issuers made for
// it become part of it; the person is asked which of their agents to keep.
func (u *unit) signIn(email, by string) (*state.Account, error) {
	account, err := u.tx.VerifiedAccount(u.ctx, email)
	known := err == nil
	if err != nil && !errors.Is(err, state.ErrNotFound) {
		return nil, err
	}
	if known && account.Disabled() {
		return nil, apierr.AccessDenied("This account is disabled.")
	}
	asserted, err := u.tx.AssertedAccounts(u.ctx, email)
	if err != nil {
		return nil, err
	}
	if !known {
		account = &state.Account{ID: u.Secrets.ID("acc_"), Email: email, VerifiedAt: u.now, CreatedAt: u.now}
		if err := u.tx.AddAccount(u.ctx, account); err != nil {
			return nil, err
		}
	}
	for _, other := range asserted {
		if other.Disabled() {
			continue
		}
		if err := u.tx.MergeAccount(u.ctx, other.ID, account.ID); err != nil {
			return nil, err
		}
	}
	return account, u.audit("session.created", &identity.Registration{AccountID: account.ID}, map[string]string{"by": by})
}
