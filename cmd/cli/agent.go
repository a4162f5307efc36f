package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/firstpick/firstpick/cmd/agentauth"
)

const (
	agentFile    = "agent.json"
	agentTimeout = 30 * time.Second
	maxIDJag     = 64 << 10
)

type agentOptions struct {
	*app
	email, idJag, kind, label string
	origins                   []string
	json, replace, noWait     bool
	client                    *agentauth.Client
	path                      string
	// session is nil where none is saved.
	session *agentauth.Session
}

func newAgentCmd(env *Env) *cobra.Command {
	o := &agentOptions{}
	cmd := &cobra.Command{
		Use:   "agent",
		Short: "Register as an agent with a service and call its API",
		Long: `Run the agent registration protocol with any service that supports it:
register, claim (a person confirms a code), token, and then the API.

Start with:  firstpick agent register --server https://HOST

The session is saved in the data folder as agent.json, readable by its owner
alone. Its claim token, assertion and access token are secrets.`,
		Args: usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	addServerFlag(cmd.PersistentFlags(), "that of the saved session, or http://"+demoListen, "url")
	sub := func(use, short string, args cobra.PositionalArgs, run func(context.Context, []string) error) *cobra.Command {
		c := &cobra.Command{Use: use, Short: short, Args: usage(args), RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.open(env, cmd); err != nil {
				return err
			}
			return run(cmd.Context(), args)
		}}
		cmd.AddCommand(c)
		return c
	}
	asJSON := func(c *cobra.Command) { c.Flags().BoolVar(&o.json, "json", false, "print JSON") }

	register := sub("register", "Register with the service: anonymously, or for a user", cobra.NoArgs, o.register)
	register.Flags().StringVar(&o.email, "email", "", "email address of the user, who then confirms a code")
	register.Flags().StringVar(&o.idJag, "id-jag", "", "file with an ID-JAG, an identity assertion of the user's IdP (-: stdin)")
	register.Flags().BoolVar(&o.replace, "replace", false, "replace a saved session that is still valid")
	asJSON(register)
	claim := sub("claim", "Get a code for the user to confirm, and wait for the confirmation", cobra.NoArgs, o.claim)
	claim.Flags().StringVar(&o.email, "email", "", "email address of the user who confirms")
	claim.Flags().BoolVar(&o.noWait, "no-wait", false, "print the link and the code, then exit; run claim again to wait")
	asJSON(claim)
	asJSON(sub("token", "Print a new access token", cobra.NoArgs, o.token))
	sub("revoke [TOKEN]", "Revoke an access token (default: the saved one; -: read it from stdin)", cobra.MaximumNArgs(1), o.revoke)
	key := sub("key", "Create a collector key; it is shown once", cobra.NoArgs, o.key)
	key.Flags().StringVar(&o.kind, "kind", "secret", "kind of the key: secret, publishable or log")
	key.Flags().StringVar(&o.label, "label", "", "label of the key (needed)")
	key.Flags().StringSliceVar(&o.origins, "origin", nil, "origin of a publishable key, such as https://example.com")
	asJSON(key)
	asJSON(sub("workspace", "Print the workspace", cobra.NoArgs, o.workspace))
	asJSON(sub("status", "Show the saved session, with its secrets masked", cobra.NoArgs, o.status))
	sub("forget", "Delete the saved session only; run revoke first to invalidate its token", cobra.NoArgs, o.forget)
	return cmd
}

// open reads the configuration and the saved session.
func (o *agentOptions) open(env *Env, cmd *cobra.Command) (err error) {
	if o.app, err = newApp(env, cmd); err != nil {
		return err
	}
	o.client = &agentauth.Client{
		HTTP: &http.Client{
			Timeout:   agentTimeout,
			Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true, ForceAttemptHTTP2: true},
		},
		Now: env.Now, Sleep: env.Sleep, UserAgent: env.Build.UserAgent(),
	}
	o.path = filepath.Join(o.cfg.Data, agentFile)
	if cmd.Name() == "forget" {
		return nil // deletes a damaged file too
	}
	o.session, err = agentauth.ReadSession(o.path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return usageErr("firstpick agent forget deletes it; then register again", "%w", err)
	}
	return nil
}

// discover reads the metadata of the service: of --server, or the saved one.
func (o *agentOptions) discover(ctx context.Context) (string, agentauth.Service, error) {
	base := o.cfg.Server
	switch {
	case base != "":
	case o.session != nil:
		base = o.session.URL
	default:
		base = o.localURL()
	}
	base, err := agentauth.CheckBase(base)
	if err != nil {
		return "", agentauth.Service{}, usageErr("--server must be an https URL, or http on this machine", "--server: %w", err)
	}
	s, err := o.client.Discover(ctx, base)
	if err = o.explain(err, s); err != nil && hintOf(err) == "" && !errors.Is(err, context.Canceled) {
		err = &codedError{err, exitFailed, "--server must be the root of a service that supports the protocol, as the service itself writes it"}
	}
	return base, s, err
}

// service reads the metadata of the service that the saved session is for. Its
// secrets go to that service alone.
func (o *agentOptions) service(ctx context.Context) (agentauth.Service, error) {
	if o.session == nil {
		return agentauth.Service{}, usageErr("firstpick agent register", "no session is saved in %s", o.path)
	}
	if o.cfg.Server != "" && strings.TrimRight(o.cfg.Server, "/") != o.session.URL {
		return agentauth.Service{}, usageErr("omit --server, or use another --data", "the saved session is for %s", o.session.URL)
	}
	_, s, err := o.discover(ctx)
	if err == nil && (s.Issuer != o.session.Issuer || s.Resource != o.session.Resource) {
		return s, &codedError{
			fmt.Errorf("%s now names another authorization server or resource than at the registration", o.session.URL),
			exitFailed, "ask its operator; firstpick agent forget, then register, starts again",
		}
	}
	return s, err
}

func (o *agentOptions) next() string {
	switch {
	case !o.session.Live(o.env.Now()):
		return "firstpick agent register: the saved session has expired"
	case o.session.Assertion != "" && o.session.ClaimToken != "":
		return "firstpick agent key --label NAME, or firstpick agent claim --email USER@EXAMPLE.COM"
	case o.session.Assertion != "":
		return "firstpick agent token, workspace, or key --label NAME"
	default:
		return "firstpick agent claim, which waits for the user"
	}
}

// clean is a text from a service, fit for a terminal.
func clean(s string) string { return agentauth.Printable(s, 500) }

// explain adds the next step to a failure.
func (o *agentOptions) explain(err error, svc agentauth.Service) error {
	refused := (*agentauth.Error)(nil)
	coded := (*codedError)(nil)
	unreachable := (*url.Error)(nil)
	switch {
	case err == nil || errors.As(err, &coded):
		return err
	case errors.As(err, &refused):
		hint := agentHint(refused, svc)
		if refused.Code == "invalid_request" && o.idJag != "" {
			hint = "the claims of the ID-JAG are invalid; do not retry unchanged"
		}
		return &codedError{err, exitFailed, hint}
	case errors.As(err, &unreachable):
		return &codedError{err, exitFailed, "check that the service is running, or set --server"}
	default:
		return err
	}
}

// agentHint is the next step after a refusal.
func agentHint(e *agentauth.Error, svc agentauth.Service) string {
	const restart = "start again: firstpick agent register --replace"
	switch e.Code {
	case "invalid_request":
		return "fix the named parameter; do not retry unchanged"
	case "issuer_not_enabled":
		if len(svc.TrustedIssuers) == 0 {
			return "the service trusts no identity provider: register with --email or without a flag"
		}
		return "the service trusts " + clean(strings.Join(svc.TrustedIssuers, ", ")) + "; or register with --email"
	case "login_required":
		return "sign the user in again at the identity provider and issue a new ID-JAG"
	case "invalid_claim_token", "claim_expired":
		return restart
	case "invalid_grant":
		return "it has expired or was revoked; " + restart
	case "claimed_or_in_flight":
		return "already claimed: firstpick agent status shows the session"
	case agentauth.CodeExpired:
		return "run firstpick agent claim again for a fresh code"
	case agentauth.CodeDenied:
		return "the user or the service refused; ask the user"
	case "unsupported_grant_type":
		return "the service supports only the grants in its metadata"
	case "insufficient_scope":
		return "an unclaimed workspace is write-only: firstpick agent claim --email USER@EXAMPLE.COM"
	case "invalid_token":
		return "firstpick agent token issues a new one"
	}
	switch {
	case e.RetryAfter > 0:
		return "try again in " + e.RetryAfter.String()
	case e.Code == agentauth.CodeRateLimited || e.Status == http.StatusTooManyRequests || e.Status >= 500:
		return "wait a while and try again"
	case e.Status == http.StatusNotFound:
		return "check that --server is the root of a service that supports the protocol"
	default:
		return ""
	}
}
