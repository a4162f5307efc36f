package state

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// ErrLeaseLost means that a run is no longer the worker's: its lease ended and
// another worker took it, it ended, or its workspace is erased.
var ErrLeaseLost = errors.New("the run is no longer this worker's")

// A RunLease is a worker's claim on a run. The attempt distinguishes it from that of
// an earlier worker of the same name.
type RunLease struct {
	RunID, Owner string
	Attempt      int
}

// Why a workspace's runs stop, all of them.
const (
	StopPlan  = "plan"  // the plan is no longer paid
	StopOwner = "owner" // the owner's account is disabled
)

// An Order is the reply to a worker that renews its lease.
type Order struct {
	// Cancel means that cancelling the run was requested.
	Cancel bool
	// Stop is the reason to stop all runs of the workspace; empty to continue.
	Stop string
}

// stopOf is Stop of the workspace of a row of eval_run.
const stopOf = `coalesce((select case when exists (select 1 from account a where a.id = w.owner_id and a.disabled_at > 0) then 'owner'
	when w.plan <> 'paid' then 'plan' else '' end from workspace w where w.id = eval_run.workspace_id), '')`

// Lease returns the lease of the run's last worker.
func (r *EvalRun) Lease() RunLease { return RunLease{r.ID, r.LeaseOwner, r.Attempt} }

// claimable selects runs without a worker: queued ones, whose lease is 0, and those
// whose lease expired.
const claimable = "ended_at = 0 and lease_until <= $1"

// nextRun chooses fairly: of the workspaces with claimable runs the one that has
// the fewest running, then the one whose last turn is longest ago, then the one
// with the oldest; and of its runs the oldest.
const nextRun = "select id from eval_run where " + claimable + ` and workspace_id = (
		select r.workspace_id from eval_run r where r.ended_at = 0 group by r.workspace_id having min(r.lease_until) <= $1
		order by count(case when r.lease_until > $1 then 1 end), coalesce((select max(t.turn) from eval_run t where t.workspace_id = r.workspace_id), 0),
			min(case when r.lease_until <= $1 then r.created_at end), r.workspace_id limit 1)
	order by created_at, id limit 1`

// ClaimRun leases the next run to a worker; nil without one. A run whose lease
// expired is claimed again, as a new attempt. So is one that was cancelled or whose
// workspace's runs stop: its worker must settle the costs, and RenewLease reports the
// order. Claims are serialized until commit, so keep the transaction short. Workers'
// clocks must agree within a small part of the lease.
func (tx *Tx) ClaimRun(ctx context.Context, owner string, now time.Time, lease time.Duration) (*EvalRun, error) {
	var id string
	// Most looks find nothing; they take no turn, and so write nothing.
	if err := tx.one(ctx, []any{&id}, "select id from eval_run where "+claimable+" limit 1", us(now)); err != nil {
		return nil, ignoreNotFound(err)
	}
	var turn int64
	if err := tx.one(ctx, []any{&turn}, "update eval_turn set n = n + 1 where id = 1 returning n"); err != nil {
		return nil, err
	}
	for {
		if err := tx.one(ctx, []any{&id}, nextRun, us(now)); err != nil {
			return nil, ignoreNotFound(err)
		}
		r, err := tx.oneRun(ctx, `update eval_run set status = 'running', lease_owner = $3, lease_until = $4, attempt = attempt + 1, turn = $5, failure = '',
			started_at = case when started_at = 0 then $1 else started_at end where id = $2 and `+claimable+` returning `+runColumns,
			us(now), id, owner, us(now.Add(lease)), turn)
		if !errors.Is(err, ErrNotFound) {
			return r, err
		}
		// It was cancelled since, or its worker renewed the lease.
	}
}

// RunsStarve reports whether a run of another workspace has waited for so long which has
// at least two fewer under way than this one: it would be served more fairly by a slot of
// this one's. Within that time an idle worker takes it.
func (tx *Tx) RunsStarve(ctx context.Context, workspace string, now time.Time, waited time.Duration) (bool, error) {
	var n int
	err := tx.one(ctx, []any{&n}, `select count(*) from (select r.workspace_id from eval_run r where r.ended_at = 0 and r.workspace_id <> $2
		group by r.workspace_id having min(case when r.lease_until <= $1 then case when r.status = 'queued' then r.created_at else r.lease_until end end) <= $3
			and count(case when r.lease_until > $1 then 1 end) + 1 <
			(select count(*) from eval_run mine where mine.workspace_id = $2 and mine.ended_at = 0 and mine.lease_until > $1)) waiting`, us(now), workspace, us(now.Add(-waited)))
	return n > 0, err
}

// TurnIsOver reports whether the queue would serve a run of another workspace if this one
// gave a running run back, and whether that run has waited for so long. Within that time an
// idle worker takes it.
func (tx *Tx) TurnIsOver(ctx context.Context, workspace string, now time.Time, waited time.Duration) (bool, error) {
	const running = "count(case when r.lease_until > $1 then 1 end)"
	const left = "(select count(*) - 1 from eval_run mine where mine.workspace_id = $2 and mine.ended_at = 0 and mine.lease_until > $1)"
	const turn = "coalesce((select max(t.turn) from eval_run t where t.workspace_id = %s), 0)"
	var n int
	err := tx.one(ctx, []any{&n}, `select count(*) from (select r.workspace_id from eval_run r where r.ended_at = 0 and r.workspace_id <> $2
		group by r.workspace_id having min(case when r.lease_until <= $1 then case when r.status = 'queued' then r.created_at else r.lease_until end end) <= $3
			and (`+running+" < "+left+" or "+running+" = "+left+" and "+fmt.Sprintf(turn, "r.workspace_id")+" < "+fmt.Sprintf(turn, "$2")+`)) waiting`,
		us(now), workspace, us(now.Add(-waited)))
	return n > 0, err
}

// RenewLease renews a worker's lease, stores the run's progress, and returns whether
// to continue. A lease of zero releases the run. An expired lease is renewed unless
// another worker claimed the run; then it fails with ErrLeaseLost.
func (tx *Tx) RenewLease(ctx context.Context, l RunLease, now time.Time, lease time.Duration, p RunProgress) (o Order, err error) {
	var asked int64
	err = tx.one(ctx, []any{&asked, &o.Stop}, `update eval_run set lease_until = $4, planned = $5, valid = $6, excluded = $7, spent_micros = $8, at_most_micros = $9, worked = $10
		where id = $1 and lease_owner = $2 and attempt = $3 and ended_at = 0 returning cancel_asked, `+stopOf,
		l.RunID, l.Owner, l.Attempt, us(now.Add(lease)), p.Planned, p.Valid, p.Excluded, p.SpentMicros, p.AtMostMicros, p.Worked.Microseconds())
	if errors.Is(err, ErrNotFound) {
		return Order{}, ErrLeaseLost
	}
	o.Cancel = asked != 0
	return o, err
}

// ReleaseRun returns a healthy run to the queue, with a note on why it waits; it does not
// count as a failed try (see Tries). It fails with ErrLeaseLost.
func (tx *Tx) ReleaseRun(ctx context.Context, l RunLease, now time.Time, p RunProgress, note string) error {
	if _, err := tx.RenewLease(ctx, l, now, 0, p); err != nil {
		return err
	}
	_, err := tx.exec(ctx, "update eval_run set given_back = given_back + 1, failure = $2 where id = $1", l.RunID, note)
	return err
}

// A RunOutcome is how a run ended.
type RunOutcome struct {
	Status string // RunDone, RunFailed, or RunCancelled
	RunProgress
	Bundle  string // id of its results; empty without results
	Failure string // why it failed
}

// FinishRun ends a run. It fails with ErrLeaseLost.
func (tx *Tx) FinishRun(ctx context.Context, l RunLease, now time.Time, o RunOutcome) error {
	switch o.Status {
	case RunDone, RunFailed, RunCancelled:
	default:
		return fmt.Errorf("run %s: %q is not a final status", l.RunID, o.Status)
	}
	n, err := tx.exec(ctx, `update eval_run set status = $4, ended_at = $5, lease_until = 0, planned = $6, valid = $7, excluded = $8, spent_micros = $9,
		at_most_micros = $10, bundle = $11, failure = $12, worked = $13 where id = $1 and lease_owner = $2 and attempt = $3 and ended_at = 0`,
		l.RunID, l.Owner, l.Attempt, o.Status, us(now), o.Planned, o.Valid, o.Excluded, o.SpentMicros, o.AtMostMicros, o.Bundle, o.Failure, o.Worked.Microseconds())
	if err == nil && n == 0 {
		return ErrLeaseLost
	}
	return err
}

// QueueStats are the runs that have not ended.
type QueueStats struct {
	Queued     int
	Running    int           // with a worker
	Abandoned  int           // their lease expired, and no worker has claimed them
	OldestWait time.Duration // of the run that waits longest for a worker, since it was added or abandoned
}

// QueueStats counts the runs of all workspaces that have not ended.
func (tx *Tx) QueueStats(ctx context.Context, now time.Time) (QueueStats, error) {
	var s QueueStats
	var oldest int64
	err := tx.one(ctx, []any{&s.Queued, &s.Running, &s.Abandoned, &oldest}, `select count(case when status = 'queued' then 1 end),
		count(case when lease_until > $1 then 1 end), count(case when status = 'running' and lease_until <= $1 then 1 end),
		coalesce(min(case when status = 'queued' then created_at when lease_until <= $1 then lease_until end), 0)
		from eval_run where ended_at = 0`, us(now))
	if oldest != 0 {
		s.OldestWait = max(0, now.Sub(fromUS(oldest)))
	}
	return s, err
}
