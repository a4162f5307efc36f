package registrations

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/store/identity"
	"github.com/firstpick/firstpick/server/store/quota"
	"github.com/firstpick/firstpick/server/store/state"
)

// Tokens are the answer of the token endpoint.
type Tokens struct {
	AccessToken string
	Scope       string
	// The following fields are set only for a completed claim.
	RegistrationID string
	WorkspaceSlug  string
	Assertion      string
	Expires        time.Time
}

// The errors of the token endpoint (RFC 6749, 5.2; RFC 8628, 3.5).
func pending() *apierr.Error {
	return apierr.Refused("authorization_pending", "The person has not confirmed the code yet. Poll again after the interval.")
}

func slowDown() *apierr.Error {
	return apierr.Refused("slow_down", "Polled too early. Add 5 seconds to the interval, for this and all later polls.")
}

func lapsed() *apierr.Error {
	return apierr.Refused("expired_token", "The code is no longer valid. Ask the claim endpoint for a fresh one with the same claim_token and email.")
}

func invalidGrant() *apierr.Error {
	return apierr.Refused("invalid_grant", "This assertion or claim token is expired, superseded, revoked or not ours. Register again.")
}

func refusedByPerson() *apierr.Error {
	return apierr.Refused("access_denied", "The person refused. Do not poll again.")
}

// Redeem answers a poll with a claim token: tokens, once the person confirmed.
func (s *Service) Redeem(ctx context.Context, c *Caller, claimToken string) (*Tokens, error) {
	unknown := quota.Use{Rule: "unknown-tokens.ip", Key: c.network()}
	var out *Tokens
	var answer error
	err := s.write(ctx, c, func(u *unit) error {
		out, answer = nil, nil
		r, err := u.tx.RegistrationByClaim(ctx, hash(claimToken))
		if err != nil {
			return err
		}
		a, err := u.tx.NewestAttempt(ctx, r.ID)
		if err != nil {
			return err
		}
		switch r.PollAt(a, u.now) {
		case identity.Deliver:
			out, err = u.deliver(r)
			return err
		case identity.Wait:
			answer = pending()
		case identity.TooEarly:
			answer = slowDown()
		case identity.Refused:
			answer = refusedByPerson()
			return nil
		case identity.Spent:
			answer = invalidGrant()
			return nil
		default:
			answer = lapsed()
			return nil
		}
		return u.tx.SavePoll(ctx, r)
	})
	if errors.Is(err, state.ErrNotFound) { // a token that was never ours, or is dead
		if err := s.note(ctx, c, unknown); err != nil {
			return nil, err
		}
		return nil, lapsed()
	}
	if err == nil {
		err = answer
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

// deliver hands a completed claim over. An answer that was lost may be asked for
// again within the grace; the token delivered before is then void.
func (u *unit) deliver(r *identity.Registration) (*Tokens, error) {
	account, err := u.tx.Account(u.ctx, r.AccountID)
	if err != nil {
		return nil, err
	}
	if account.Disabled() {
		return nil, apierr.Refused("access_denied", "This account is disabled.")
	}
	if len(r.Redeem.Token) > 0 {
		if _, err := u.tx.RevokeToken(u.ctx, r.Redeem.Token, u.now); err != nil {
			return nil, err
		}
	}
	w, err := u.tx.Workspace(u.ctx, r.WorkspaceID)
	if err != nil {
		return nil, err
	}
	out, tokenHash, err := u.issueToken(r, r.Scopes(u.now))
	if err != nil {
		return nil, err
	}
	r.Redeemed(tokenHash, u.now)
	out.RegistrationID, out.WorkspaceSlug = r.ID, w.Slug
	if err := u.tx.SaveRegistration(u.ctx, r); err != nil {
		return nil, err
	}
	reg := &Registered{Registration: r}
	err = u.mint(reg, account, u.now.Add(identity.CeremonyAssertion))
	out.Assertion, out.Expires = reg.Assertion, reg.Expires
	return out, err
}

func (u *unit) issueToken(r *identity.Registration, scopes []string) (*Tokens, []byte, error) {
	out := &Tokens{AccessToken: u.Secrets.Token("at_"), Scope: strings.Join(scopes, " ")}
	h := hash(out.AccessToken)
	if err := u.tx.AddAccessToken(u.ctx, &state.AccessToken{
		Hash: h, RegistrationID: r.ID, Generation: r.Generation, Scope: out.Scope, CreatedAt: u.now, ExpiresAt: u.now.Add(identity.TokenLifetime), IP: u.caller.ip(),
	}, identity.LiveTokens); err != nil {
		return nil, nil, err
	}
	return out, h, u.audit("token.issued", r, map[string]string{"scope": out.Scope})
}

// Exchange issues an access token for one of our assertions. Scope may narrow the scope
// of the registration; empty requests all of it.
func (s *Service) Exchange(ctx context.Context, c *Caller, assertion string, scope []string) (*Tokens, error) {
	unknown := quota.Use{Rule: "unknown-tokens.ip", Key: c.network()}
	a, err := s.Ring.Verify(ctx, assertion)
	if err != nil {
		if err := s.note(ctx, c, unknown); err != nil {
			return nil, err
		}
		return nil, invalidGrant()
	}
	var out *Tokens
	err = s.write(ctx, c, func(u *unit) error {
		r, err := u.tx.Registration(ctx, a.RegistrationID)
		if errors.Is(err, state.ErrNotFound) {
			return invalidGrant()
		}
		if err != nil {
			return err
		}
		if !r.MayExchange(a.Generation, u.now) {
			return invalidGrant()
		}
		if r.AccountID != "" {
			account, err := u.tx.Account(ctx, r.AccountID)
			if err != nil {
				return err
			}
			if account.Disabled() {
				return invalidGrant()
			}
		}
		scopes := r.Scopes(u.now)
		for _, want := range scope {
			if !slices.Contains(scopes, want) {
				return apierr.Refused("invalid_scope", "This registration does not have a scope that was asked for.")
			}
		}
		if len(scope) > 0 {
			scopes = scope
		}
		if err := u.take(quota.Use{Rule: "exchange.registration", Key: r.ID}); err != nil {
			return err
		}
		out, _, err = u.issueToken(r, scopes)
		return err
	})
	return out, err
}

// Revoke ends one access token. It does not reveal whether there was one.
func (s *Service) Revoke(ctx context.Context, c *Caller, token string) error {
	return s.write(ctx, c, func(u *unit) error {
		id, err := u.tx.RevokeToken(ctx, hash(token), u.now)
		if err != nil || id == "" {
			return err
		}
		return u.audit("token.revoked", &identity.Registration{ID: id}, nil)
	})
}

// Authenticate returns the bearer of a valid access token.
func (s *Service) Authenticate(ctx context.Context, token string) (state.Bearer, error) {
	b, err := s.DB.Bearer(ctx, hash(token), s.Now())
	if errors.Is(err, state.ErrNotFound) {
		return b, apierr.InvalidToken()
	}
	return b, s.DB.APIError(err)
}
