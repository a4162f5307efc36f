package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/riverqueue/river"

	"github.com/firstpick/firstpick/runner/agent"
	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/limiter"
)

const (
	// leaveFor is how long an attempt that this worker cannot make is left to others.
	// An attempt that no worker can make fails after unableAfter leases: a capable
	// worker may be starting.
	leaveFor    = 500 * time.Millisecond
	unableAfter = 2
	// storeTimeout limits how long an answer is retained while the database does not
	// accept it: longer than the lease after which it is written off.
	storeTimeout = 2 * time.Minute
	storeAtEnd   = 20 * time.Second
	storeRetry   = 500 * time.Millisecond
	maxRuns      = 32 // cached
	// riverWait is longer than River's retries to record the end of a job.
	riverWait = time.Minute
)

// attemptWorker is the River worker of attempts.
type attemptWorker struct {
	river.WorkerDefaults[attemptJob]
	*Worker
	signals chan notice

	mu   sync.Mutex
	runs map[string]*served
	jobs map[int64]time.Time // this worker's jobs; the end times of finished ones
}

// A served run is a run with attempts on this worker.
type served struct {
	agents    map[string]eval.Agent
	catalog   string
	category  string
	manifests map[string]string // changes when a resumed run has other agents
	stamp     string            // changes when a resumed run has other agents

	mu    sync.Mutex
	built map[string]built
}

type built struct {
	agent agent.Agent
	err   error
}

func newAttemptWorker(w *Worker) *attemptWorker {
	return &attemptWorker{Worker: w, signals: make(chan notice, 64), runs: map[string]*served{}, jobs: map[int64]time.Time{}}
}

// Timeout implements river.Worker.
func (a *attemptWorker) Timeout(job *river.Job[attemptJob]) time.Duration {
	return time.Duration(job.Args.LimitS) * time.Second
}

// NextRetry implements river.Worker. Only the database fails here, and it recovers.
func (a *attemptWorker) NextRetry(*river.Job[attemptJob]) time.Time { return a.Now().Add(reconnect) }

// Work implements river.Worker. An error leaves the job for another try; every outcome
// of the agent, a failure too, is a result.
func (a *attemptWorker) Work(ctx context.Context, job *river.Job[attemptJob]) error {
	a.note(job.ID, time.Time{})
	defer func() { a.note(job.ID, a.Now()) }()
	return a.answer(ctx, job)
}

func (a *attemptWorker) note(job int64, ended time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.jobs[job] = ended
}

// held are this worker's jobs. River stops retrying to record the end of a job when the
// database stays away: that job has no worker, and would seem to run forever.
func (a *attemptWorker) held() []int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	ids := make([]int64, 0, len(a.jobs))
	for id, ended := range a.jobs {
		if !ended.IsZero() && a.Now().Sub(ended) > riverWait {
			delete(a.jobs, id)
			continue
		}
		ids = append(ids, id)
	}
	return ids
}

func (a *attemptWorker) answer(ctx context.Context, job *river.Job[attemptJob]) error {
	run, answered, err := a.run(ctx, &job.Args)
	if errors.Is(err, pgx.ErrNoRows) {
		return river.JobCancel(errors.New("the run no longer exists"))
	}
	if err != nil || answered { // the worker before was slow, and not dead
		return err
	}
	who, err := a.agent(run, job.Args.Trial.Agent)
	if err != nil {
		return a.unable(ctx, job, err)
	}
	o := a.ask(ctx, who, run, &job.Args)
	if cause := context.Cause(ctx); o.err != nil && cause != nil && !errors.Is(cause, context.DeadlineExceeded) {
		if errors.Is(cause, river.ErrJobCancelledRemotely) || !who.Profile().Paid {
			return cause // cancelled, or left to another worker
		}
		o.err.Reason, o.err.Retry, o.err.Billed = ReasonLost, true, true
	}
	return a.store(ctx, job, o)
}

// run returns the run of an attempt, and whether the attempt already has its result.
func (a *attemptWorker) run(ctx context.Context, q *attemptJob) (r *served, answered bool, err error) {
	var stamp string
	err = a.DB.pool.QueryRow(ctx, `select catalog || manifests, exists (
			select from trial_answer where run_id = $1 and trial_id = $2 and attempt = $3)
		from queued_run where run_id = $1`, q.Run, q.TrialID, q.Attempt).Scan(&stamp, &answered)
	if err != nil {
		return nil, false, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	// A run that was resumed may have other agents: a program was updated.
	if r = a.runs[q.Run]; r != nil && r.stamp == stamp {
		return r, answered, nil
	}
	if r, err = a.read(ctx, q.Run); err != nil {
		return nil, false, err
	}
	if len(a.runs) >= maxRuns {
		clear(a.runs)
	}
	a.runs[q.Run] = r
	return r, answered, nil
}

func (a *attemptWorker) read(ctx context.Context, id string) (*served, error) {
	var text, manifests string
	r := &served{agents: map[string]eval.Agent{}, built: map[string]built{}}
	err := a.DB.pool.QueryRow(ctx, "select eval, catalog, manifests from queued_run where run_id = $1", id).Scan(&text, &r.catalog, &manifests)
	if err != nil {
		return nil, err
	}
	r.stamp = r.catalog + manifests
	var ev eval.Eval
	if err := errors.Join(json.Unmarshal([]byte(text), &ev), json.Unmarshal([]byte(manifests), &r.manifests)); err != nil {
		return nil, fmt.Errorf("decode run %s in the queue: %w", id, err)
	}
	for _, spec := range ev.Agents {
		r.agents[spec.Name] = spec
	}
	r.category = ev.Category
	return r, nil
}

// agent returns the agent of a run, and an error where this machine cannot be it.
func (a *attemptWorker) agent(r *served, name string) (agent.Agent, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	b, ok := r.built[name]
	if !ok {
		b.agent, b.err = a.build(r, name)
		r.built[name] = b
	}
	return b.agent, b.err
}

func (a *attemptWorker) build(r *served, name string) (agent.Agent, error) {
	if r.catalog != a.Catalog.Version {
		return nil, fmt.Errorf("this worker has catalogue %s, the run needs %s", a.Catalog.Version, r.catalog)
	}
	if _, ok := a.Catalog.Category(r.category); !ok {
		return nil, fmt.Errorf("unknown category %s", r.category)
	}
	spec, ok := r.agents[name]
	if !ok {
		return nil, fmt.Errorf("unknown agent %s in the run", name)
	}
	who, err := a.Build(spec)
	if err == nil && manifestID(name, who) != r.manifests[name] {
		err = fmt.Errorf("agent %s differs from the coordinator's: compare versions and settings", name)
	}
	return who, err
}

// ask makes the attempt, and converts every result to an outcome.
func (a *attemptWorker) ask(ctx context.Context, who agent.Agent, r *served, q *attemptJob) (o outcome) {
	defer func() {
		if v := recover(); v != nil {
			o = outcome{err: &agent.InfraError{Reason: reasonPanic, Err: fmt.Errorf("%v", v)}}
		}
	}()
	category, _ := a.Catalog.Category(r.category)
	began := a.Now()
	reply, err := who.Ask(ctx, agent.Task{
		Trial: q.Trial, Prompt: q.Prompt, Category: category, Attempt: q.Attempt,
		Signal: func(s limiter.Signal) { a.signal(q, s) },
	})
	if err != nil {
		return outcome{err: asInfra(err)}
	}
	if reply.At.IsZero() { // the coordinator's clock would count the way, too
		reply.At = a.Now().UTC()
		reply.WallMS = reply.At.Sub(began).Milliseconds()
	}
	return outcome{reply: reply}
}

// asInfra classifies errors like the runner does.
func asInfra(err error) *agent.InfraError {
	var infra *agent.InfraError
	switch {
	case errors.As(err, &infra):
		own := *infra
		return &own
	case errors.Is(err, context.DeadlineExceeded):
		return &agent.InfraError{Reason: agent.ReasonTimeout, Retry: true, Billed: true, Err: err}
	default:
		return &agent.InfraError{Reason: "agent", Err: err}
	}
}

// unable leaves an attempt to other workers. It fails if no live worker can make it.
func (a *attemptWorker) unable(ctx context.Context, job *river.Job[attemptJob], why error) error {
	q := &job.Args
	inserted, err := a.DB.pool.Exec(ctx, `insert into queue_unable (worker, run_id, agent, reason) values ($1, $2, $3, $4) on conflict do nothing`,
		a.Name, q.Run, q.Trial.Agent, why.Error())
	if err != nil {
		return err
	}
	if inserted.RowsAffected() > 0 {
		a.Log.Warn("queue: this worker cannot run an agent of the run; its attempts are left to other workers", "run", q.Run, "agent", q.Trial.Agent, "err", why)
	}
	var able bool
	err = a.DB.pool.QueryRow(ctx, `select exists (
		select from queue_worker as w
		where w.beat_at > now() - $1::interval
		  and not exists (select from queue_unable as u where u.worker = w.worker and u.run_id = $2 and u.agent = $3))`,
		a.Lease, q.Run, q.Trial.Agent).Scan(&able)
	if err != nil {
		return err
	}
	if able || a.Now().Sub(job.CreatedAt) < unableAfter*a.Lease {
		// The jitter spreads the retries of this worker.
		return river.JobSnooze(leaveFor + time.Duration(a.Now().Nanosecond())%leaveFor)
	}
	return a.store(ctx, job, outcome{err: &agent.InfraError{Reason: ReasonNone, Lane: true, Err: why}})
}

// store writes the result and the end of the job in one transaction, and retries while
// the database is away: the answer may have been paid for.
func (a *attemptWorker) store(ctx context.Context, job *river.Job[attemptJob], o outcome) error {
	payload, raw, err := a.DB.encode(o)
	if err != nil {
		o = outcome{err: &agent.InfraError{Reason: agent.ReasonMalformed, Billed: true, Err: err}}
		if payload, raw, err = a.DB.encode(o); err != nil {
			return err
		}
	}
	wait := storeTimeout
	if ctx.Err() != nil {
		wait = storeAtEnd
	}
	trying, cancel := context.WithTimeout(context.WithoutCancel(ctx), wait)
	defer cancel()
	for {
		err = a.storeOnce(trying, job, o.err == nil, payload, raw)
		if err == nil || !pause(trying, storeRetry) {
			return err
		}
	}
}

func (a *attemptWorker) storeOnce(ctx context.Context, job *river.Job[attemptJob], answered bool, payload, raw []byte) error {
	ctx, cancel := context.WithTimeout(ctx, queryWait)
	defer cancel()
	q := &job.Args
	msg, err := json.Marshal(notice{Run: q.Run, Trial: q.TrialID})
	if err != nil {
		return err
	}
	err = pgx.BeginFunc(ctx, a.DB.pool, func(tx pgx.Tx) error {
		// Lock the job first: writeOff skips locked jobs.
		if err := complete(ctx, tx, job); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `
			with stored as (
				insert into trial_answer (run_id, trial_id, attempt, answered, payload, raw, worker)
				values ($1, $2, $3, $4, $5, $6, $7) on conflict do nothing
				returning 1
			)
			select pg_notify($8, $9) from stored`, q.Run, q.TrialID, q.Attempt, answered, payload, raw, a.Name, channelReply, string(msg))
		return err
	})
	var e *pgconn.PgError
	if errors.As(err, &e) && e.Code == "23503" {
		return nil // the run no longer exists
	}
	return err
}

// signal forwards rate-limit signals during an attempt. It never blocks: excess signals
// are dropped.
func (a *attemptWorker) signal(q *attemptJob, s limiter.Signal) {
	select {
	case a.signals <- notice{Run: q.Run, Trial: q.TrialID, Signal: &s}:
	default:
	}
}

func (a *attemptWorker) notifySignals(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case n := <-a.signals:
			text, err := json.Marshal(n)
			if err != nil {
				continue
			}
			telling, cancel := context.WithTimeout(ctx, noticeWait)
			_, err = a.DB.pool.Exec(telling, "select pg_notify($1, $2)", channelSign, string(text))
			cancel()
			if err != nil && ctx.Err() == nil {
				a.Log.Debug("queue: a sign of a limit was lost", "err", err)
			}
		}
	}
}
