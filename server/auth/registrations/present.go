package registrations

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/firstpick/firstpick/server/auth/trust"
	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/store/identity"
	"github.com/firstpick/firstpick/server/store/quota"
	"github.com/firstpick/firstpick/server/store/state"
)

// Present registers an agent on the word of a trusted issuer (an ID-JAG). A
// Registered without Assertion asks for the person's confirmation.
func (s *Service) Present(ctx context.Context, c *Caller, raw string) (*Registered, error) {
	out := &Registered{}
	return out, s.withAssertion(ctx, c, raw, func(u *unit, a *trust.Assertion) error {
		*out = Registered{}
		r, err := u.subjectRegistration(a)
		if err != nil {
			return err
		}
		out.Registration = r
		account, confirm, err := u.assertedFor(a)
		switch {
		case err != nil:
			return err
		case confirm != "":
			return u.stepUp(confirm, out)
		}
		return u.accept(out, account)
	})
}

// withAssertion verifies an ID-JAG, uses it up and calls do, all but the first in one
// transaction. It counts failures against the caller's network.
func (s *Service) withAssertion(ctx context.Context, c *Caller, raw string, do func(u *unit, a *trust.Assertion) error) error {
	failures := quota.Use{Rule: "assertion-failures.ip", Key: c.network()}
	if err := s.barred(ctx, c, failures); err != nil {
		return err
	}
	a, err := s.Trust.Assertion(ctx, raw)
	if err != nil {
		err = s.refused(ctx, c, err)
	} else {
		err = s.write(ctx, c, func(u *unit) error {
			if err := u.take(quota.Use{Rule: "assertion.ip", Key: c.network()}, quota.Use{Rule: "assertion.issuer", Key: a.ISS},
				quota.Use{Rule: "assertion.subject", Key: a.ISS + " " + a.Sub}); err != nil {
				return err
			}
			if err := u.useOnce(&a); err != nil {
				return err
			}
			return do(u, &a)
		})
	}
	if err == nil {
		return nil
	}
	if e := apierr.Of(err); e.Status < 500 && e.Status != http.StatusTooManyRequests { // the transaction that counted it was rolled back
		if noted := s.note(ctx, c, failures); noted != nil {
			return noted
		}
	}
	return err
}

// refused turns an error of package trust into an answer. An issuer that is not
// trusted is audited.
func (s *Service) refused(ctx context.Context, c *Caller, err error) error {
	var no *trust.Refusal
	if !errors.As(err, &no) {
		return s.DB.APIError(err)
	}
	e := &apierr.Error{Status: 400, Code: no.Code, Reason: no.Reason, Description: no.Description}
	switch no.Code {
	case "login_required":
		e.Status, e.MaxAge = 401, int(trust.MaxAuthAge.Seconds())
	case "temporarily_unavailable":
		e.Status, e.RetryAfter = 503, 30
	case "issuer_not_enabled", "invalid_issuer":
		if err := s.write(ctx, c, func(u *unit) error {
			return u.audit("issuer.rejected", &identity.Registration{ISS: sanitize(no.ISS)}, nil)
		}); err != nil {
			return err
		}
	}
	return e
}

// useOnce locks the issuer's subject and refuses an assertion that was used before or
// that is older than the subject's revocation.
func (u *unit) useOnce(a *trust.Assertion) error {
	revoked, err := u.tx.LockSubject(u.ctx, a.ISS, a.Sub)
	if err != nil {
		return err
	}
	if !revoked.IsZero() && !a.IssuedAt.After(revoked) {
		return apierr.BadBody("revoked", "The issuer revoked this user after the assertion was made. Sign the user in again and mint a fresh one.")
	}
	first, err := u.tx.UseOnce(u.ctx, "id-jag", a.ISS, a.JTI, a.Expires.Add(2*identity.Skew)) // once for its leeway, once for servers whose clocks differ
	if err != nil {
		return err
	}
	if !first {
		return apierr.BadBody("replay_detected", "This assertion was used before. Mint a fresh one with a new jti.")
	}
	return nil
}

// assertedFor returns the account that the issuer's subject acts for, or the address
// whose owner must confirm first: a trusted issuer's word alone never links an account
// that exists. Only addresses that we verified ourselves count as known.
func (u *unit) assertedFor(a *trust.Assertion) (account *state.Account, confirm string, err error) {
	d, err := u.tx.Delegation(u.ctx, a.ISS, a.Sub)
	if err != nil {
		return nil, "", err
	}
	if d != nil && d.RevokedAt.IsZero() {
		account, err := u.tx.Account(u.ctx, d.AccountID)
		if err != nil {
			return nil, "", err
		}
		if account.Disabled() {
			return nil, "", apierr.AccessDenied("This account is disabled.")
		}
		if account.Verified() && d.ReviewedAt.IsZero() { // made before its person first signed in, who is asked now
			d.RevokedAt = u.now
			return nil, account.Email, u.tx.SaveDelegation(u.ctx, d)
		}
		return account, "", nil
	}
	if a.Email != "" {
		account, err := u.tx.VerifiedAccount(u.ctx, a.Email)
		switch {
		case err == nil && account.Disabled():
			return nil, "", apierr.AccessDenied("This account is disabled.")
		case err == nil:
			return nil, a.Email, nil
		case !errors.Is(err, state.ErrNotFound):
			return nil, "", err
		}
	}
	if account, err = u.assertedAccount(a, d); err != nil {
		return nil, "", err
	}
	return account, "", u.tx.SaveDelegation(u.ctx, &state.Delegation{ISS: a.ISS, Sub: a.Sub, AccountID: account.ID, CreatedAt: u.now})
}

// subjectRegistration returns the registration of the issuer's subject, new or
// known.
func (u *unit) subjectRegistration(a *trust.Assertion) (*identity.Registration, error) {
	r, err := u.tx.RegistrationBySubject(u.ctx, a.ISS, a.Sub, a.Aud)
	if errors.Is(err, state.ErrNotFound) {
		r = u.newRegistration(u.now, u.caller, identity.IdentityAssertion)
		r.ISS, r.Sub, r.Aud = a.ISS, a.Sub, a.Aud
		u.describe(r, a)
		if err := u.tx.AddRegistration(u.ctx, r); err != nil {
			return nil, err
		}
		return r, u.audit("registration.created", r, map[string]string{"kind": string(r.Kind)})
	}
	if err == nil {
		u.describe(r, a)
	}
	return r, err
}

// describe stores the newest assertion's claims about the agent.
func (s *Service) describe(r *identity.Registration, a *trust.Assertion) {
	r.ClientID, r.AMR, r.Platform, r.Context = sanitize(a.ClientID), a.AMR, sanitize(a.Platform), sanitize(a.ContextID)
}

// accept answers a subject that acts for an account: the registration is claimed.
func (u *unit) accept(out *Registered, account *state.Account) error {
	r := out.Registration
	if r.Status(u.now) != identity.Claimed || r.AccountID != account.ID {
		if !r.RevokedAt.IsZero() || !r.ClaimedAt.IsZero() || !r.DeniedAt.IsZero() {
			r.Restart(u.now)
		}
		w, err := u.homeOf(account, r.WorkspaceID)
		if err != nil {
			return err
		}
		r.Email, r.ClaimHash = account.Email, nil
		r.Claim(account.ID, w.ID, u.now)
		if _, err := u.tx.RevokeTokens(u.ctx, r.ID, u.now); err != nil {
			return err
		}
		if err := u.supersedeAttempts(r.ID); err != nil {
			return err
		}
	}
	w, err := u.tx.Workspace(u.ctx, r.WorkspaceID)
	if err != nil {
		return err
	}
	out.WorkspaceSlug = w.Slug
	if err := u.tx.SaveRegistration(u.ctx, r); err != nil {
		return err
	}
	return u.mint(out, account, u.now.Add(identity.DirectAssertion))
}

func (u *unit) supersedeAttempts(registration string) error {
	a, err := u.tx.NewestAttempt(u.ctx, registration)
	if err != nil || a == nil || a.State != identity.Active {
		return err
	}
	a.State = identity.Superseded
	return u.tx.SaveAttempt(u.ctx, a)
}

// homeOf returns the workspace that a registration had, if the account still owns it,
// or the oldest that the account owns, or a new one.
func (u *unit) homeOf(account *state.Account, before string) (*state.Workspace, error) {
	list, err := u.tx.Workspaces(u.ctx, account.ID)
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return u.newWorkspace(account.ID, u.now)
	}
	home := list[max(0, slices.IndexFunc(list, func(w *state.Workspace) bool { return w.ID == before }))]
	m, err := u.access(account.ID, home.Slug, identity.Owner)
	if err != nil {
		return nil, err
	}
	return m.Workspace, nil
}

// stepUp asks the owner of the account for confirmation.
func (u *unit) stepUp(email string, out *Registered) error {
	r := out.Registration
	status := r.Status(u.now)
	if status == identity.Denied && u.now.Before(r.ClaimExpires) {
		return denied()
	}
	if status != identity.Pending { // one that waits keeps its window and its caps, whatever address it is for
		r.Restart(u.now)
	}
	out.ClaimToken = u.Secrets.Token("clm_")
	r.ClaimHash, r.Email = hash(out.ClaimToken), email
	if err := u.mayIssue(r, email); err != nil {
		return err
	}
	if err := u.audit("claim.requested", r, nil); err != nil {
		return err
	}
	var err error
	out.Claim, err = u.issueCode(r)
	return err
}

// assertedAccount returns the account that this very subject had, or makes one.
// Its address is the issuer's word until its owner signs in.
func (u *unit) assertedAccount(a *trust.Assertion, before *state.Delegation) (*state.Account, error) {
	if before != nil {
		account, err := u.tx.Account(u.ctx, before.AccountID)
		switch {
		case errors.Is(err, state.ErrNotFound):
		case err != nil:
			return nil, err
		case account.Disabled():
			return nil, apierr.AccessDenied("This account is disabled.")
		case !account.Verified() && account.AssertedBy == a.ISS:
			return account, nil
		}
	}
	if !u.NewAccounts {
		return nil, apierr.AccessDenied("This service makes no accounts on an issuer's word. Use service_auth, or sign up first.")
	}
	account := &state.Account{ID: u.Secrets.ID("acc_"), Email: a.Email, Phone: a.Phone, AssertedBy: a.ISS, CreatedAt: u.now}
	return account, u.tx.AddAccount(u.ctx, account)
}
