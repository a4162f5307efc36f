package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/spf13/pflag"

	"github.com/firstpick/firstpick/cmd/evalwork"
	"github.com/firstpick/firstpick/cmd/metrics"
	"github.com/firstpick/firstpick/server/store/state"
)

// What a connection for metrics may take.
const (
	metricsTimeout = 10 * time.Second
	metricsIdle    = 2 * time.Minute
)

func addMetricsFlag(f *pflag.FlagSet) {
	f.String("metrics", "", "address to serve metrics for Prometheus on, such as 127.0.0.1:9464 (default: none)")
}

// metrics serves figures on a listener of their own, where the configuration names
// one, until the tasks end.
func (a *app) metrics(beside *tasks, s metrics.Sources) error {
	if a.cfg.Metrics == "" {
		return nil
	}
	ln, err := new(net.ListenConfig).Listen(beside.ctx, "tcp", a.cfg.Metrics)
	if err != nil {
		return usageErr("--metrics wants a free ADDRESS:PORT", "metrics: %w", err)
	}
	h, err := metrics.Handler(s, a.log)
	if err != nil {
		return errors.Join(err, ln.Close())
	}
	if at, err := netip.ParseAddrPort(ln.Addr().String()); err != nil || !at.Addr().IsLoopback() {
		a.log.Warn("metrics are open to whoever reaches this address", "metrics", ln.Addr().String())
	}
	srv := &http.Server{Handler: h, ReadTimeout: metricsTimeout, WriteTimeout: metricsTimeout, IdleTimeout: metricsIdle}
	beside.start(func(ctx context.Context) {
		stop := context.AfterFunc(ctx, func() { _ = srv.Close() })
		defer stop()
		if err := srv.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
			a.log.Error("metrics are served no longer", "err", err)
		}
	})
	_, _ = fmt.Fprintf(a.env.Stderr, "metrics at http://%s/metrics\n", ln.Addr())
	return nil
}

// workSource tells what a worker did.
func workSource(w *evalwork.Worker) func() metrics.Worker {
	return func() metrics.Worker { return metrics.Worker(w.Counts.Read()) }
}

// queueSource looks at the queue of runs in a store.
func (a *app) queueSource(db *state.DB) func(context.Context) (state.QueueStats, error) {
	return func(ctx context.Context) (state.QueueStats, error) { return db.Read().QueueStats(ctx, a.env.Now()) }
}
