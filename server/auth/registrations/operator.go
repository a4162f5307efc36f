package registrations

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/firstpick/firstpick/server/auth/trust"
	"github.com/firstpick/firstpick/server/store/identity"
	"github.com/firstpick/firstpick/server/store/state"
)

// Operations of an operator, safe while a server runs. Each writes an audit log entry.
// They fail with state.ErrNotFound for unknown ids.

// OperatorLink returns a link that signs in the owner of an address in any
// browser, for an operator who vouches for the person.
func (s *Service) OperatorLink(ctx context.Context, email string, admin bool) (string, error) {
	token := s.Secrets.Token("sin_")
	err := s.write(ctx, nil, func(u *unit) error {
		about := &identity.Registration{}
		if admin {
			account, err := u.signIn(email, "operator")
			if err != nil {
				return err
			}
			account.Admin, about.AccountID = true, account.ID
			if err := u.tx.SaveAccount(ctx, account); err != nil {
				return err
			}
		}
		if err := u.tx.AddSignIn(ctx, &state.SignIn{Hash: hash(token), Email: email, CreatedAt: u.now, ExpiresAt: u.now.Add(operatorLife)}); err != nil {
			return err
		}
		return u.audit("operator.login_link", about, nil)
	})
	return s.BaseURL + "/signin/link?token=" + token, err
}

// GiveWorkspace gives the owner of an address a workspace for a site, with a secret
// collector key, as if an agent had made it and the owner had claimed it. Where the owner
// has a workspace for the site, it returns that one and no key.
func (s *Service) GiveWorkspace(ctx context.Context, email string, set state.Settings) (w *state.Workspace, key string, err error) {
	if err := checkSettings(&set); err != nil {
		return nil, "", err
	}
	k, key, err := s.newKey("", KeyRequest{Kind: "secret"})
	if err != nil {
		return nil, "", err
	}
	err = s.transact(ctx, nil, func(u *unit) error {
		account, err := u.signIn(email, "operator")
		if err != nil {
			return err
		}
		list, err := u.tx.Workspaces(ctx, account.ID)
		if err != nil {
			return err
		}
		if i := slices.IndexFunc(list, func(w *state.Workspace) bool { return w.Site == set.Site }); i >= 0 {
			w, key = list[i], ""
			return nil
		}
		w, err = u.newOwnWorkspace(account.ID, set, k)
		if err != nil {
			return err
		}
		return u.auditMember("operator.workspace", w, w.OwnerID, map[string]string{"key": k.ID})
	})
	return w, key, err
}

// SetPlan sets the plan of a workspace, by its slug; the empty plan is the one of
// billing. Package billing has the precedence.
func (s *Service) SetPlan(ctx context.Context, by *Operator, slug, plan string) error {
	return s.operate(ctx, by, func(u *unit) error {
		w, err := u.tx.WorkspaceBySlug(ctx, slug)
		if err != nil {
			return err
		}
		if err := u.tx.SetOperatorPlan(ctx, w.ID, plan, u.now); err != nil {
			return err
		}
		st, err := u.tx.PlanState(ctx, w.ID)
		if err != nil {
			return err
		}
		if err := u.tx.SetPlanOf(ctx, w.ID, st.Due()); err != nil {
			return err
		}
		detail := map[string]string{"plan": st.Due()}
		if plan == "" {
			detail["by"] = "billing"
		}
		return u.audit("operator.plan", &identity.Registration{WorkspaceID: w.ID, AccountID: by.accountID()}, detail)
	})
}

// SetDisabled shuts or opens every account of an address, those included that
// were made on an issuer's word. A shut account's sessions end; its tokens and
// assertions work again only when it is opened.
func (s *Service) SetDisabled(ctx context.Context, email string, disabled bool) error {
	return s.transact(ctx, nil, func(u *unit) error {
		list, err := u.tx.AssertedAccounts(ctx, email)
		if err != nil {
			return err
		}
		switch verified, err := u.tx.VerifiedAccount(ctx, email); {
		case err == nil:
			list = append(list, verified)
		case !errors.Is(err, state.ErrNotFound):
			return err
		}
		if len(list) == 0 {
			return state.ErrNotFound
		}
		for _, account := range list {
			event := "account.enabled"
			account.DisabledAt = time.Time{}
			if disabled {
				event, account.DisabledAt = "account.disabled", u.now
				if err := u.tx.DropSessions(ctx, account.ID); err != nil {
					return err
				}
			}
			if err := u.tx.SaveAccount(ctx, account); err != nil {
				return err
			}
			if err := u.tx.SettleOwnersOf(ctx, account.ID); err != nil {
				return err
			}
			if err := u.audit(event, &identity.Registration{AccountID: account.ID}, nil); err != nil {
				return err
			}
		}
		return nil
	})
}

// EndRegistration revokes a registration and everything derived from it, as its owner
// can.
func (s *Service) EndRegistration(ctx context.Context, id string) error {
	known, err := s.DB.Read().Registration(ctx, id)
	if err != nil {
		return err
	}
	return s.transact(ctx, nil, func(u *unit) error {
		_, err := u.unlink(known, "operator")
		return err
	})
}

// AddIssuer trusts an issuer.
func (s *Service) AddIssuer(ctx context.Context, by *Operator, i trust.Issuer) error {
	entry, err := json.Marshal(i)
	if err != nil {
		return err
	}
	return s.operate(ctx, by, func(u *unit) error {
		if err := u.tx.SaveIssuer(ctx, state.IssuerEntry{ISS: i.ISS, Entry: string(entry)}, u.now); err != nil {
			return err
		}
		return u.audit("operator.issuer_added", &identity.Registration{ISS: i.ISS, AccountID: by.accountID()}, nil)
	})
}

// RemoveIssuer trusts an issuer no longer. With end, all that it vouched for is
// revoked; it returns how many registrations that were. A call that stopped halfway can be
// repeated: it revokes the rest, although the issuer is gone.
func (s *Service) RemoveIssuer(ctx context.Context, by *Operator, iss string, end bool) (int, error) {
	ended := 0
	configured := slices.ContainsFunc(s.Issuers.Configured, func(i trust.Issuer) bool { return i.ISS == iss })
	err := s.operate(ctx, by, func(u *unit) error {
		found, err := u.tx.DropIssuer(ctx, iss)
		if err != nil {
			return err
		}
		if !found {
			return state.ErrNotFound
		}
		return u.audit("operator.issuer_removed", &identity.Registration{ISS: iss, AccountID: by.accountID()}, nil)
	})
	gone := errors.Is(err, state.ErrNotFound) && !configured
	if !end || err != nil && !gone {
		return 0, err
	}
	list, errList := s.DB.Read().IssuerRegistrations(ctx, iss)
	if errList != nil {
		return 0, errList
	}
	if gone && len(list) == 0 {
		return 0, err
	}
	for _, r := range list {
		err := s.transact(ctx, nil, func(u *unit) error {
			did, err := u.unlink(r, "operator")
			if did {
				ended++
			}
			return err
		})
		if err != nil && !errors.Is(err, state.ErrNotFound) { // erased since
			return ended, err
		}
	}
	return ended, nil
}

// RotateKey makes a key that signs after a time.
func (s *Service) RotateKey(ctx context.Context, after time.Duration) (string, time.Time, error) {
	kid, from, err := s.Ring.Rotate(ctx, after)
	if err != nil {
		return "", time.Time{}, err
	}
	return kid, from, s.auditKey(ctx, "operator.key_rotated", kid)
}

// DropKey deletes a signing key and so voids its signatures.
func (s *Service) DropKey(ctx context.Context, kid string) error {
	found, err := s.Ring.Drop(ctx, kid)
	if err == nil && !found {
		return state.ErrNotFound
	}
	if err != nil {
		return err
	}
	return s.auditKey(ctx, "operator.key_dropped", kid)
}

func (s *Service) auditKey(ctx context.Context, event, kid string) error {
	return s.transact(ctx, nil, func(u *unit) error {
		return u.audit(event, &identity.Registration{}, map[string]string{"kid": kid})
	})
}
