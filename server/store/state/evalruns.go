package state

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"
)

// The states of an eval run. A run that ended changes no more.
const (
	RunQueued    = "queued"
	RunRunning   = "running" // or given up by a worker that died, until another takes it
	RunDone      = "done"
	RunFailed    = "failed"
	RunCancelled = "cancelled"
)

// An EvalRun is a run of a workspace's eval. Its row is also the job: adding it
// queues it.
type EvalRun struct {
	ID, WorkspaceID string
	EvalID          string
	Version         int    // of the eval
	EvalName        string // its name
	Category        string // that the version measures
	Catalog         int    // version of the workspace's own catalogue when it was started; 0 without one
	Status          string
	BudgetMicros    int64  // maximum cost, in millionths of a US dollar
	IdempotencyKey  string // unique in the workspace, for ever; optional
	RequestHash     []byte // of the request with the key
	CreatedAt       time.Time
	CreatedBy       string    // account or key
	StartedAt       time.Time // by its first worker
	EndedAt         time.Time
	LeaseOwner      string // the worker that took it last
	LeaseUntil      time.Time
	Attempt         int       // how often a worker took it
	GivenBack       int       // how often a worker gave it back in order
	CancelAsked     time.Time // zero for not
	RunProgress
	LastEvent int64 // the number of its last event; 0 without events
	Bundle    string
	Failure   string // why it failed, ended early, or waits after a turn
	Origin    string // OriginPushed, or empty for a run of the server
}

// RunProgress is how far a run is.
type RunProgress struct {
	Planned, Valid, Excluded int // trials
	SpentMicros              int64
	AtMostMicros             int64         // spent, plus the possible cost of trials in flight
	Worked                   time.Duration // by all its workers
}

// Tries is how often a worker took the run and did not give it back in order.
func (r *EvalRun) Tries() int { return r.Attempt - r.GivenBack }

const runColumns = `id, workspace_id, eval_id, version, eval_name, category, status, budget_micros, idempotency_key, request_hash, created_at, created_by,
	started_at, ended_at, lease_owner, lease_until, attempt, cancel_asked, planned, valid, excluded, spent_micros, at_most_micros, last_event, bundle, failure, given_back, worked, catalog, origin`

var (
	// ErrOtherRequest means that an idempotency key was used with another request.
	ErrOtherRequest = errors.New("the idempotency key was used with another request")
	// ErrQueueFull means that a workspace has as many runs in the queue as it may.
	ErrQueueFull = errors.New("the workspace has as many queued runs as it may")
)

// AddRun queues a run, unless its workspace has maxQueued queued runs. It reads the
// fields of r that are known before a run: ids, version, name, category, budget, key,
// author, time, planned trials and origin. The run keeps the current version of the
// workspace's own catalogue. It returns the stored run and whether it is new: a
// repeated idempotency key returns the first run. It fails with ErrOtherRequest,
// ErrQueueFull, or ErrNotFound when the workspace has no such version of the eval.
func (tx *Tx) AddRun(ctx context.Context, r *EvalRun, maxQueued int) (*EvalRun, bool, error) {
	if err := tx.LockWorkspace(ctx, r.WorkspaceID); err != nil {
		return nil, false, err
	}
	if r.IdempotencyKey != "" {
		first, err := tx.oneRun(ctx, "select "+runColumns+" from eval_run where workspace_id = $1 and idempotency_key = $2 and idempotency_key <> ''", r.WorkspaceID, r.IdempotencyKey)
		switch {
		case err == nil && !slices.Equal(first.RequestHash, r.RequestHash):
			return nil, false, ErrOtherRequest
		case !errors.Is(err, ErrNotFound):
			return first, false, err
		}
	}
	var n int
	if err := tx.one(ctx, []any{&n}, "select count(*) from eval e join eval_version v on v.eval_id = e.id where e.workspace_id = $1 and e.id = $2 and v.version = $3",
		r.WorkspaceID, r.EvalID, r.Version); err != nil || n == 0 {
		return nil, false, errors.Join(err, ErrNotFound)
	}
	if err := tx.one(ctx, []any{&n}, "select count(*) from eval_run where workspace_id = $1 and ended_at = 0 and status = 'queued'", r.WorkspaceID); err != nil {
		return nil, false, err
	}
	if n >= maxQueued {
		return nil, false, ErrQueueFull
	}
	added, err := tx.oneRun(ctx, `insert into eval_run (`+runColumns+`, turn) values
		($1, $2, $3, $4, $11, $12, 'queued', $5, $6, $7, $8, $9, 0, 0, '', 0, 0, 0, $10, 0, 0, 0, 0, 0, '', '', 0, 0,
		coalesce((select max(version) from workspace_catalog where workspace_id = $2), 0), $13, 0) returning `+runColumns,
		r.ID, r.WorkspaceID, r.EvalID, r.Version, r.BudgetMicros, r.IdempotencyKey, bytes(r.RequestHash), us(r.CreatedAt), r.CreatedBy, r.Planned, r.EvalName, r.Category, r.Origin)
	return added, err == nil, err
}

// Run returns a run of a workspace; another workspace's is ErrNotFound.
func (tx *Tx) Run(ctx context.Context, workspace, id string) (*EvalRun, error) {
	return tx.oneRun(ctx, "select "+runColumns+" from eval_run where workspace_id = $1 and id = $2", workspace, id)
}

// A RunFilter chooses runs; zero fields choose all.
type RunFilter struct {
	EvalID, Status string
	Before         time.Time // older than the run of this time and id
	BeforeID       string
}

// Runs returns runs of a workspace, newest first.
func (tx *Tx) Runs(ctx context.Context, workspace string, f RunFilter, limit int) ([]*EvalRun, error) {
	before := int64(math.MaxInt64)
	if !f.Before.IsZero() {
		before = us(f.Before)
	}
	var out []*EvalRun
	err := tx.list(ctx, func(row scanner) error {
		r, err := scanRun(row.Scan)
		out = append(out, r)
		return err
	}, "select "+runColumns+` from eval_run where workspace_id = $1 and (created_at, id) < ($2, $3) and ($4 = '' or eval_id = $4) and ($5 = '' or status = $5)
		order by created_at desc, id desc limit $6`, workspace, before, f.BeforeID, f.EvalID, f.Status, limit)
	return out, err
}

// RequestCancel asks to cancel a run of a workspace, and returns it. A queued one
// is cancelled at once, a running one by its worker, which learns of it from
// RenewLease; one that ended stays as it is.
func (tx *Tx) RequestCancel(ctx context.Context, workspace, id string, now time.Time) (*EvalRun, error) {
	r, err := tx.oneRun(ctx, `update eval_run set cancel_asked = case when cancel_asked = 0 then $3 else cancel_asked end,
		ended_at = case when status = 'queued' then $3 else ended_at end, status = case when status = 'queued' then 'cancelled' else status end
		where workspace_id = $1 and id = $2 and ended_at = 0 returning `+runColumns, workspace, id, us(now))
	if errors.Is(err, ErrNotFound) {
		return tx.Run(ctx, workspace, id)
	}
	return r, err
}

func (tx *Tx) oneRun(ctx context.Context, query string, args ...any) (*EvalRun, error) {
	return scanRun(func(dest ...any) error { return tx.one(ctx, dest, query, args...) })
}

func scanRun(scan func(...any) error) (*EvalRun, error) {
	var r EvalRun
	var created, started, ended, lease, cancel, worked int64
	if err := scan(&r.ID, &r.WorkspaceID, &r.EvalID, &r.Version, &r.EvalName, &r.Category, &r.Status, &r.BudgetMicros, &r.IdempotencyKey, &r.RequestHash, &created, &r.CreatedBy,
		&started, &ended, &r.LeaseOwner, &lease, &r.Attempt, &cancel, &r.Planned, &r.Valid, &r.Excluded, &r.SpentMicros, &r.AtMostMicros,
		&r.LastEvent, &r.Bundle, &r.Failure, &r.GivenBack, &worked, &r.Catalog, &r.Origin); err != nil {
		return nil, err
	}
	r.CreatedAt, r.StartedAt, r.EndedAt, r.LeaseUntil, r.CancelAsked = fromUS(created), fromUS(started), fromUS(ended), fromUS(lease), fromUS(cancel)
	r.Worked = time.Duration(worked) * time.Microsecond
	return &r, nil
}
