package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
	url, email, idJag, kind, label string
	origins                        []string
	json, replace, noWait          bool
	client                         *agentauth.Client
	path                           string
	// session is nil where none is saved.
	session *agentauth.Session
}

func newAgentCmd(env *Env) *cobra.Command {
	o := &agentOptions{}
	cmd := &cobra.Command{
		Use:   "agent",
		Short: "Register as an agent with a service and call its API",
		Long: `Walks the agent registration protocol against any service that speaks it:
register, claim (a person confirms a code), token, and then the API.

Start with:  firstpick agent register --url https://SERVICE

The session is saved in the data folder as agent.json, readable by its owner
alone. Its claim token, assertion and access token are secrets.`,
		Args: usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.PersistentFlags().StringVar(&o.url, "url", "", "root URL of the service (default: the saved one, or http://"+demoListen+")")
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
	register.Flags().StringVar(&o.idJag, "id-jag", "", "file with an ID-JAG, a signed word of the user's identity provider (-: stdin)")
	register.Flags().BoolVar(&o.replace, "replace", false, "give up a saved session that is still good")
	asJSON(register)
	claim := sub("claim", "Get a code for the user to confirm, and wait until that is done", cobra.NoArgs, o.claim)
	claim.Flags().StringVar(&o.email, "email", "", "email address of the user who confirms")
	claim.Flags().BoolVar(&o.noWait, "no-wait", false, "print link and code, and do not wait: claim, run again, does")
	asJSON(claim)
	asJSON(sub("token", "Print a new access token", cobra.NoArgs, o.token))
	sub("revoke [TOKEN]", "Revoke an access token (default: the saved one; -: read it from stdin)", cobra.MaximumNArgs(1), o.revoke)
	key := sub("key", "Create a collector key; it is shown once", cobra.NoArgs, o.key)
	key.Flags().StringVar(&o.kind, "kind", "secret", "kind of the key: secret, publishable or log")
	key.Flags().StringVar(&o.label, "label", "", "label of the key (needed)")
	key.Flags().StringSliceVar(&o.origins, "origin", nil, "origin of pages that a publishable key is for, such as https://example.com")
	sub("workspace", "Print the workspace", cobra.NoArgs, o.workspace)
	asJSON(sub("status", "Show the saved session, with its secrets masked", cobra.NoArgs, o.status))
	sub("forget", "Delete the saved session; revoke first, for its token stays good", cobra.NoArgs, o.forget)
	return cmd
}

// open reads the configuration and the saved session.
func (o *agentOptions) open(env *Env, cmd *cobra.Command) (err error) {
	if o.app, err = newApp(env, cmd); err != nil {
		return err
	}
	version, _ := buildVersion()
	o.client = &agentauth.Client{
		HTTP: &http.Client{
			Timeout:   agentTimeout,
			Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true, ForceAttemptHTTP2: true},
		},
		Now: env.Now, Sleep: env.Sleep, UserAgent: "firstpick/" + version,
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

// discover reads the metadata of the service: of --url, or the saved one.
func (o *agentOptions) discover(ctx context.Context) (string, agentauth.Service, error) {
	base := o.url
	switch {
	case base != "":
	case o.session != nil:
		base = o.session.URL
	default:
		base = "http://" + demoListen
	}
	base, err := agentauth.CheckBase(base)
	if err != nil {
		return "", agentauth.Service{}, usageErr("--url wants an https address, or http on this machine", "--url: %w", err)
	}
	s, err := o.client.Discover(ctx, base)
	if err = o.explain(err, s); err != nil && hintOf(err) == "" && !errors.Is(err, context.Canceled) {
		err = &codedError{err, exitFailed, "--url must name the root of a service that speaks the protocol, as the service itself writes it"}
	}
	return base, s, err
}

// service reads the metadata of the service that the saved session is for. Its
// secrets go to that service alone.
func (o *agentOptions) service(ctx context.Context) (agentauth.Service, error) {
	if o.session == nil {
		return agentauth.Service{}, usageErr("firstpick agent register", "no session is saved in %s", o.path)
	}
	if o.url != "" && strings.TrimRight(o.url, "/") != o.session.URL {
		return agentauth.Service{}, usageErr("leave out --url, or take another --data", "the saved session is for %s", o.session.URL)
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

func (o *agentOptions) register(ctx context.Context, _ []string) error {
	req, err := o.request()
	if err != nil {
		return err
	}
	if o.session != nil && o.session.Live(o.env.Now()) && !o.replace {
		return usageErr("use it, or give it up with --replace", "a session with %s is saved and still good", o.session.URL)
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
		return agentauth.Request{}, usageErr("give one of them", "--email and --id-jag exclude each other")
	case o.email != "":
		return agentauth.Request{Type: agentauth.ServiceAuth, LoginHint: o.email}, nil
	case o.idJag != "":
		assertion, err := o.readSecret(o.idJag)
		if err == nil && strings.Count(assertion, ".") != 2 {
			err = errors.New("not a signed JWT")
		}
		if err != nil {
			return agentauth.Request{}, usageErr("--id-jag wants a file with an ID-JAG, or - for stdin", "--id-jag: %w", err)
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

// invitation is the message to the user: the link and the code together. The link
// ends its line, so that nothing sticks to it.
func (o *agentOptions) invitation() string {
	c := o.session.Claim
	who := ""
	if o.session.Email != "" {
		who = " as " + clean(o.session.Email)
	}
	return fmt.Sprintf("To confirm, sign in%s at\n  %s\nand type the code %s there. It is good for %s.\n",
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

func (o *agentOptions) next() string {
	switch {
	case !o.session.Live(o.env.Now()):
		return "firstpick agent register, for all that is saved has expired"
	case o.session.Assertion != "" && o.session.ClaimToken != "":
		return "firstpick agent key --label NAME, or firstpick agent claim --email USER@EXAMPLE.COM"
	case o.session.Assertion != "":
		return "firstpick agent token, workspace, or key --label NAME"
	default:
		return "firstpick agent claim, which waits until the user has confirmed"
	}
}

func (o *agentOptions) claim(ctx context.Context, _ []string) error {
	if o.session != nil && o.session.ClaimToken == "" {
		if o.session.Claimed {
			_, err := fmt.Fprintln(o.env.Stderr, "nothing is left to claim; next: "+o.next())
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
		_, err = fmt.Fprintln(o.env.Stderr, "next: firstpick agent claim, which waits until the user has confirmed")
		return err
	}
	_, _ = fmt.Fprintln(o.env.Stderr, "waiting; ctrl-C stops, and firstpick agent claim goes on")
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
		_, _ = fmt.Fprintf(o.env.Stderr, "the code for %s is void; this one takes its place\n", clean(o.session.Email))
	}
	o.session.Claim, o.session.Email = &fresh, email
	return o.session.Write(o.path)
}

// exchange mints an access token and saves it.
func (o *agentOptions) exchange(ctx context.Context, svc agentauth.Service) error {
	if o.session.Assertion == "" {
		return usageErr("firstpick agent claim", "the user has not confirmed the registration yet")
	}
	token, err := o.client.Exchange(ctx, svc, o.session.Assertion)
	if err != nil {
		return o.explain(err, svc)
	}
	o.session.TakeToken(token, false)
	return o.session.Write(o.path)
}

func (o *agentOptions) token(ctx context.Context, _ []string) error {
	svc, err := o.service(ctx)
	if err != nil {
		return err
	}
	if err := o.exchange(ctx, svc); err != nil {
		return err
	}
	if !o.json {
		_, err = fmt.Fprintln(o.env.Stdout, o.session.AccessToken)
		return err
	}
	doc := map[string]any{"access_token": o.session.AccessToken, "token_type": "Bearer", "scope": strings.Join(o.session.Scopes, " ")}
	if !o.session.TokenExpires.IsZero() {
		doc["expires"] = o.session.TokenExpires.UTC()
	}
	return printJSON(o.env, doc)
}

func (o *agentOptions) revoke(ctx context.Context, args []string) (err error) {
	token := firstOr(args, "")
	if token == "-" {
		if token, err = o.readSecret(token); err != nil {
			return badInput(err)
		}
	}
	var svc agentauth.Service
	if len(args) > 0 {
		if token == "" {
			return usageErr("", "the token is empty")
		}
		_, svc, err = o.discover(ctx)
	} else {
		svc, err = o.service(ctx)
	}
	if err != nil {
		return err
	}
	if len(args) == 0 {
		if token = o.session.AccessToken; token == "" {
			return usageErr("firstpick agent revoke TOKEN", "no access token is saved")
		}
	}
	if err := o.client.Revoke(ctx, svc, token); err != nil {
		return o.explain(err, svc)
	}
	if o.session == nil || token != o.session.AccessToken {
		_, err = fmt.Fprintln(o.env.Stderr, "revoked; the service takes this token no longer")
		return err
	}
	o.session.AccessToken, o.session.TokenExpires = "", time.Time{}
	if err := o.session.Write(o.path); err != nil {
		return err
	}
	_, err = fmt.Fprintln(o.env.Stderr, "revoked; the registration stays, and firstpick agent token mints a new one")
	return err
}

func (o *agentOptions) key(ctx context.Context, _ []string) error {
	if o.kind == "" || o.label == "" {
		return usageErr("firstpick agent key --label NAME", "--kind and --label must not be empty")
	}
	err := o.call(ctx, func(svc agentauth.Service, token string) (json.RawMessage, error) {
		return o.client.CreateKey(ctx, svc, token, agentauth.KeyRequest{Kind: o.kind, Label: o.label, Origins: o.origins})
	})
	if err == nil {
		_, _ = fmt.Fprintln(o.env.Stderr, "the key is shown this once; keep it safe")
	}
	return err
}

func (o *agentOptions) workspace(ctx context.Context, _ []string) error {
	return o.call(ctx, func(svc agentauth.Service, token string) (json.RawMessage, error) {
		return o.client.Workspace(ctx, svc, token)
	})
}

// call sends one request with an access token and prints the answer. A saved
// token that the service no longer takes is replaced once.
func (o *agentOptions) call(ctx context.Context, send func(agentauth.Service, string) (json.RawMessage, error)) error {
	svc, err := o.service(ctx)
	if err != nil {
		return err
	}
	token := o.session.FreshToken(o.env.Now())
	saved := token != ""
	if !saved {
		if err := o.exchange(ctx, svc); err != nil {
			return err
		}
		token = o.session.AccessToken
	}
	doc, err := send(svc, token)
	if refused := (*agentauth.Error)(nil); saved && errors.As(err, &refused) && refused.Status == http.StatusUnauthorized {
		if err := o.exchange(ctx, svc); err != nil {
			return err
		}
		doc, err = send(svc, o.session.AccessToken)
	}
	if err != nil {
		return o.explain(err, svc)
	}
	return printJSON(o.env, doc)
}

func (o *agentOptions) status(context.Context, []string) error {
	if o.session == nil {
		return usageErr("firstpick agent register", "no session is saved in %s", o.path)
	}
	if o.json {
		v := o.view()
		if c := v.Claim; c != nil {
			v.Claim = &agentauth.Claim{UserCode: masked(c.UserCode), Interval: c.Interval, Expires: c.Expires}
		}
		return printJSON(o.env, v)
	}
	s, now := o.session, o.env.Now()
	var b strings.Builder
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%-14s %s\n", name, value)
		}
	}
	secret := func(name, value string, expires time.Time) {
		if value == "" {
			return
		}
		until := ""
		switch {
		case expires.IsZero():
		case now.Before(expires):
			until = ", good for " + span(expires.Sub(now))
		default:
			until = ", expired"
		}
		line(name, masked(value)+until)
	}
	line("service", clean(s.URL))
	line("registration", clean(s.RegistrationID)+" ("+clean(s.Type)+")")
	line("claimed", yes(s.Claimed))
	line("workspace", clean(s.Workspace))
	line("email", clean(s.Email))
	line("scopes", clean(strings.Join(s.Scopes, " ")))
	secret("claim token", s.ClaimToken, s.ClaimTokenExpires)
	if s.Claim != nil {
		secret("code", s.Claim.UserCode, s.Claim.Expires)
	}
	secret("assertion", s.Assertion, s.AssertionExpires)
	secret("access token", s.AccessToken, s.TokenExpires)
	line("file", o.path)
	if _, err := io.WriteString(o.env.Stdout, b.String()); err != nil {
		return err
	}
	_, err := fmt.Fprintln(o.env.Stderr, "next: "+o.next())
	return err
}

func (o *agentOptions) forget(context.Context, []string) error {
	err := os.Remove(o.path)
	if errors.Is(err, os.ErrNotExist) {
		_, err = fmt.Fprintln(o.env.Stderr, "no session was saved")
		return err
	}
	if err == nil {
		_, err = fmt.Fprintf(o.env.Stderr, "deleted %s; an access token in it is good until it expires\n", o.path)
	}
	return err
}

// An agentView is the session with its secrets masked. The claim is for the
// user's eyes: register and claim show it, status does not.
type agentView struct {
	URL              string    `json:"url"`
	RegistrationID   string    `json:"registration_id"`
	Type             string    `json:"registration_type"`
	Workspace        string    `json:"workspace,omitempty"`
	Email            string    `json:"email,omitempty"`
	Claimed          bool      `json:"claimed"`
	Scopes           []string  `json:"scopes"`
	PostClaimScopes  []string  `json:"post_claim_scopes,omitempty"`
	ClaimToken       string    `json:"claim_token,omitempty"`
	ClaimExpires     time.Time `json:"claim_token_expires,omitzero"`
	Assertion        string    `json:"identity_assertion,omitempty"`
	AssertionExpires time.Time `json:"assertion_expires,omitzero"`
	AccessToken      string    `json:"access_token,omitempty"`
	TokenExpires     time.Time `json:"access_token_expires,omitzero"`

	Claim *agentauth.Claim `json:"claim,omitempty"`
}

func (o *agentOptions) view() agentView {
	s := o.session
	return agentView{
		URL: s.URL, RegistrationID: s.RegistrationID, Type: s.Type, Workspace: s.Workspace, Email: s.Email,
		Claimed: s.Claimed, Scopes: append([]string{}, s.Scopes...), PostClaimScopes: s.PostClaimScopes,
		ClaimToken: masked(s.ClaimToken), ClaimExpires: s.ClaimTokenExpires,
		Assertion: masked(s.Assertion), AssertionExpires: s.AssertionExpires,
		AccessToken: masked(s.AccessToken), TokenExpires: s.TokenExpires, Claim: s.Claim,
	}
}

// masked keeps the kind of a secret, such as clm_, and nothing else of it.
func masked(secret string) string {
	if secret == "" {
		return ""
	}
	kind, _, found := strings.Cut(secret, "_")
	if !found || len(kind) > 4 {
		return "****"
	}
	return kind + "_****"
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
			hint = "the ID-JAG's claims are wrong; the same again will fail again"
		}
		return &codedError{err, exitFailed, hint}
	case errors.As(err, &unreachable):
		return &codedError{err, exitFailed, "is the service running? --url names another"}
	default:
		return err
	}
}

// agentHint is the next step after a refusal.
func agentHint(e *agentauth.Error, svc agentauth.Service) string {
	const restart = "start again: firstpick agent register --replace"
	switch e.Code {
	case "invalid_request":
		return "mend what it names; the same again will fail again"
	case "issuer_not_enabled":
		if len(svc.TrustedIssuers) == 0 {
			return "the service trusts no identity provider: register with --email or without a flag"
		}
		return "the service trusts " + clean(strings.Join(svc.TrustedIssuers, ", ")) + "; or register with --email"
	case "login_required":
		return "sign the user in again at the identity provider and mint a fresh ID-JAG"
	case "invalid_claim_token", "claim_expired":
		return restart
	case "invalid_grant":
		return "it has expired, or the user or the service ended it; " + restart
	case "claimed_or_in_flight":
		return "it is claimed already: firstpick agent status shows what is saved"
	case agentauth.CodeExpired:
		return "run firstpick agent claim again for a fresh code"
	case agentauth.CodeDenied:
		return "the user or the service refused; ask the user"
	case "unsupported_grant_type":
		return "the service takes only the grants in its metadata"
	case "insufficient_scope":
		return "an unclaimed workspace is write-only: firstpick agent claim --email USER@EXAMPLE.COM"
	case "invalid_token":
		return "firstpick agent token mints a fresh one"
	}
	switch {
	case e.RetryAfter > 0:
		return "try again in " + e.RetryAfter.String()
	case e.Code == agentauth.CodeRateLimited || e.Status == http.StatusTooManyRequests || e.Status >= 500:
		return "wait a while and try again"
	case e.Status == http.StatusNotFound:
		return "does --url name the root of a service that speaks the protocol?"
	default:
		return ""
	}
}
