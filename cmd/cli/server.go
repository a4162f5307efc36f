package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/firstpick/firstpick/cmd/metrics"
	"github.com/firstpick/firstpick/server"
	"github.com/firstpick/firstpick/server/auth/registrations"
	"github.com/firstpick/firstpick/server/public/snapshotview"
	"github.com/firstpick/firstpick/server/store/identity"
)

// housekeepEvery is how often ended rows are swept and failed mail is tried again.
const housekeepEvery = time.Minute

// newServerCmd builds `firstpick server`. A test passes runF to see the
// configuration.
func newServerCmd(env *Env, runF func(context.Context, *app) error) *cobra.Command {
	if runF == nil {
		runF = func(ctx context.Context, a *app) error {
			ln, err := listen(ctx, a.cfg.Listen)
			if err != nil {
				return err
			}
			return serve(ctx, a, ln)
		}
	}
	cmd := &cobra.Command{
		Use:   "server",
		Short: "Serve the read API and pages, agent registration, claims and tokens",
		Long: `Serve the current snapshot, and let agents register. A snapshot that is promoted
while the server runs is picked up within a second; one that is damaged, or with
--trust one that is not signed with that key, is refused and the old one stays. Accounts, registrations and tokens are kept in the state
store: SQLite in the data folder, or PostgreSQL by --state.`,
		Args: usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			a, err := newApp(env, cmd)
			if err != nil {
				return err
			}
			return runF(cmd.Context(), a)
		},
	}
	f := cmd.Flags()
	f.String("listen", demoListen, "address to serve on")
	f.String("base-url", "", "public address of the server (default: http://LISTEN)")
	f.String("snapshots", "", "where snapshots lie, as file:///DIR (default: the data folder)")
	f.String("trust", "", "serve signed snapshots only: file of the public key (PEM) of their signature, or several with commas between")
	f.Int("limit-public", perMinute, "requests a minute that one address may send to the read API")
	f.Bool("access-log", true, "log a line per request")
	addMetricsFlag(f)
	addStateFlag(f)
	f.Bool("with-worker", false, "run the evals of workspaces in this process too, in place of firstpick worker")
	f.Int("worker-runs", 2, "how many of their runs at a time")
	f.String("mail", "log:", "how mail is sent: log:, file:///DIR, smtp://USER:PASSWORD@HOST:PORT")
	f.String("mail-from", "", "whose name mail carries")
	return cmd
}

func listen(ctx context.Context, addr string) (net.Listener, error) {
	ln, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, usageErr("choose another with --listen 127.0.0.1:PORT", "%s is in use by another program", addr)
	}
	if err != nil {
		return nil, badInput(err)
	}
	return ln, nil
}

// serve answers on ln until ctx ends.
func serve(ctx context.Context, a *app, ln net.Listener) (err error) {
	keepPrivate() // the stores tell of visits and customers
	root, err := a.snapshotsRoot("")
	if err != nil {
		return err
	}
	base := a.cfg.BaseURL
	if base == "" {
		base = "http://" + ln.Addr().String()
	}
	holder := &snapshotview.Holder{}
	trusted, err := trustedKeys(a.cfg.Trust)
	if err != nil {
		return err
	}
	w := &watcher{root: root, base: base, holder: holder, log: a.log, sleep: a.env.Sleep, trusted: trusted}
	w.look()
	if holder.Current() == nil {
		a.log.Warn("no snapshot yet: the API answers 503 until one is published", "snapshots", root)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go w.run(ctx)

	db, vault, err := a.openState(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	svc, err := a.agentService(ctx, db, vault, base)
	if err != nil {
		return err
	}
	providers, err := a.providers()
	if err != nil {
		return err
	}
	if err := a.welcome(ctx, svc); err != nil {
		return err
	}
	beside := newTasks(ctx)
	defer beside.end()
	beside.every(housekeepEvery, svc.Run)
	taken, lists, err := a.collector(beside, db, vault)
	if err != nil {
		return err
	}
	reports, err := a.reports(beside, db, a.sites(beside, db, base), lists)
	if err != nil {
		return err
	}
	told := a.alerts(beside, svc, reports)
	cat, err := a.catalog()
	if err != nil {
		return err
	}
	own, shelf, err := a.evals(svc)
	if err != nil {
		return err
	}
	beside.atEnd(func() { _ = shelf.Close() })
	figures := metrics.Sources{Queue: a.queueSource(db), Events: taken.Waiting, Lists: lists.AsOf}
	if a.cfg.WithWorker {
		w, err := a.workBeside(beside, db)
		if err != nil {
			return err
		}
		figures.Worker = workSource(w)
	}

	cfg := server.Config{
		Source: holder, Agents: svc, Collect: taken, Reports: reports, Alerts: told, Evals: own, Categories: cat.Categories, Providers: providers, Log: a.log, Now: a.env.Now, BaseURL: base, IDPrefix: strings.ToLower(a.env.NewID()[:6]),
		LimitPerMinute: a.cfg.LimitPublic, LimitsOff: a.cfg.Limits == "off", AccessLog: a.cfg.AccessLog,
		TrustedProxies: a.cfg.TrustedProxies, LogWriter: a.env.Stderr, BillingKeys: a.billingKeys(), CLI: Reference(a.env),
		Name: a.cfg.RegistryName, Version: servedVersion(), Contact: a.cfg.SecurityContact,
	}
	if a.cfg.Metrics != "" {
		figures.Requests = metrics.NewRequests()
		cfg.Count = figures.Requests.Counter
	}
	srv, err := server.New(cfg)
	if err != nil {
		return badInput(err)
	}
	if err := a.metrics(beside, figures); err != nil {
		return err
	}
	a.warn(base)
	_, _ = fmt.Fprintf(a.env.Stderr, "serving %s (ctrl-C stops)\n", strings.TrimRight(base, "/")+"/")
	return srv.Serve(ctx, ln)
}

// warn tells of settings that are good for a try and bad for a public server.
func (a *app) warn(base string) {
	if a.cfg.Limits == "off" {
		a.log.Warn("rate limits are off")
	}
	u, err := url.Parse(base)
	if err != nil || u.Hostname() == "localhost" {
		return
	}
	if ip, err := netip.ParseAddr(u.Hostname()); err == nil && ip.IsLoopback() {
		return
	}
	if u.Scheme == "http" {
		a.log.Warn("people sign in over plain http: put TLS in front and set base-url to the https address", "base-url", base)
	}
	if a.cfg.Mail == "log:" {
		a.log.Warn("mail, with its sign-in links, goes to this log: set mail to smtp://...", "mail", a.cfg.Mail)
	}
}

// welcome prints a link that signs an operator in, when there is none yet.
func (a *app) welcome(ctx context.Context, svc *registrations.Service) error {
	known, err := svc.DB.Read().AnyAdmin(ctx)
	if err != nil || known {
		return err
	}
	email, ok := identity.ParseEmail(a.cfg.AdminEmail)
	if !ok {
		return usageErr("", "admin-email: %q is not an e-mail address", a.cfg.AdminEmail)
	}
	link, err := svc.OperatorLink(ctx, email, true)
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(a.env.Stderr, "sign in as operator, within an hour: %s\n", link)
	return nil
}

func addStateFlag(f *pflag.FlagSet) {
	f.String("state", "", "state store: sqlite:///FILE or postgres://... (default: SQLite in the data folder)")
}
