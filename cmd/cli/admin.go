package cli

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/firstpick/firstpick/server/auth/keyring"
	"github.com/firstpick/firstpick/server/auth/registrations"
	"github.com/firstpick/firstpick/server/evals/evals"
	"github.com/firstpick/firstpick/server/store/identity"
	"github.com/firstpick/firstpick/server/store/state"
)

// adminOptions are the shared options of commands on the state store.
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
	yes    bool
	check  bool
	list   string
}

// newAdminCmd builds the commands of the operator. They work directly on the
// state store, also while a server runs.
func newAdminCmd(env *Env) *cobra.Command {
	o := &adminOptions{}
	cmd := &cobra.Command{
		Use:   "admin",
		Short: "Administer the state store: sign-in links, workspaces, plans, keys, issuers, audit, erasure, backup",
		Long: `Administer the state store of a server: accounts, registrations, tokens. The server may
be running; changes apply at once, or within a minute where stated.

Use the --data or --state of the server. Both need the same master key: the
variable FIRSTPICK_STATE_KEY, or the file state.key next to the SQLite file or in
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
			if err = o.ready(strings.TrimPrefix(cmd.CommandPath(), "firstpick admin ")); err != nil {
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
	link := sub(cmd, "login-link", "Print a sign-in link, valid once, for an hour", cobra.NoArgs, o.loginLink)
	link.Flags().StringVar(&o.email, "email", "", "account to sign in to (required; created at the first sign-in)")
	link.Flags().BoolVar(&o.admin, "admin", false, "make the account an operator")
	o.flags(sub(cmd, "workspaces", "List workspaces with their plans, evals and queued runs", cobra.NoArgs, o.workspaces))
	sub(cmd, "plan WORKSPACE free|paid|billed", "Set the plan of a workspace (by slug), or let billing set it", cobra.ExactArgs(2), o.plan)
	sub(cmd, "bind-key WORKSPACE NAME HOST...", "Bind a provider key of a workspace to its allowed hosts", cobra.MinimumNArgs(3), o.bindKey)
	sub(cmd, "disable EMAIL", "Disable an account: its sessions, tokens, assertions, collector keys and runs stop", cobra.ExactArgs(1), func(ctx context.Context, args []string) error {
		return o.setDisabled(ctx, args[0], true)
	})
	sub(cmd, "enable EMAIL", "Enable a disabled account", cobra.ExactArgs(1), func(ctx context.Context, args []string) error {
		return o.setDisabled(ctx, args[0], false)
	})
	sub(cmd, "revoke REGISTRATION", "Revoke an agent: its tokens and assertions become invalid at once", cobra.ExactArgs(1), o.end)

	o.addOperators(group("operator", "Operators: accounts that may open /operator in the browser"), sub)
	o.addIssuers(group("issuer", "Trusted identity providers"), sub)
	o.addEvalKeys(group("eval-key", "Eval keys: API access to the evals of a workspace"), sub)
	o.addSigningKeys(group("signing-key", "Signing keys of identity assertions"), sub)
	old := group("key", "Eval keys")
	renameCommand(old, "firstpick admin eval-key")
	o.addEvalKeys(old, sub)
	old = group("keys", "Signing keys")
	renameCommand(old, "firstpick admin signing-key")
	o.addSigningKeys(old, sub)

	o.addAudit(cmd, sub)
	sub(cmd, "adopt-run RUN", "Copy a finished run of a workspace to your own runs, for rank and publish", cobra.ExactArgs(1), o.adoptRun)
	sub(cmd, "backup FILE", "Back up the store to a file, for the same or the other engine", cobra.ExactArgs(1), o.backup)
	restore := sub(cmd, "restore FILE", "Restore a backup into an empty store, with the master key of the backup", cobra.ExactArgs(1), o.restore)
	restore.Flags().StringVar(&o.list, "erasures", "", "erasure list to apply, so that erased data stays erased (default: erasures.ndjson in the data folder)")
	o.addErase(cmd, sub)
	return cmd
}

// An addCmd adds a command to parent.
type addCmd func(parent *cobra.Command, use, short string, args cobra.PositionalArgs, run func(context.Context, []string) error) *cobra.Command

func (o *adminOptions) addIssuers(issuer *cobra.Command, sub addCmd) {
	add := sub(issuer, "add ISS", "Trust an issuer", cobra.ExactArgs(1), o.issuerAdd)
	add.Flags().StringVar(&o.issuer.Name, "name", "", "display name")
	add.Flags().StringVar(&o.issuer.JWKSURI, "jwks-uri", "", "URL of its key set (default: ISS/.well-known/jwks.json)")
	add.Flags().StringSliceVar(&o.issuer.Algs, "alg", nil, "allowed algorithms (default: ES256, ES384, RS256, PS256, EdDSA)")
	add.Flags().StringSliceVar(&o.issuer.ClientIDs, "client-id", nil, "allowed client IDs (default: all)")
	add.Flags().StringSliceVar(&o.issuer.EmailDomains, "email-domain", nil, "allowed e-mail domains (default: all)")
	add.Flags().StringSliceVar(&o.issuer.AMR, "amr", nil, "required authentication methods, such as mfa (default: any)")
	add.Flags().StringSliceVar(&o.issuer.Audiences, "audience", nil, "additional accepted audiences")
	add.Flags().BoolVar(&o.issuer.AllowPrivate, "allow-private", false, "allow its key set on a private network, over http")
	o.flags(sub(issuer, "list", "List trusted issuers", cobra.NoArgs, o.issuerList))
	remove := sub(issuer, "remove ISS", "Remove a trusted issuer", cobra.ExactArgs(1), o.issuerRemove)
	remove.Flags().BoolVar(&o.revoke, "revoke", false, "also revoke its agents")
}

// addEvalKeys adds the commands of eval keys.
func (o *adminOptions) addEvalKeys(key *cobra.Command, sub addCmd) {
	create := sub(key, "create WORKSPACE", "Create an eval key for a workspace and print it once", cobra.ExactArgs(1), o.keyCreate)
	create.Flags().StringVar(&o.label, "label", "", "label of the key")
	create.Flags().StringSliceVar(&o.scopes, "scope", []string{evals.ScopeRead, evals.ScopeRun}, "scopes: read, run")
	o.flags(sub(key, "list WORKSPACE", "List the eval keys of a workspace", cobra.ExactArgs(1), o.keyList))
	sub(key, "revoke WORKSPACE KEY", "Revoke an eval key (by id) at once", cobra.ExactArgs(2), o.keyRevoke)
}

// addSigningKeys adds the commands of signing keys.
func (o *adminOptions) addSigningKeys(keys *cobra.Command, sub addCmd) {
	o.flags(sub(keys, "list", "List signing keys and their state", cobra.NoArgs, o.keysList))
	rotate := sub(keys, "rotate", "Create a new key; the old one stays valid as long as its assertions", cobra.NoArgs, o.keysRotate)
	rotate.Flags().BoolVar(&o.now, "now", false, "sign with it at once, not in 10 minutes")
	sub(keys, "drop KID", "Delete a key at once: all its assertions become invalid", cobra.ExactArgs(1), o.keysDrop)
}

func (o *adminOptions) addAudit(cmd *cobra.Command, sub addCmd) {
	audit := sub(cmd, "audit", "Print the audit log, oldest first", cobra.NoArgs, o.audit)
	audit.Flags().StringVar(&o.event, "event", "", "only this event, such as claim.confirmed")
	audit.Flags().StringVar(&o.id, "registration", "", "only this registration")
	audit.Flags().DurationVar(&o.since, "since", 0, "only entries of this period, such as 24h")
	audit.Flags().IntVar(&o.limit, "limit", 200, "print only so many of the newest entries")
	o.flags(audit)
	audit.Flags().Lookup("json").Usage = "print JSON, one object per line"
}

// ready rejects invalid requests before a store or a master key is
// made for it.
func (o *adminOptions) ready(command string) error {
	switch command {
	case "login-link", "issuer add":
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
		u, _ := url.Parse(o.cfg.State) // opening it reports the problem
		if u == nil || u.Scheme != "sqlite" || u.Path == "" {
			return nil
		}
		file = filepath.FromSlash(u.Path)
	}
	if _, err := os.Stat(file); errors.Is(err, os.ErrNotExist) {
		return usageErr("use the --data or --state of the server; firstpick server creates a new store", "no state store at %s", file)
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

func (o *adminOptions) notef(format string, args ...any) {
	_, _ = fmt.Fprintf(o.env.Stderr, format+"\n", args...)
}

func (o *adminOptions) loginLink(ctx context.Context, _ []string) error {
	if o.email == "" {
		return usageErr("firstpick admin login-link --email USER@EXAMPLE.COM", "--email is missing")
	}
	email, ok := identity.ParseEmail(o.email)
	if !ok {
		return usageErr("", "--email must be an e-mail address (got %q)", o.email)
	}
	link, err := o.svc.OperatorLink(ctx, email, o.admin)
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintln(o.env.Stdout, link)
	o.notef("secret: signs in as %s, once, within an hour", email)
	if o.cfg.BaseURL == "" {
		o.notef("if the server is not at http://%s, set --base-url", o.cfg.Listen)
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
		return usageErr("billed is what the billing system says", "unknown plan %q: want free, paid or billed%s", plan, meant(plan, state.PlanFree, state.PlanPaid, "billed"))
	}
	err := o.svc.SetPlan(ctx, nil, args[0], plan)
	if errors.Is(err, state.ErrNotFound) {
		return usageErr("give the slug, such as quiet-otter-4821", "no workspace %s", args[0])
	}
	if err == nil && plan == "" {
		o.notef("billing sets the plan of %s; firstpick admin workspaces shows it", args[0])
	} else if err == nil {
		o.notef("%s is %s", args[0], plan)
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
		return usageErr("accounts are created at the first sign-in", "no account of %s", email)
	}
	if err == nil && disabled {
		o.notef("%s is disabled; firstpick admin enable %s enables it", email, email)
	}
	if err == nil && !disabled {
		o.notef("%s is enabled", email)
	}
	return err
}

func (o *adminOptions) end(ctx context.Context, args []string) error {
	err := o.svc.EndRegistration(ctx, args[0])
	if errors.Is(err, state.ErrNotFound) {
		return usageErr("ids are in firstpick admin audit", "no registration %s", args[0])
	}
	if err == nil {
		o.notef("%s is revoked", args[0])
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
	o.notef("%s signs from %s on; servers publish it within a minute", kid, from.Format(time.RFC3339))
	return nil
}

func (o *adminOptions) keysDrop(ctx context.Context, args []string) error {
	err := o.svc.DropKey(ctx, args[0])
	if errors.Is(err, state.ErrNotFound) {
		return usageErr("firstpick admin signing-key list", "no key %s", args[0])
	}
	if err == nil {
		o.notef("servers remove it within a minute")
	}
	return err
}
