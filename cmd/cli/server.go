package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/firstpick/firstpick/cmd/evalwork"
	"github.com/firstpick/firstpick/cmd/metrics"
	"github.com/firstpick/firstpick/server"
	assembly "github.com/firstpick/firstpick/server/app"
	"github.com/firstpick/firstpick/server/auth/registrations"
	"github.com/firstpick/firstpick/server/evals/evals"
	"github.com/firstpick/firstpick/server/store/identity"
	"github.com/firstpick/firstpick/server/store/state"
)

// newServerCmd builds `firstpick server`. A test passes runF to see the
// configuration.
func newServerCmd(env *Env, runF func(context.Context, *app) error) *cobra.Command {
	if runF == nil {
		runF = func(ctx context.Context, a *app) error {
			if err := a.checkServer(); err != nil { // before the port: its owner may be another server
				return err
			}
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
while the server runs is picked up within a second; a damaged snapshot, or with
--trust one without a signature of that key, is refused and the previous one stays.
Accounts, registrations and tokens are in the state store: SQLite in the data folder,
or PostgreSQL with --state.`,
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
	f.String("snapshots", "", "place of the snapshots: file:///DIR or s3://BUCKET/PREFIX (default: the data folder)")
	f.String("trust", "", "serve signed snapshots only: file of the public key (PEM) of their signature, or several, separated by commas")
	f.Int("limit-public", perMinute, "requests a minute that one address may send to the read API")
	f.Bool("access-log", true, "log a line per request")
	addMetricsFlag(f)
	addStateFlag(f)
	f.Bool("with-worker", false, "run the evals of workspaces in this process, without firstpick worker")
	f.Int("worker-runs", 2, "concurrent runs of workspaces")
	f.String("mail", "log:", "how mail is sent: log:, file:///DIR, smtp://USER:PASSWORD@HOST:PORT")
	f.String("mail-from", "", "sender address of mail")
	return cmd
}

// checkServer validates the settings of a server.
func (a *app) checkServer() error {
	_, mailErr := a.registrations("http://" + a.cfg.Listen)
	_, snapshotsErr := a.publishedSnapshots()
	_, oidcErr := a.providers()
	return errors.Join(mailErr, snapshotsErr, oidcErr)
}

func listen(ctx context.Context, addr string) (net.Listener, error) {
	_, port, err := net.SplitHostPort(addr)
	if _, bad := net.DefaultResolver.LookupPort(ctx, "tcp", port); err != nil || bad != nil {
		return nil, usageErr("such as --listen 127.0.0.1:8080; port 0 takes a free one", "listen must be HOST:PORT with a port up to 65535 (got %q)", addr)
	}
	ln, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, usageErr("choose another with --listen 127.0.0.1:PORT", "%s is in use by another program", addr)
	}
	if err != nil {
		return nil, badInput(err)
	}
	return ln, nil
}

// serve prepares a server and answers on ln until ctx ends.
func serve(ctx context.Context, a *app, ln net.Listener, prepare ...func(context.Context, *assembly.App) error) (err error) {
	keepPrivate() // the stores hold visits and customers
	cfg, err := a.serverConfig(ln)
	if err != nil {
		return err
	}
	db, vault, err := a.openState(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	cfg.Registrations.DB, cfg.Registrations.Vault = db, vault
	operator, err := a.firstOperator(ctx, db)
	if err != nil {
		return err
	}
	sources, prepared := metrics.Sources{Queue: a.queueSource(db)}, make(chan struct{})
	if a.cfg.WithWorker {
		w, err := a.workerInServer(db)
		if err != nil {
			return err
		}
		cfg.Worker, sources.Worker = workAfter(prepared, w), workSource(w)
	}
	if a.cfg.Metrics != "" {
		sources.Requests = metrics.NewRequests()
		cfg.Count = sources.Requests.Counter
	}
	srv, err := assembly.Build(ctx, cfg)
	var wrong *assembly.ConfigError
	if errors.As(err, &wrong) {
		return badInput(err)
	}
	if err != nil {
		return err
	}
	defer srv.Close()
	if operator != "" {
		if err := a.welcome(ctx, srv.Agents, operator); err != nil {
			return err
		}
	}
	for _, do := range prepare {
		if err := do(ctx, srv); err != nil {
			return err
		}
	}
	close(prepared)
	sources.Events, sources.Lists = srv.Collect.Waiting, srv.Lists.AsOf
	stop, err := a.metrics(ctx, sources)
	if err != nil {
		return err
	}
	defer stop()
	a.warn(cfg.BaseURL, srv.Source)
	_, _ = fmt.Fprintf(a.env.Stderr, "serving %s (ctrl-C stops)\n", strings.TrimRight(cfg.BaseURL, "/")+"/")
	a.offerBrowser(ctx, strings.TrimRight(cfg.BaseURL, "/")+"/")
	return srv.Serve(ctx, ln)
}

// workAfter runs a worker once the server is prepared: runs of a sample are of weeks ago, and
// the worker of a server would end them now.
func workAfter(prepared <-chan struct{}, w *evalwork.Worker) func(context.Context) error {
	return func(ctx context.Context) error {
		select {
		case <-prepared:
			return w.Run(ctx)
		case <-ctx.Done():
			return nil
		}
	}
}

// serverConfig is the configuration of a server on ln, without its store.
func (a *app) serverConfig(ln net.Listener) (cfg assembly.Config, err error) {
	base := cmp.Or(a.cfg.BaseURL, "http://"+ln.Addr().String())
	published, err := a.publishedSnapshots()
	if err != nil {
		return cfg, err
	}
	agents, err := a.registrations(base)
	if err != nil {
		return cfg, err
	}
	providers, err := a.providers()
	if err != nil {
		return cfg, err
	}
	checker, err := a.evalChecker()
	if err != nil {
		return cfg, err
	}
	bundles, bucket, err := a.bundles()
	if err != nil {
		return cfg, err
	}
	erased, err := a.eraseFolders()
	if err != nil {
		return cfg, err
	}
	return assembly.Config{
		Erase: erased,
		Settings: server.Settings{
			Log: a.log, Now: a.env.Now, Sleep: a.env.Sleep, BaseURL: base, IDPrefix: strings.ToLower(a.env.NewID()[:6]),
			LimitPerMinute: a.cfg.LimitPublic, LimitsOff: a.cfg.Limits == "off", AccessLog: a.cfg.AccessLog, AccessText: a.env.StderrIsTTY && a.cfg.LogFormat == "text", LogWriter: a.env.Stderr,
			TrustedProxies: a.cfg.TrustedProxies, Providers: providers, Categories: checker.Catalog.Categories,
			BillingKeys: a.billingKeys(), CLI: Reference(a.env), Name: a.cfg.RegistryName, Version: a.env.Build.Served(), Contact: a.cfg.SecurityContact,
			FreeDisk: a.freeDisk,
		},
		Registrations: agents, Data: a.cfg.Data, Snapshots: published, Archive: archived{published.place}, Published: promoter{published.place, published.trusted},
		CallPrivate: a.cfg.CallPrivate, CallPorts: a.cfg.CallPorts,
		EvalChecker: checker, Plans: a.plans(), EvalCaps: evals.Caps{BudgetUSD: a.cfg.EvalMaxBudget, Queued: a.cfg.EvalMaxQueued}, Bundles: bundles, FetchBundle: fetchBundle(bundles, bucket),
	}, nil
}

// freeDisk returns the free space of the data folder in bytes.
func (a *app) freeDisk() (int64, error) {
	mb, err := freeMB(a.cfg.Data)
	return int64(mb) << 20, err
}

// warn logs settings that suit a try and not a public server.
func (a *app) warn(base string, source server.Source) {
	if source.Current() == nil {
		from, _ := a.snapshots("") // it was valid before
		a.log.Warn("no snapshot yet: the API answers 503 until one is published", "snapshots", from.Store.String())
	}
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
		a.log.Warn("sign-in over http without TLS: put a TLS proxy in front and set base-url to the https address", "base-url", base)
	}
	if a.cfg.Mail == "log:" {
		a.log.Warn("mail, including sign-in links, is written to this log: set mail to smtp://...", "mail", a.cfg.Mail)
	}
}

// firstOperator is the address to sign in as operator with; empty when there is an operator.
func (a *app) firstOperator(ctx context.Context, db *state.DB) (string, error) {
	known, err := db.Read().AnyAdmin(ctx)
	if err != nil || known {
		return "", err
	}
	email, ok := identity.ParseEmail(a.cfg.AdminEmail)
	if !ok {
		return "", usageErr("", "admin-email: %q is not an e-mail address", a.cfg.AdminEmail)
	}
	return email, nil
}

// welcome prints a link that signs an operator in.
func (a *app) welcome(ctx context.Context, svc *registrations.Service, email string) error {
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
