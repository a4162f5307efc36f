package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"

	"github.com/firstpick/firstpick/runner/agent"
	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/runner/limiter"
)

// A Coordinator sends the attempts of one run and receives the results.
type Coordinator struct {
	db     *DB
	run    journal.Run
	client *river.Client[pgx.Tx]
	stop   context.CancelFunc
	tasks  sync.WaitGroup

	mu      sync.Mutex
	waiting map[string]*waiter // by trial
}

// A waiter waits for the result of an attempt.
type waiter struct {
	wake   chan struct{} // holds one
	signal func(limiter.Signal)
	job    int64 // 0 until it is in the queue
}

// Coordinate registers a run and starts to listen. A worker must have the same
// catalogue and the same agents, by name and program version. Now is the clock for
// leases.
func Coordinate(ctx context.Context, db *DB, run journal.Run, catalog string, agents map[string]agent.Agent, now func() time.Time) (*Coordinator, error) {
	c := &Coordinator{db: db, run: run, waiting: map[string]*waiter{}}
	if err := c.register(ctx, catalog, agents); err != nil {
		return nil, fmt.Errorf("queue: run %s: %w", run.ID, err)
	}
	var err error
	c.client, err = river.NewClient(riverpgxv5.New(db.pool), &river.Config{
		Logger: slog.New(slog.DiscardHandler), FetchCooldown: fetchCooldown, // it announces jobs no more often than that
	})
	if err != nil {
		return nil, fmt.Errorf("queue: %w", err)
	}
	ctx, c.stop = context.WithCancel(context.WithoutCancel(ctx))
	k := &heartbeat{db: db, now: now, lease: lease}
	c.tasks.Go(func() { k.run(ctx) })
	c.tasks.Go(func() { c.listen(ctx) })
	c.tasks.Go(func() { c.poll(ctx) })
	return c, nil
}

func (c *Coordinator) register(ctx context.Context, catalog string, agents map[string]agent.Agent) error {
	ids := map[string]string{}
	for name, a := range agents {
		ids[name] = manifestID(name, a)
	}
	manifests, err := json.Marshal(ids)
	if err != nil {
		return err
	}
	ev, err := json.Marshal(c.run.Eval)
	if err != nil {
		return err
	}
	// Workers may have become able to run an agent.
	if _, err := c.db.pool.Exec(ctx, "delete from queue_unable where run_id = $1", c.run.ID); err != nil {
		return err
	}
	var same bool
	err = c.db.pool.QueryRow(ctx, `
		insert into queued_run (run_id, eval, catalog, manifests) values ($1, $2, $3, $4)
		on conflict (run_id) do update set catalog = excluded.catalog, manifests = excluded.manifests
		returning eval = $2`, c.run.ID, string(ev), catalog, string(manifests)).Scan(&same)
	if err == nil && !same {
		err = errors.New("another run in the queue has this id")
	}
	return err
}

// manifestID is the identity of an agent under its name in the eval.
func manifestID(name string, a agent.Agent) string {
	m := a.Profile().Manifest
	m.Agent = name
	return m.ID()
}

// Close ends the pending attempts. A finished run is deleted from the queue: its
// journal is complete.
func (c *Coordinator) Close(ctx context.Context, done bool) error {
	c.stop()
	c.tasks.Wait()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), queryWait)
	defer cancel()
	err := c.cancelAll(ctx)
	if err == nil && done {
		_, err = c.db.pool.Exec(ctx, "delete from queued_run where run_id = $1", c.run.ID)
	}
	if err != nil {
		return fmt.Errorf("queue: run %s: %w", c.run.ID, err)
	}
	return nil
}

func (c *Coordinator) cancelAll(ctx context.Context) error {
	rows, err := c.db.pool.Query(ctx, `select id from river_job
		where kind = $1 and args @> jsonb_build_object('run', $2::text) and finalized_at is null`, kindTrial, c.run.ID)
	if err != nil {
		return err
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	for _, id := range ids {
		err = errors.Join(err, c.cancel(ctx, id))
	}
	return err
}

func (c *Coordinator) cancel(ctx context.Context, job int64) error {
	_, err := c.client.JobCancel(ctx, job)
	if errors.Is(err, river.ErrNotFound) {
		return nil
	}
	return err
}

// Remote returns an agent whose attempts run on workers. The local agent still supplies
// its profile and costs.
func (c *Coordinator) Remote(spec eval.Agent, a agent.Agent) agent.Agent {
	return &remote{Agent: a, c: c, limit: limit(spec)}
}

func (c *Coordinator) enter(trial string, signal func(limiter.Signal)) *waiter {
	c.mu.Lock()
	defer c.mu.Unlock()
	w := &waiter{wake: make(chan struct{}, 1), signal: signal}
	c.waiting[trial] = w
	return w
}

func (c *Coordinator) leave(trial string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.waiting, trial)
}

func (c *Coordinator) await(w *waiter, job int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	w.job = job
}

// wake wakes the waiter of a trial, or all waiters if trial is empty.
func (c *Coordinator) wake(trial string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if trial != "" {
		if w := c.waiting[trial]; w != nil {
			w.ring()
		}
		return
	}
	for _, w := range c.waiting {
		w.ring()
	}
}

func (w *waiter) ring() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

func (c *Coordinator) handleSignal(trial string, s limiter.Signal) {
	c.mu.Lock()
	w := c.waiting[trial]
	c.mu.Unlock()
	if w != nil {
		w.signal(s)
	}
}
