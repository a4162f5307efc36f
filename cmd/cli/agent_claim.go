package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/firstpick/firstpick/cmd/agentauth"
)

// invitation is the message to the user: the link and the code together. The link
// ends its line, so that nothing sticks to it.
func (o *agentOptions) invitation() string {
	c := o.session.Claim
	who := ""
	if o.session.Email != "" {
		who = " as " + clean(o.session.Email)
	}
	return fmt.Sprintf("To confirm, sign in%s at\n  %s\nand enter the code %s there. It is valid for %s.\n",
		who, c.VerificationURI, c.UserCode, span(c.Expires.Sub(o.env.Now())))
}

// span writes 24h for 24h0m0s, and 10m for 10m0s.
func span(d time.Duration) string {
	s := d.Round(time.Second).String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

func (o *agentOptions) claim(ctx context.Context, _ []string) error {
	if o.session != nil && o.session.ClaimToken == "" {
		if o.session.Claimed {
			_, err := fmt.Fprintln(o.env.Stderr, "nothing to claim; next: "+o.next())
			return err
		}
		return usageErr("firstpick agent register --replace", "the saved session has no claim token")
	}
	svc, err := o.service(ctx)
	if err != nil {
		return err
	}
	if err := o.code(ctx, svc); err != nil {
		return err
	}
	if o.json {
		err = printJSON(o.env, o.view())
	} else {
		_, err = io.WriteString(o.env.Stdout, o.invitation())
	}
	if err != nil {
		return err
	}
	if o.noWait {
		_, err = fmt.Fprintln(o.env.Stderr, "next: firstpick agent claim, which waits for the user")
		return err
	}
	_, _ = fmt.Fprintln(o.env.Stderr, "waiting (ctrl-C stops; firstpick agent claim continues)")
	token, err := o.client.AwaitClaim(ctx, svc, o.session.ClaimToken, *o.session.Claim)
	if err != nil {
		if refused := (*agentauth.Error)(nil); errors.As(err, &refused) && refused.Status < 500 && refused.Code != agentauth.CodeRateLimited {
			o.session.Claim = nil // this code brings nothing any more
			err = errors.Join(o.explain(err, svc), o.session.Write(o.path))
		}
		return o.explain(err, svc)
	}
	o.session.TakeToken(token, true)
	if err := o.session.Write(o.path); err != nil {
		return err
	}
	if o.json {
		return printJSON(o.env, o.view())
	}
	_, err = fmt.Fprintf(o.env.Stdout, "confirmed: workspace %s, scopes %s\n", clean(o.session.Workspace), clean(strings.Join(o.session.Scopes, " ")))
	return err
}

// code makes sure that the session has a code that the user can still confirm.
// A fresh one kills the one before, so the one at hand is kept while it is good.
func (o *agentOptions) code(ctx context.Context, svc agentauth.Service) error {
	email := o.email
	if email == "" {
		email = o.session.Email
	}
	c := o.session.Claim
	if c != nil && o.env.Now().Before(c.Expires) && (o.session.Email == "" || strings.EqualFold(email, o.session.Email)) {
		return nil
	}
	if email == "" {
		return usageErr("firstpick agent claim --email USER@EXAMPLE.COM", "a code is bound to the user who confirms it: --email is missing")
	}
	fresh, err := o.client.StartClaim(ctx, svc, o.session.ClaimToken, email)
	if err != nil {
		return o.explain(err, svc)
	}
	if c != nil && o.env.Now().Before(c.Expires) {
		_, _ = fmt.Fprintf(o.env.Stderr, "the previous code for %s is void; use this one\n", clean(o.session.Email))
	}
	o.session.Claim, o.session.Email = &fresh, email
	return o.session.Write(o.path)
}
