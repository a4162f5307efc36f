package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/firstpick/firstpick/cmd/metrics"
	"github.com/firstpick/firstpick/runner/agent"
	"github.com/firstpick/firstpick/runner/agents"
	"github.com/firstpick/firstpick/runner/cliagent"
	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/queue"
	"github.com/firstpick/firstpick/server/store/state"
)

const workerConcurrency = 8

type workerOptions struct {
	*app
	runs        int
	concurrency int
	chosen      bool // the concurrency
	drain       time.Duration
}

func newWorkerCmd(env *Env) *cobra.Command {
	o := &workerOptions{}
	cmd := &cobra.Command{
		Use:   "worker",
		Short: "Run queued evals of workspaces, and trials of runs on other machines",
		Long: `Run the evals that workspaces queue with a server on the same --state, with their own
provider keys and budgets. Journals are written to the data folder and results to
"bundles", a folder or a bucket; workers and servers on several machines share both. A
worker needs the master key of the store: FIRSTPICK_STATE_KEY, or state.key next to the
SQLite file or in the data folder.

On PostgreSQL it also serves "firstpick run --queue postgres://..." processes. For that it
needs the keys and CLIs of the agents; jobs it cannot serve stay queued for other workers.
The run keeps limits, budgets and attempts. Without the master key it serves such runs
only. Write access to the database controls which programs a worker runs: use a database
that only you can write to.

After SIGTERM, requests in flight may finish within --drain. Runs of workspaces return to
the queue. A killed worker loses its requests in flight; runs retry them after half a
minute.`,
		Args: usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if o.app, err = newApp(env, cmd); err != nil {
				return err
			}
			o.chosen = cmd.Flags().Changed("concurrency")
			return o.run(cmd.Context())
		},
	}
	f := cmd.Flags()
	addStateFlag(f)
	f.IntVar(&o.runs, "runs", 2, "parallel runs of workspaces; 0 takes none")
	f.IntVar(&o.concurrency, "concurrency", workerConcurrency, "parallel requests of --queue runs; if set, also the maximum of each workspace's run")
	f.DurationVar(&o.drain, "drain", 10*time.Minute, "time limit for requests in flight after SIGTERM")
	addAgentFlags(f)
	addMetricsFlag(f)
	return cmd
}

func (o *workerOptions) run(ctx context.Context) error {
	if o.concurrency < 1 || o.drain <= 0 || o.runs < 0 {
		return usageErr("", "--concurrency and --drain must be positive, --runs not negative")
	}
	keepPrivate() // journals hold what customers asked
	name := o.workerName()
	onPostgres := isPostgres(o.cfg.State)
	evals := o.runs > 0
	access, err := o.stateAccess()
	if err != nil {
		return err
	}
	if evals && onPostgres && !access.HasKey() {
		o.log.Info("no master key: this worker cannot run the evals of workspaces", "file", filepath.Join(o.cfg.Data, state.MasterFile))
		evals = false
	}
	if !evals && !onPostgres {
		return usageErr("give --state postgres://..., or --runs", "this worker has nothing to serve")
	}
	if !evals {
		stop, err := o.metrics(ctx, metrics.Sources{}) // of the process alone
		if err != nil {
			return err
		}
		defer stop()
	}
	group, ctx := errgroup.WithContext(ctx)
	if evals {
		group.Go(func() error { return o.runEvals(ctx, name) })
	}
	if onPostgres {
		group.Go(func() error { return o.askQueue(ctx, name) })
	}
	return group.Wait()
}

// runEvals runs the queued evals of workspaces, until ctx ends.
func (o *workerOptions) runEvals(ctx context.Context, name string) (err error) {
	db, _, err := o.openState(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	w, err := o.evalWorker(db, name)
	if err != nil {
		return err
	}
	w.Runs, w.Drain = o.runs, o.drain
	if o.chosen {
		w.Concurrency = o.concurrency
	}
	stop, err := o.metrics(ctx, metrics.Sources{Queue: o.queueSource(db), Worker: workSource(w)})
	if err != nil {
		return err
	}
	defer stop()
	_, _ = fmt.Fprintf(o.env.Stderr, "worker %s: %d parallel runs of workspaces (ctrl-C stops)\n", name, o.runs)
	return w.Run(ctx)
}

// askQueue asks the questions of runs elsewhere, until ctx ends.
func (o *workerOptions) askQueue(ctx context.Context, name string) error {
	cat, err := o.catalog()
	if err != nil {
		return err
	}
	db, err := o.openQueue(ctx, "--state", o.cfg.State)
	if err != nil {
		return err
	}
	defer db.Close()
	table, err := o.loadPrices()
	if err != nil {
		return err
	}
	deps := o.agentDeps(ctx, table, name, nil)
	if !o.cfg.KeepWork {
		defer func() { _ = cliagent.RemoveAll(filepath.Join(o.cfg.Data, "work", name)) }()
	}
	w := &queue.Worker{
		DB: db, Build: func(spec eval.Agent) (agent.Agent, error) { return agents.Build(spec, deps) },
		Catalog: cat, Name: name, Concurrency: o.concurrency, Drain: o.drain, Now: o.env.Now, Log: o.log,
	}
	_, _ = fmt.Fprintf(o.env.Stderr, "worker %s: %d parallel requests (ctrl-C stops)\n", name, o.concurrency)
	return w.Run(ctx)
}

func isPostgres(address string) bool {
	return strings.HasPrefix(address, "postgres://") || strings.HasPrefix(address, "postgresql://")
}

func (a *app) openQueue(ctx context.Context, flag, address string) (*queue.DB, error) {
	if !isPostgres(address) {
		return nil, usageErr("the run and its workers share one PostgreSQL", "%s must be postgres://USER:PASSWORD@HOST/DATABASE", flag)
	}
	db, err := queue.Open(ctx, address, a.log)
	return db, databaseErr(err)
}

// spread lets workers be the agents of a run, where there is a queue. The returned
// function is to be called with whether nothing is left to ask.
func (a *app) spread(ctx context.Context, x execution, asked map[string]agent.Agent) (map[string]agent.Agent, func(done bool), error) {
	if x.queue == "" {
		return asked, func(bool) {}, nil
	}
	db, err := a.openQueue(ctx, "--queue", x.queue)
	if err != nil {
		return nil, nil, err
	}
	run := x.journal.Run()
	c, err := queue.Coordinate(ctx, db, run, x.catalog.Version, asked, a.env.Now)
	if err != nil {
		db.Close()
		return nil, nil, err
	}
	remote := map[string]agent.Agent{}
	for _, spec := range run.Eval.Agents {
		remote[spec.Name] = c.Remote(spec, asked[spec.Name])
	}
	return remote, func(done bool) {
		if err := c.Close(ctx, done); err != nil { // the journal has all results
			a.log.Warn("the queue could not be cleaned up", "err", err)
		}
		db.Close()
	}, nil
}
