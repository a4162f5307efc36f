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

// Timeouts of connections for metrics.
const (
	metricsTimeout = 10 * time.Second
	metricsIdle    = 2 * time.Minute
)

func addMetricsFlag(f *pflag.FlagSet) {
	f.String("metrics", "", "address to serve metrics for Prometheus on, such as 127.0.0.1:9464 (default: none)")
}

// metrics serves metrics on a separate listener, if configured, until stop is called.
func (a *app) metrics(ctx context.Context, s metrics.Sources) (stop func(), err error) {
	if a.cfg.Metrics == "" {
		return func() {}, nil
	}
	ln, err := new(net.ListenConfig).Listen(ctx, "tcp", a.cfg.Metrics)
	if err != nil {
		return nil, usageErr("--metrics wants a free ADDRESS:PORT", "metrics: %w", err)
	}
	if at, err := netip.ParseAddrPort(ln.Addr().String()); err != nil || !at.Addr().IsLoopback() {
		a.log.Warn("the metrics address is not a loopback address: other machines can read metrics", "metrics", ln.Addr().String())
	}
	srv := &http.Server{Handler: metrics.Handler(s, a.log), ReadTimeout: metricsTimeout, WriteTimeout: metricsTimeout, IdleTimeout: metricsIdle}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := srv.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
			a.log.Error("serving metrics failed", "err", err)
		}
	}()
	_, _ = fmt.Fprintf(a.env.Stderr, "metrics at http://%s/metrics\n", ln.Addr())
	return func() { _ = srv.Close(); <-done }, nil
}

// workSource returns the counts of a worker.
func workSource(w *evalwork.Worker) func() metrics.Worker {
	return func() metrics.Worker { return metrics.Worker(w.Counts.Read()) }
}

// queueSource reads the queue of runs in a store.
func (a *app) queueSource(db *state.DB) func(context.Context) (state.QueueStats, error) {
	return func(ctx context.Context) (state.QueueStats, error) { return db.Read().QueueStats(ctx, a.env.Now()) }
}
