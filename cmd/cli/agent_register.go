package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/firstpick/firstpick/cmd/agentauth"
)

func (o *agentOptions) register(ctx context.Context, _ []string) error {
	req, err := o.request()
	if err != nil {
		return err
	}
	if o.session != nil && o.session.Live(o.env.Now()) && !o.replace {
		return usageErr("use it, or replace it with --replace", "a session with %s is saved and still valid", o.session.URL)
	}
	base, svc, err := o.discover(ctx)
	if err != nil {
		return err
	}
	if err := writable(o.cfg.Data); err != nil {
		return err // before anything is made that is shown once
	}
	reg, err := o.client.Register(ctx, svc, req)
	if err != nil {
		return o.explain(err, svc)
	}
	o.session = &agentauth.Session{URL: base, Issuer: svc.Issuer, Resource: svc.Resource, Email: req.LoginHint}
	o.session.Take(reg)
	if err := o.session.Write(o.path); err != nil {
		return err
	}
	if err := o.printRegistration(reg); err != nil {
		return err
	}
	_, err = fmt.Fprintf(o.env.Stderr, "saved in %s (secret)\nnext: %s\n", o.path, o.next())
	return err
}

// request reads the flags of register.
func (o *agentOptions) request() (agentauth.Request, error) {
	switch {
	case o.email != "" && o.idJag != "":
		return agentauth.Request{}, usageErr("give one of them", "--email cannot be combined with --id-jag")
	case o.email != "":
		return agentauth.Request{Type: agentauth.ServiceAuth, LoginHint: o.email}, nil
	case o.idJag != "":
		assertion, err := o.readSecret(o.idJag)
		if err == nil && strings.Count(assertion, ".") != 2 {
			err = errors.New("not a signed JWT")
		}
		if err != nil {
			return agentauth.Request{}, usageErr("--id-jag must be a file with an ID-JAG, or - for stdin", "--id-jag: %w", err)
		}
		return agentauth.Request{Type: agentauth.IdentityAssertion, Assertion: assertion}, nil
	default:
		return agentauth.Request{Type: agentauth.Anonymous}, nil
	}
}

// readSecret reads a file, or stdin for "-".
func (o *agentOptions) readSecret(name string) (string, error) {
	in := o.env.Stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return "", err
		}
		defer func() { _ = f.Close() }()
		in = f
	}
	raw, err := io.ReadAll(io.LimitReader(in, maxIDJag+1))
	if err == nil && len(raw) > maxIDJag {
		err = errors.New("larger than 64 KiB")
	}
	return strings.TrimSpace(string(raw)), err
}

// writable checks that a file can be made in the folder.
func writable(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".agent-*")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

func (o *agentOptions) printRegistration(reg agentauth.Registration) error {
	if o.json {
		return printJSON(o.env, o.view())
	}
	var b strings.Builder
	fmt.Fprintf(&b, "registration %s (%s)\n", clean(reg.ID), reg.Type)
	if reg.Workspace != "" {
		fmt.Fprintf(&b, "workspace %s\n", clean(reg.Workspace))
	}
	if len(reg.Scopes) > 0 {
		fmt.Fprintf(&b, "scopes %s\n", clean(strings.Join(reg.Scopes, " ")))
	}
	if len(reg.PostClaimScopes) > 0 {
		fmt.Fprintf(&b, "scopes after the claim %s\n", clean(strings.Join(reg.PostClaimScopes, " ")))
	}
	if reg.Interaction {
		b.WriteString("the user has an account here and must confirm the link to it\n")
	}
	if reg.Claim != nil {
		b.WriteString(o.invitation())
	}
	_, err := io.WriteString(o.env.Stdout, b.String())
	return err
}
