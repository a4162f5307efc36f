package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/firstpick/firstpick/server/agents"
	"github.com/firstpick/firstpick/server/identity"
	"github.com/firstpick/firstpick/server/keyring"
	"github.com/firstpick/firstpick/server/state"
)

// adminOptions are what the commands on the state store share.
type adminOptions struct {
	*app
	format
	svc *agents.Service

	email  string
	admin  bool
	issuer IssuerConfig
	revoke bool
	now    bool
	event  string
	id     string
	since  time.Duration
	limit  int
}

// newAdminCmd builds the commands of whoever runs the server. They work on the
// state store itself, beside a running server.
func newAdminCmd(env *Env) *cobra.Command {
	o := &adminOptions{}
	cmd := &cobra.Command{
		Use:   "admin",
		Short: "Look after the state store: sign-in links, plans, issuers, keys, audit, backup",
		Long: `Works on the state store of a server: accounts, registrations, tokens. The server
may run meanwhile; it sees a change at once, or within a minute where it says so.

Give --data or --state as the server has it. Both need the same master key: the
variable FIRSTPICK_STATE_KEY, or the file state.key in the data folder.`,
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
	sub(cmd, "plan WORKSPACE free|paid", "Set the plan of a workspace, named by its slug", cobra.ExactArgs(2), o.plan)
	sub(cmd, "disable EMAIL", "Shut an account: its sessions, tokens and assertions stop at once", cobra.ExactArgs(1), func(ctx context.Context, args []string) error {
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

	keys := group("keys", "The keys that sign identity assertions")
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
		key := filepath.Join(o.cfg.Data, masterFile)
		if _, err := os.Stat(key); o.cfg.StateKey == "" && errors.Is(err, os.ErrNotExist) {
			return usageErr("set FIRSTPICK_STATE_KEY, or copy the old "+masterFile+" to "+key, "a backup needs the master key of its store, and there is none here")
		}
		return nil
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
	if o.svc, err = o.agentService(ctx, db, vault, base); err != nil {
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
	if args[1] != "free" && args[1] != "paid" {
		return usageErr("free or paid", "%q is no plan", args[1])
	}
	err := o.svc.SetPlan(ctx, args[0], args[1])
	if errors.Is(err, state.ErrNotFound) {
		return usageErr("give the slug, such as quiet-otter-4821", "no workspace %s", args[0])
	}
	if err == nil {
		o.say("%s is %s", args[0], args[1])
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

func (o *adminOptions) issuerAdd(ctx context.Context, args []string) error {
	o.issuer.Issuer = args[0]
	entry, err := o.issuer.entry()
	if err != nil {
		return badInput(err)
	}
	if o.configured(entry.ISS) {
		return usageErr("change it there", "the configuration file names %s already, and goes before the store", entry.ISS)
	}
	if err := o.svc.AddIssuer(ctx, entry); err != nil {
		return err
	}
	o.say("trusting %s", entry.ISS)
	return nil
}

// configured says whether the configuration file names an issuer.
func (o *adminOptions) configured(iss string) bool {
	return slices.ContainsFunc(o.cfg.Issuers, func(i IssuerConfig) bool { return i.Issuer == iss })
}

// An issuerView is an issuer as scripts read it.
type issuerView struct {
	ISS          string   `json:"issuer"`
	Name         string   `json:"name,omitempty"`
	JWKSURI      string   `json:"jwks_uri,omitempty"`
	Algs         []string `json:"algs,omitempty"`
	ClientIDs    []string `json:"client_ids,omitempty"`
	EmailDomains []string `json:"email_domains,omitempty"`
	AMR          []string `json:"amr,omitempty"`
	Audiences    []string `json:"audiences,omitempty"`
	AllowPrivate bool     `json:"allow_private"`
}

func (o *adminOptions) issuerList(ctx context.Context, _ []string) error {
	list, err := o.svc.Issuers.List(ctx)
	if err != nil {
		return err
	}
	if o.json {
		views := make([]issuerView, 0, len(list))
		for _, i := range list {
			views = append(views, issuerView(i))
		}
		return printJSON(o.env, map[string]any{"issuers": views})
	}
	t := table{header: []string{"issuer", "name", "keys", "clients", "domains"}}
	for _, i := range list {
		keys := i.JWKSURI
		if keys == "" {
			keys = "-"
		}
		t.add(i.ISS, i.Name, keys, strings.Join(i.ClientIDs, " "), strings.Join(i.EmailDomains, " "))
	}
	return t.print(o.env, o.format)
}

func (o *adminOptions) issuerRemove(ctx context.Context, args []string) error {
	ended, err := o.svc.RemoveIssuer(ctx, args[0], o.revoke)
	if errors.Is(err, state.ErrNotFound) {
		return usageErr("firstpick admin issuer list; those of the configuration file are removed there", "no issuer %s in the store", args[0])
	}
	if err != nil {
		return err
	}
	switch {
	case o.configured(args[0]):
		o.say("removed from the store, but still trusted: the configuration file names %s", args[0])
	case o.revoke:
		o.say("trusting %s no longer; %d agents that it vouched for are revoked", args[0], ended)
	default:
		o.say("trusting %s no longer; the agents that it vouched for stay until their tokens and assertions end (--revoke ends them now)", args[0])
	}
	return nil
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

func (o *adminOptions) audit(ctx context.Context, _ []string) error {
	if o.limit < 1 {
		return usageErr("", "--limit: %d is not at least 1", o.limit)
	}
	if o.since < 0 {
		return usageErr("24h means the last 24 hours", "--since: %s is negative", o.since)
	}
	f := state.AuditFilter{Event: o.event, RegistrationID: o.id, Limit: o.limit}
	if o.since > 0 {
		f.Since = o.env.Now().Add(-o.since)
	}
	list, err := o.svc.DB.Read().AuditLog(ctx, f)
	if err != nil {
		return err
	}
	if o.json {
		enc := json.NewEncoder(o.env.Stdout)
		for _, e := range list {
			if err := enc.Encode(e); err != nil {
				return err
			}
		}
		return nil
	}
	t := table{header: []string{"at", "event", "registration", "workspace", "account", "ip", "issuer", "detail"}}
	for _, e := range list {
		detail := []byte{}
		if e.Detail != nil {
			if detail, err = json.Marshal(e.Detail); err != nil {
				return err
			}
		}
		t.add(e.At.Format("2006-01-02T15:04:05.000Z"), e.Event, e.RegistrationID, e.WorkspaceID, e.AccountID, e.IP, e.ISS, string(detail))
	}
	return t.print(o.env, o.format)
}

func (o *adminOptions) backup(ctx context.Context, args []string) error {
	f, err := os.OpenFile(args[0], os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return usageErr("choose another name", "%s exists", args[0])
	}
	if err != nil {
		return badInput(err)
	}
	rows, err := o.svc.DB.Backup(ctx, f)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(args[0]))
	}
	o.say("%d rows in %s; the master key is not in it, and it is of no use without: keep both, apart", rows, args[0])
	return nil
}

func (o *adminOptions) restore(ctx context.Context, args []string) error {
	f, err := os.Open(args[0])
	if err != nil {
		return badInput(err)
	}
	defer func() { _ = f.Close() }()
	rows, err := o.svc.DB.Restore(ctx, f)
	if errors.Is(err, state.ErrMaster) {
		return usageErr("set FIRSTPICK_STATE_KEY to the key of then, and take another --data or --state: this store has its own key", "%s: the backup was made with another master key", args[0])
	}
	if err != nil {
		return badInput(fmt.Errorf("%s: %w", args[0], err))
	}
	o.say("%d rows restored", rows)
	return nil
}
