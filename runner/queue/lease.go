package queue

import (
	"context"
	"errors"
	"time"

	"github.com/firstpick/firstpick/runner/agent"
)

const (
	// lease is how long a worker counts as alive after its last beat. It is short
	// against an agent's minutes, and long against a database that restarts.
	lease     = 15 * time.Second
	beatEvery = 3 * time.Second
	forgetOld = "1 hour" // rows of workers without a heartbeat since
)

// A heartbeat sends a worker's heartbeats, and writes off the attempts of dead workers.
// The coordinator has one without heartbeats.
type heartbeat struct {
	db     *DB
	now    func() time.Time
	worker string // empty for the coordinator, which logs if no worker is alive
	lease  time.Duration
	held   func() []int64 // ids of the worker's jobs

	// since is when the database became reachable. After an outage, other workers get a
	// whole lease to send heartbeats before any is considered dead.
	since      time.Time
	idleLogged bool
}

// run beats until ctx ends.
func (k *heartbeat) run(ctx context.Context) {
	for {
		k.turn(ctx)
		if !pause(ctx, min(beatEvery, k.lease/4)) {
			return
		}
	}
}

func (k *heartbeat) turn(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, min(connectWait, k.lease/2))
	defer cancel()
	if err := k.beat(ctx); err != nil {
		if !errors.Is(err, context.Canceled) && !k.since.IsZero() {
			k.db.log.Warn("queue: the database does not respond", "err", err)
		}
		k.since = time.Time{}
		return
	}
	now := k.now()
	if k.since.IsZero() {
		k.since = now
	}
	if now.Sub(k.since) < k.lease {
		return
	}
	lost, err := k.writeOff(ctx)
	if err != nil {
		k.since = time.Time{}
	}
	if lost > 0 {
		k.db.log.Warn("queue: attempts of dead workers written off", "attempts", lost)
	}
}

func (k *heartbeat) beat(ctx context.Context) error {
	if k.worker != "" {
		_, err := k.db.pool.Exec(ctx, `insert into queue_worker (worker) values ($1)
			on conflict (worker) do update set beat_at = now()`, k.worker)
		return err
	}
	var alive int
	err := k.db.pool.QueryRow(ctx, "select count(*) from queue_worker where beat_at > now() - $1::interval", k.lease).Scan(&alive)
	if err == nil && alive == 0 != k.idleLogged {
		if k.idleLogged = alive == 0; k.idleLogged {
			k.db.log.Warn("queue: no worker is connected; start one with firstpick worker --state postgres://...")
		}
	}
	return err
}

// writeOff fails the attempts of dead workers, and those that its own worker no longer
// has. An attempt whose result is being stored is locked, and skipped.
func (k *heartbeat) writeOff(ctx context.Context) (int, error) {
	payload, _, err := k.db.encode(outcome{err: &agent.InfraError{
		Reason: ReasonLost, Retry: true, Billed: true, Err: errors.New("the worker died or lost the database"),
	}})
	if err != nil {
		return 0, err
	}
	if _, err := k.db.pool.Exec(ctx, "delete from queue_worker where beat_at < now() - $1::interval", forgetOld); err != nil {
		return 0, err
	}
	held := []int64{}
	if k.held != nil {
		held = k.held()
	}
	var lost int
	err = k.db.pool.QueryRow(ctx, `
		with dead as (
			select id, args ->> 'run' as run_id, args ->> 'trial_id' as trial_id, (args ->> 'attempt')::integer as attempt,
			       attempted_by[array_upper(attempted_by, 1)] as worker
			from river_job
			where state = 'running' and kind = $1
			  and (not exists (
				select from queue_worker as w
				where w.worker = river_job.attempted_by[array_upper(river_job.attempted_by, 1)] and w.beat_at > now() - $2::interval)
			    or attempted_by[array_upper(attempted_by, 1)] = $5 and attempted_at < now() - $2::interval and id <> all($6::bigint[]))
			for update skip locked
		), ended as (
			update river_job set state = 'discarded', finalized_at = now() from dead where river_job.id = dead.id
		), failed as (
			insert into trial_answer (run_id, trial_id, attempt, answered, payload, worker)
			select run_id, trial_id, attempt, false, $3, worker from dead
			where run_id in (select run_id from queued_run)
			on conflict do nothing
		), notified as (
			select pg_notify($4, json_build_object('run', run_id, 'trial', trial_id)::text) from dead
		)
		select count(*) from notified`, kindTrial, k.lease, payload, channelReply, k.worker, held).Scan(&lost)
	return lost, err
}
