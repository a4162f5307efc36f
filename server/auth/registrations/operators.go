package registrations

import (
	"context"
	"errors"

	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/store/identity"
	"github.com/firstpick/firstpick/server/store/state"
)

// An Operator is an account that acts as operator, in a browser. A nil Operator is the
// command line, which has the store itself.
type Operator struct {
	Caller  *Caller
	Account *state.Account
}

func (o *Operator) accountID() string {
	if o == nil {
		return ""
	}
	return o.Account.ID
}

// operate is transact for an operator. It fails like a page that does not exist when the
// account is not an operator any more.
func (s *Service) operate(ctx context.Context, by *Operator, fn func(u *unit) error) error {
	if by == nil {
		return s.transact(ctx, nil, fn)
	}
	return s.transact(ctx, by.Caller, func(u *unit) error {
		a, err := u.tx.Account(ctx, by.Account.ID)
		switch {
		case errors.Is(err, state.ErrNotFound), err == nil && (!a.Admin || a.Disabled()):
			return NotOperator()
		case err != nil:
			return err
		}
		return fn(u)
	})
}

// NotOperator is the error for an account that is not an operator. It does not say that
// there is a page for operators.
func NotOperator() *apierr.Error {
	return &apierr.Error{Status: 404, Code: "not_found", Description: "There is no page at this address."}
}

// AuditOperator writes an entry of an operator's action to the audit log, and fails when the account
// is not an operator. Actions outside the store are noted before they are carried out.
func (s *Service) AuditOperator(ctx context.Context, by *Operator, event string, detail map[string]string) error {
	return s.operate(ctx, by, func(u *unit) error {
		return u.audit(event, &identity.Registration{AccountID: by.accountID()}, detail)
	})
}

// SetOperator makes the account of an address an operator, or one no more. It reports
// whether that changed anything. It fails with state.ErrNotFound where nobody proved the
// address.
func (s *Service) SetOperator(ctx context.Context, email string, operator bool) (changed bool, err error) {
	err = s.transact(ctx, nil, func(u *unit) error {
		account, err := u.tx.VerifiedAccount(ctx, email)
		if err != nil {
			return err
		}
		if changed = account.Admin != operator; !changed {
			return nil
		}
		event := "operator.removed"
		if operator {
			event = "operator.added"
		}
		account.Admin = operator
		if err := u.tx.SaveAccount(ctx, account); err != nil {
			return err
		}
		return u.audit(event, &identity.Registration{AccountID: account.ID}, nil)
	})
	return changed, err
}
