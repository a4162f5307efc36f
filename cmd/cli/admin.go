package cli

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/firstpick/firstpick/server/auth/keyring"
	"github.com/firstpick/firstpick/server/auth/registrations"
	"github.com/firstpick/firstpick/server/evals/evals"
	"github.com/firstpick/firstpick/server/store/identity"
	"github.com/firstpick/firstpick/server/store/state"
)

// adminOptions are what the commands on the state store share.
type adminOptions struct {
	*app
	format
	svc *registrations.Service

	email  string
	admin  bool
	issuer IssuerConfig
	revoke bool
	now    bool
	event  string
	id     string
	since  time.Duration
	limit  int
	label  string
	scopes []string
}

// newAdminCmd builds the commands of whoever runs the server. They work on the
// state store itself, beside a running server.
func newAdminCmd(env *Env) *cobra.Command {
	o := &adminOptions{}
	cmd := &cobra.Command{
		Use:   "admin",
		Short: "Look after the state store: sign-in links, workspaces, plans, keys, issuers, audit, backup",
		Long: `Works on the state store of a server: accounts, registrations, tokens. The server
may run meanwhile; it sees a change at once, or within a minute where it says so.

Give --data or --state as the server has it. Both need the same master key: the
variable FIRSTPICK_STATE_KEY, or the file state.key beside the file of SQLite or in
the data folder.`,
		Args: usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	addStateFlag(cmd.PersistentFlags())
	cmd.PersistentFlags().String("base-url", "", "public address of the server (default: http://LISTEN)")
	sub := func(parent *cobra.Command, use, short string, args cobra.PositionalArgs, run func(context.Context, []string) error) *cobra.Command {
		c := &cobra.Command{Use: use, Short: short, Args: usage(args), RunE: func(cmd *cobra.Command, args []string) (err error) {
			if o.app, err = newApp(env, cmd); err != nil {
				return err
			}
			if err = o.ready(cmd.Name()); err != nil {
				return err
			}
			return o.with(cmd.Context(), func() error { return run(cmd.Context(), args) })
		}}
		parent.AddCommand(c)
		return c
	}
	group := func(use, short string) *cobra.Command {
		c := &cobra.Command{Use: use, Short: short, Args: usage(cobra.NoArgs), RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
		cmd.AddCommand(c)
		return c
	}
	link := sub(cmd, "login-link", "Print a link that signs somebody in, once, within an hour", cobra.NoArgs, o.loginLink)
	link.Flags().StringVar(&o.email, "email", "", "whose account it signs in to (needed; made at the first sign-in)")
	link.Flags().BoolVar(&o.admin, "admin", false, "make the account an operator's")
	o.flags(sub(cmd, "workspaces", "List workspaces with their plans, evals and queued runs", cobra.NoArgs, o.workspaces))
	sub(cmd, "plan WORKSPACE free|paid|billed", "Set the plan of a workspace, named by its slug, or leave it to billing", cobra.ExactArgs(2), o.plan)
	sub(cmd, "bind-key WORKSPACE NAME HOST...", "Bind a provider key of a workspace to the hosts that it may be sent to", cobra.MinimumNArgs(3), o.bindKey)
	sub(cmd, "disable EMAIL", "Shut an account: its sessions, tokens, assertions, collector keys and runs stop", cobra.ExactArgs(1), func(ctx context.Context, args []string) error {
		return o.setDisabled(ctx, args[0], true)
	})
	sub(cmd, "enable EMAIL", "Open a disabled account again", cobra.ExactArgs(1), func(ctx context.Context, args []string) error {
		return o.setDisabled(ctx, args[0], false)
	})
	sub(cmd, "revoke REGISTRATION", "End an agent: its tokens and assertions are void at once", cobra.ExactArgs(1), o.end)

	issuer := group("issuer", "The identity providers whose word is trusted")
	add := sub(issuer, "add ISS", "Trust an issuer", cobra.ExactArgs(1), o.issuerAdd)
	add.Flags().StringVar(&o.issuer.Name, "name", "", "what people are shown")
	add.Flags().StringVar(&o.issuer.JWKSURI, "jwks-uri", "", "its key set (default: ISS/.well-known/jwks.json)")
	add.Flags().StringSliceVar(&o.issuer.Algs, "alg", nil, "algorithms it may use (default: ES256, ES384, RS256, PS256, EdDSA)")
	add.Flags().StringSliceVar(&o.issuer.ClientIDs, "client-id", nil, "clients it may speak for (default: all)")
	add.Flags().StringSliceVar(&o.issuer.EmailDomains, "email-domain", nil, "domains whose addresses it may assert (default: all)")
	add.Flags().StringSliceVar(&o.issuer.AMR, "amr", nil, "methods of signing in that its users must have used, such as mfa (default: any)")
	add.Flags().StringSliceVar(&o.issuer.Audiences, "audience", nil, "further audiences that are taken for ours")
	add.Flags().BoolVar(&o.issuer.AllowPrivate, "allow-private", false, "its keys may be fetched from a private network, over http")
	o.flags(sub(issuer, "list", "List trusted issuers", cobra.NoArgs, o.issuerList))
	remove := sub(issuer, "remove ISS", "Trust an issuer no longer", cobra.ExactArgs(1), o.issuerRemove)
	remove.Flags().BoolVar(&o.revoke, "revoke", false, "end every agent that it vouched for, too")

	key := group("key", "Eval keys: what lets programs read and run the evals of a workspace")
	create := sub(key, "create WORKSPACE", "Mint an eval key for a paid workspace, and print it, once", cobra.ExactArgs(1), o.keyCreate)
	create.Flags().StringVar(&o.label, "label", "", "what it is for, to tell it from others")
	create.Flags().StringSliceVar(&o.scopes, "scope", []string{evals.ScopeRead, evals.ScopeRun}, "what it may do: read, run")
	o.flags(sub(key, "list WORKSPACE", "List the eval keys of a workspace", cobra.ExactArgs(1), o.keyList))
	sub(key, "revoke WORKSPACE KEY", "End an eval key at once, named by its id", cobra.ExactArgs(2), o.keyRevoke)

	keys := group("keys", "Signing keys: what this server signs identity assertions with")
	o.flags(sub(keys, "list", "List signing keys and where they stand", cobra.NoArgs, o.keysList))
	rotate := sub(keys, "rotate", "Make a new key; the old one is accepted as long as its assertions live", cobra.NoArgs, o.keysRotate)
	rotate.Flags().BoolVar(&o.now, "now", false, "sign with it at once, not in 10 minutes")
	sub(keys, "drop KID", "Delete a key at once: every assertion that it signed is void", cobra.ExactArgs(1), o.keysDrop)

	audit := sub(cmd, "audit", "Print the audit log, oldest first", cobra.NoArgs, o.audit)
	audit.Flags().StringVar(&o.event, "event", "", "only this event, such as claim.confirmed")
	audit.Flags().StringVar(&o.id, "registration", "", "only this registration")
	audit.Flags().DurationVar(&o.since, "since", 0, "only the last so long, such as 24h")
	audit.Flags().IntVar(&o.limit, "limit", 200, "at most so many, the newest")
	o.flags(audit)
	audit.Flags().Lookup("json").Usage = "print JSON, an object a line"

	sub(cmd, "adopt-run RUN", "Copy a workspace's run that has ended to your own, for rank and publish", cobra.ExactArgs(1), o.adoptRun)
	sub(cmd, "backup FILE", "Write the whole store to a file, for the same or the other engine", cobra.ExactArgs(1), o.backup)
	sub(cmd, "restore FILE", "Fill an empty store from a backup, under the master key of the backup", cobra.ExactArgs(1), o.restore)
	return cmd
}

// ready refuses what can come to no good end before a store or a master key is
// made for it.
func (o *adminOptions) ready(command string) error {
	switch command {
	case "login-link", "add":
		return nil // these may come before the server's first start
	case "restore":
		o.cfg.DataSet = true // an operator may have put the key of the backup there
		access, err := o.stateAccess()
		if err == nil && !access.HasKey() {
			return usageErr("set FIRSTPICK_STATE_KEY, or copy the old "+state.MasterFile+" to "+access.KeyFiles()[0], "master key missing: restore needs the key of the backed-up store")
		}
		return err
	}
	file := filepath.Join(o.cfg.Data, "state.db")
	if o.cfg.State != "" {
		u, _ := url.Parse(o.cfg.State) // opening it says what is wrong
		if u == nil || u.Scheme != "sqlite" || u.Path == "" {
			return nil
		}
		file = filepath.FromSlash(u.Path)
	}
	if _, err := os.Stat(file); errors.Is(err, os.ErrNotExist) {
		return usageErr("give --data or --state as the server has it; firstpick server makes a new one", "no state store at %s", file)
	}
	return nil
}

// with runs a command on the open store.
func (o *adminOptions) with(ctx context.Context, run func() error) (err error) {
	db, vault, err := o.openState(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	base := o.cfg.BaseURL
	if base == "" {
		base = "http://" + o.cfg.Listen
	}
	cfg, err := o.registrations(base)
	if err != nil {
		return err
	}
	cfg.DB, cfg.Vault = db, vault
	if o.svc, err = registrations.New(ctx, cfg); err != nil {
		return err
	}
	return run()
}

func (o *adminOptions) say(format string, args ...any) {
	_, _ = fmt.Fprintf(o.env.Stderr, format+"\n", args...)
}

func (o *adminOptions) loginLink(ctx context.Context, _ []string) error {
	if o.email == "" {
		return usageErr("firstpick admin login-link --email USER@EXAMPLE.COM", "--email is missing")
	}
	email, ok := identity.ParseEmail(o.email)
	if !ok {
		return usageErr("", "--email: %q is not an e-mail address", o.email)
	}
	link, err := o.svc.OperatorLink(ctx, email, o.admin)
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintln(o.env.Stdout, link)
	o.say("secret: it signs in as %s, once, within an hour", email)
	if o.cfg.BaseURL == "" {
		o.say("is the server elsewhere than http://%s? --base-url says where", o.cfg.Listen)
	}
	return nil
}

func (o *adminOptions) plan(ctx context.Context, args []string) error {
	plan := args[1]
	switch plan {
	case state.PlanFree, state.PlanPaid:
	case "billed":
		plan = "" // what a billing system says
	default:
		return usageErr("free, paid, or billed: what a billing system says", "%q is no plan", plan)
	}
	err := o.svc.SetPlan(ctx, args[0], plan)
	if errors.Is(err, state.ErrNotFound) {
		return usageErr("give the slug, such as quiet-otter-4821", "no workspace %s", args[0])
	}
	if err == nil && plan == "" {
		o.say("the plan of %s is left to billing; firstpick admin workspaces shows it", args[0])
	} else if err == nil {
		o.say("%s is %s", args[0], plan)
	}
	return err
}

func (o *adminOptions) setDisabled(ctx context.Context, address string, disabled bool) error {
	email, ok := identity.ParseEmail(address)
	if !ok {
		return usageErr("", "%q is not an e-mail address", address)
	}
	err := o.svc.SetDisabled(ctx, email, disabled)
	if errors.Is(err, state.ErrNotFound) {
		return usageErr("an account is made when its person signs in for the first time", "no account of %s", email)
	}
	if err == nil && disabled {
		o.say("%s is disabled; firstpick admin enable %s opens it again", email, email)
	}
	if err == nil && !disabled {
		o.say("%s is enabled", email)
	}
	return err
}

func (o *adminOptions) end(ctx context.Context, args []string) error {
	err := o.svc.EndRegistration(ctx, args[0])
	if errors.Is(err, state.ErrNotFound) {
		return usageErr("ids are in firstpick admin audit", "no registration %s", args[0])
	}
	if err == nil {
		o.say("%s is revoked", args[0])
	}
	return err
}

func (o *adminOptions) keysList(ctx context.Context, _ []string) error {
	list, err := o.svc.Ring.List(ctx)
	if err != nil {
		return err
	}
	if o.json {
		return printJSON(o.env, map[string]any{"keys": list})
	}
	t := table{header: []string{"key", "state", "active from"}}
	for _, k := range list {
		t.add(k.KID, k.State, k.ActiveFrom.Format(time.RFC3339))
	}
	return t.print(o.env, o.format)
}

func (o *adminOptions) keysRotate(ctx context.Context, _ []string) error {
	after := keyring.Overlap
	if o.now {
		after = 0
	}
	kid, from, err := o.svc.RotateKey(ctx, after)
	if err != nil {
		return err
	}
	o.say("%s signs from %s on; servers publish it within a minute", kid, from.Format(time.RFC3339))
	return nil
}

func (o *adminOptions) keysDrop(ctx context.Context, args []string) error {
	err := o.svc.DropKey(ctx, args[0])
	if errors.Is(err, state.ErrNotFound) {
		return usageErr("firstpick admin keys list", "no key %s", args[0])
	}
	if err == nil {
		o.say("servers drop it within a minute")
	}
	return err
}
