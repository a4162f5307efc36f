package queue

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"

	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/runner/agent"
	"github.com/firstpick/firstpick/runner/eval"
)

const (
	defaultDrain       = 10 * time.Minute
	defaultConcurrency = 8
	// fetchCooldown is River's pause between two fetches. Its default of 100 ms suits
	// rare jobs of seconds, and would delay agents with immediate answers.
	fetchCooldown = 5 * time.Millisecond
	// fetchPoll covers lost notices and jobs that other workers left. Each worker polls
	// at a random interval up to twice this, so that no worker is always first.
	fetchPoll = 300 * time.Millisecond
	// rescueAfter is when River restarts a job of a dead worker. River decides by age
	// without accounting, so it must come after the lease, which takes seconds and is
	// accounted for: it exceeds any attempt's limit.
	rescueAfter = 25 * time.Hour
	// keepJobs is how long finished jobs stay in the table, for inspection.
	keepJobs = time.Hour
)

// A Worker makes the attempts of any run in a queue.
type Worker struct {
	DB *DB
	// Build makes the agent that an eval describes, with the keys and programs of this
	// machine.
	Build func(eval.Agent) (agent.Agent, error)
	// Catalog must be of the version that a run was made with.
	Catalog *catalog.Catalog
	// Name is unique among all workers ever; at most 100 characters.
	Name string
	// Concurrency is the number of attempts in flight; 0 means 8.
	Concurrency int
	// Drain is how long attempts in flight may take after a stop; 0 means 10 minutes.
	Drain time.Duration
	Now   func() time.Time
	Log   *slog.Logger
	// Lease is for tests; 0 means 15 seconds.
	Lease time.Duration
}

// Run works until ctx ends. Then it takes no jobs, finishes attempts in flight within
// Drain, and gives the rest back.
func (w *Worker) Run(ctx context.Context) error {
	if w.Lease == 0 {
		w.Lease = lease
	}
	if w.Drain == 0 {
		w.Drain = defaultDrain
	}
	if w.Concurrency == 0 {
		w.Concurrency = defaultConcurrency
	}
	attempts := newAttemptWorker(w)
	k := &heartbeat{db: w.DB, now: w.Now, worker: w.Name, lease: w.Lease, held: attempts.held}
	if err := k.beat(ctx); ctx.Err() != nil {
		return nil
	} else if err != nil { // without a heartbeat, the first attempt would be written off
		return fmt.Errorf("queue: %w", err)
	}
	beating, stop := context.WithCancel(context.WithoutCancel(ctx)) // also while it drains
	defer stop()
	var background sync.WaitGroup
	background.Go(func() { k.run(beating) })
	background.Go(func() { attempts.notifySignals(beating) })
	err := w.work(ctx, attempts)
	stop()
	background.Wait()
	return errors.Join(err, w.signOff())
}

func (w *Worker) work(ctx context.Context, attempts *attemptWorker) error {
	workers := river.NewWorkers()
	river.AddWorker(workers, attempts)
	client, err := river.NewClient(riverpgxv5.New(w.DB.pool), &river.Config{
		ID: w.Name, Queues: map[string]river.QueueConfig{queueName: {MaxWorkers: w.Concurrency}}, Workers: workers,
		FetchCooldown: fetchCooldown, FetchPollInterval: pace(w.Name), RescueStuckJobsAfter: rescueAfter,
		JobTimeout:      -1, // each attempt has its own
		SoftStopTimeout: w.Drain, CompletedJobRetentionPeriod: keepJobs, CancelledJobRetentionPeriod: keepJobs, DiscardedJobRetentionPeriod: keepJobs,
		Logger: slog.New(quieter{w.Log.Handler()}),
	})
	if err != nil {
		return fmt.Errorf("queue: %w", err)
	}
	if err := client.Start(ctx); err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return fmt.Errorf("queue: %w", err)
	}
	<-ctx.Done()
	w.Log.Info("queue: stopping; attempts in flight may finish", "within", w.Drain)
	// Without a database the client might wait for ever.
	most := time.NewTimer(w.Drain + storeAtEnd)
	defer most.Stop()
	select {
	case <-client.Stopped():
		return nil
	case <-most.C:
		return errors.New("queue: the worker did not stop cleanly; its attempts will be written off")
	}
}

func pace(name string) time.Duration {
	h := fnv.New32a()
	_, _ = h.Write([]byte(name))
	return fetchPoll + time.Duration(h.Sum32())%fetchPoll
}

// signOff removes the heartbeat, so that other workers notice the stop immediately.
func (w *Worker) signOff() error {
	ctx, cancel := context.WithTimeout(context.Background(), connectWait)
	defer cancel()
	if _, err := w.DB.pool.Exec(ctx, "delete from queue_worker where worker = $1", w.Name); err != nil {
		return fmt.Errorf("queue: %w", err)
	}
	return nil
}

// quieter passes River's warnings on, and its small talk as debugging.
type quieter struct{ slog.Handler }

func (q quieter) Handle(ctx context.Context, r slog.Record) error {
	if r.Level == slog.LevelInfo {
		r.Level = slog.LevelDebug
	}
	if !q.Enabled(ctx, r.Level) {
		return nil
	}
	return q.Handler.Handle(ctx, r)
}

func (q quieter) WithAttrs(attrs []slog.Attr) slog.Handler {
	return quieter{q.Handler.WithAttrs(attrs)}
}

func (q quieter) WithGroup(name string) slog.Handler { return quieter{q.Handler.WithGroup(name)} }

// complete ends a job inside the transaction that writes its answer.
func complete(ctx context.Context, tx pgx.Tx, job *river.Job[attemptJob]) error {
	_, err := river.JobCompleteTx[*riverpgxv5.Driver](ctx, tx, job)
	if errors.Is(err, river.ErrNotFound) {
		return nil // deleted with its run
	}
	return err
}
