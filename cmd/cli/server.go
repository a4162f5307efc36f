package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/firstpick/firstpick/server"
	"github.com/firstpick/firstpick/server/site"
)

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
		Short: "Serve the current snapshot: read API, pages, OpenAPI",
		Long: `Serve the current snapshot. A snapshot that is promoted while the server runs is
picked up within a second; one that is damaged is refused and the old one stays.`,
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
	f.Int("limit-public", perMinute, "requests a minute that one address may send to the read API")
	f.Bool("access-log", true, "log a line per request")
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
func serve(ctx context.Context, a *app, ln net.Listener) error {
	root, err := a.snapshotsRoot("")
	if err != nil {
		return err
	}
	base := a.cfg.BaseURL
	if base == "" {
		base = "http://" + ln.Addr().String()
	}
	holder := &site.Holder{}
	w := &watcher{root: root, base: base, holder: holder, log: a.log, sleep: a.env.Sleep}
	w.look()
	if holder.Current() == nil {
		a.log.Warn("no snapshot yet: the API answers 503 until one is published", "snapshots", root)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go w.run(ctx)

	srv, err := server.New(server.Config{
		Source: holder, Log: a.log, Now: a.env.Now, BaseURL: base, IDPrefix: strings.ToLower(a.env.NewID()[:6]),
		LimitPerMinute: a.cfg.LimitPublic, LimitsOff: a.cfg.Limits == "off", AccessLog: a.cfg.AccessLog,
		TrustedProxies: a.cfg.TrustedProxies, LogWriter: a.env.Stderr,
	})
	if err != nil {
		return badInput(err)
	}
	if a.cfg.Limits == "off" {
		a.log.Warn("rate limits are off")
	}
	_, _ = fmt.Fprintf(a.env.Stderr, "serving %s (ctrl-C stops)\n", strings.TrimRight(base, "/")+"/")
	return srv.Serve(ctx, ln)
}
