package cli

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/firstpick/firstpick/server/store/identity"
	"github.com/firstpick/firstpick/server/store/state"
)

// addOperators adds the commands of operators, who see /operator in the browser.
func (o *adminOptions) addOperators(operator *cobra.Command, sub addCmd) {
	sub(operator, "add EMAIL", "Make an account an operator", cobra.ExactArgs(1), func(ctx context.Context, args []string) error {
		return o.setOperator(ctx, args[0], true)
	})
	o.flags(sub(operator, "list", "List operators", cobra.NoArgs, o.operatorList))
	sub(operator, "remove EMAIL", "Make an operator an ordinary account again, at once", cobra.ExactArgs(1), func(ctx context.Context, args []string) error {
		return o.setOperator(ctx, args[0], false)
	})
}

func (o *adminOptions) setOperator(ctx context.Context, address string, operator bool) error {
	email, ok := identity.ParseEmail(address)
	if !ok {
		return usageErr("", "%q is not an e-mail address", address)
	}
	changed, err := o.svc.SetOperator(ctx, email, operator)
	switch {
	case errors.Is(err, state.ErrNotFound) && operator:
		return usageErr("firstpick admin login-link --email "+email+" --admin creates it", "no account of %s", email)
	case errors.Is(err, state.ErrNotFound), err == nil && !changed && !operator:
		return usageErr("firstpick admin operator list", "%s is not an operator", email)
	case err != nil:
		return err
	case operator:
		o.notef("%s is an operator", email)
		return nil
	}
	o.notef("%s is an operator no more", email)
	if known, err := o.svc.DB.Read().AnyAdmin(ctx); err != nil || known {
		return err
	}
	o.notef("no operator is left: the next start of the server prints a sign-in link for one")
	return nil
}

// An operatorView is an operator as scripts read it.
type operatorView struct {
	Email     string    `json:"email"`
	CreatedAt time.Time `json:"created_at"` // of the account
	Disabled  bool      `json:"disabled"`
}

func (o *adminOptions) operatorList(ctx context.Context, _ []string) error {
	list, err := o.svc.DB.Read().Operators(ctx)
	if err != nil {
		return err
	}
	views := make([]operatorView, 0, len(list))
	for _, a := range list {
		views = append(views, operatorView{a.Email, a.CreatedAt, a.Disabled()})
	}
	if o.json {
		return printJSON(o.env, map[string]any{"operators": views})
	}
	t := table{header: []string{"operator", "account created", "disabled"}}
	for _, v := range views {
		t.add(v.Email, v.CreatedAt.Format(time.RFC3339), yesNo(v.Disabled))
	}
	return t.print(o.env, o.format)
}
