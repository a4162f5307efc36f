package state

import (
	"context"
	"errors"
	"time"
)

// A Schedule starts runs of an eval. An eval has at most one.
type Schedule struct {
	ID, WorkspaceID, EvalID string
	EvalName                string // of the eval
	Cron, Zone              string
	BudgetMicros            int64 // of each run
	MonthMicros             int64 // of all runs of a calendar month
	CreatedAt               time.Time
	CreatedBy               string    // account or key
	UpdatedAt               time.Time // by a person or program
	ScheduleState
}

// A ScheduleState is what runs and ticks change.
type ScheduleState struct {
	NextAt      time.Time // the next tick; zero while paused
	PausedAt    time.Time // zero while active
	PauseReason string
	PauseNote   string // a sentence; optional
	OpenRun     string // the last started run, until its end is counted
	Failures    int    // in a row
}

const scheduleColumns = `s.id, s.workspace_id, s.eval_id, e.name, s.cron, s.zone, s.budget_micros, s.month_micros, s.created_at, s.created_by, s.updated_at,
	s.next_at, s.paused_at, s.pause_reason, s.pause_note, s.open_run, s.failures`

const scheduleTables = " from eval_schedule s join eval e on e.id = s.eval_id"

// AddSchedule stores a schedule of an eval that has none.
func (tx *Tx) AddSchedule(ctx context.Context, s *Schedule) error {
	_, err := tx.exec(ctx, `insert into eval_schedule (id, workspace_id, eval_id, cron, zone, budget_micros, month_micros, created_at, created_by, updated_at,
		next_at, paused_at, pause_reason, pause_note, open_run, failures) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)`,
		s.ID, s.WorkspaceID, s.EvalID, s.Cron, s.Zone, s.BudgetMicros, s.MonthMicros, us(s.CreatedAt), s.CreatedBy, us(s.UpdatedAt),
		us(s.NextAt), us(s.PausedAt), s.PauseReason, s.PauseNote, s.OpenRun, s.Failures)
	return err
}

// UpdateSchedule stores what may change of a schedule. The caller holds its lock.
func (tx *Tx) UpdateSchedule(ctx context.Context, s *Schedule) error {
	_, err := tx.exec(ctx, `update eval_schedule set cron = $2, zone = $3, budget_micros = $4, month_micros = $5, updated_at = $6,
		next_at = $7, paused_at = $8, pause_reason = $9, pause_note = $10, open_run = $11, failures = $12 where id = $1`,
		s.ID, s.Cron, s.Zone, s.BudgetMicros, s.MonthMicros, us(s.UpdatedAt), us(s.NextAt), us(s.PausedAt), s.PauseReason, s.PauseNote, s.OpenRun, s.Failures)
	return err
}

// DeleteSchedule deletes the schedule of an eval, and its ticks. Runs stay. It fails with
// ErrNotFound.
func (tx *Tx) DeleteSchedule(ctx context.Context, workspace, eval string) error {
	n, err := tx.exec(ctx, "delete from eval_schedule where workspace_id = $1 and eval_id = $2", workspace, eval)
	if err == nil && n == 0 {
		return ErrNotFound
	}
	return err
}

// ScheduleOf returns the schedule of an eval of a workspace.
func (tx *Tx) ScheduleOf(ctx context.Context, workspace, eval string) (*Schedule, error) {
	return tx.oneSchedule(ctx, "select "+scheduleColumns+scheduleTables+" where s.workspace_id = $1 and s.eval_id = $2", workspace, eval)
}

// LockScheduleOf is ScheduleOf under the locks of workspace and schedule, until commit.
func (tx *Tx) LockScheduleOf(ctx context.Context, workspace, eval string) (*Schedule, error) {
	if err := tx.LockWorkspace(ctx, workspace); err != nil {
		return nil, err
	}
	var id string
	if err := tx.one(ctx, []any{&id}, "select id from eval_schedule where workspace_id = $1 and eval_id = $2"+tx.lock(), workspace, eval); err != nil {
		return nil, err
	}
	return tx.ScheduleOf(ctx, workspace, eval)
}

// LockSchedule returns a schedule by id, under the same locks.
func (tx *Tx) LockSchedule(ctx context.Context, id string) (*Schedule, error) {
	var workspace, eval string
	if err := tx.one(ctx, []any{&workspace, &eval}, "select workspace_id, eval_id from eval_schedule where id = $1", id); err != nil {
		return nil, err
	}
	s, err := tx.LockScheduleOf(ctx, workspace, eval)
	if err == nil && s.ID != id {
		return nil, ErrNotFound // deleted and created again
	}
	return s, err
}

// Schedules returns the schedules of a workspace, by the names of their evals.
func (tx *Tx) Schedules(ctx context.Context, workspace string) ([]*Schedule, error) {
	var out []*Schedule
	err := tx.list(ctx, func(row scanner) error {
		s, err := scanSchedule(row.Scan)
		out = append(out, s)
		return err
	}, "select "+scheduleColumns+scheduleTables+" where s.workspace_id = $1 order by e.name", workspace)
	return out, err
}

// DueSchedules returns the ids of schedules whose next tick has come.
func (tx *Tx) DueSchedules(ctx context.Context, now time.Time) ([]string, error) {
	return tx.ids(ctx, "select id from eval_schedule where next_at > 0 and next_at <= $1 order by next_at, id", us(now))
}

// WaitingSchedules returns the ids of schedules whose next tick is in the future.
func (tx *Tx) WaitingSchedules(ctx context.Context, now time.Time) ([]string, error) {
	return tx.ids(ctx, "select id from eval_schedule where next_at > $1 order by id", us(now))
}

// SettledSchedules returns the ids of schedules whose open run has ended.
func (tx *Tx) SettledSchedules(ctx context.Context) ([]string, error) {
	return tx.ids(ctx, "select s.id from eval_schedule s where s.open_run <> '' and not exists (select 1 from eval_run r where r.id = s.open_run and r.ended_at = 0) order by s.id")
}

func (tx *Tx) ids(ctx context.Context, query string, args ...any) ([]string, error) {
	return tx.texts(ctx, query, args...)
}

func (tx *Tx) oneSchedule(ctx context.Context, query string, args ...any) (*Schedule, error) {
	return scanSchedule(func(dest ...any) error { return tx.one(ctx, dest, query, args...) })
}

func scanSchedule(scan func(...any) error) (*Schedule, error) {
	var s Schedule
	var created, updated, next, paused int64
	if err := scan(&s.ID, &s.WorkspaceID, &s.EvalID, &s.EvalName, &s.Cron, &s.Zone, &s.BudgetMicros, &s.MonthMicros, &created, &s.CreatedBy, &updated,
		&next, &paused, &s.PauseReason, &s.PauseNote, &s.OpenRun, &s.Failures); err != nil {
		return nil, err
	}
	s.CreatedAt, s.UpdatedAt, s.NextAt, s.PausedAt = fromUS(created), fromUS(updated), fromUS(next), fromUS(paused)
	return &s, nil
}

// The outcomes of a tick.
const (
	TickStarted = "started" // a run
	TickSkipped = "skipped" // for a temporary reason
	TickFailed  = "failed"  // the run could not be started
	TickMissed  = "missed"  // no server ran then
)

// A Tick is one time of a schedule and its outcome.
type Tick struct {
	ScheduleID   string
	At           time.Time
	Manual       bool // a person or program asked for the run
	Outcome      string
	RunID        string // empty without a run
	RunStatus    string // of the run now; in answers only
	BudgetMicros int64  // of the run
	Note         string
}

// AddTick stores a tick and reports whether it is new: a schedule has each time once.
func (tx *Tx) AddTick(ctx context.Context, t *Tick) (bool, error) {
	n, err := tx.exec(ctx, "insert into eval_schedule_tick (schedule_id, tick_at, manual, outcome, run_id, budget_micros, note) values ($1, $2, $3, $4, $5, $6, $7) on conflict do nothing",
		t.ScheduleID, us(t.At), flag(t.Manual), t.Outcome, t.RunID, t.BudgetMicros, t.Note)
	return n > 0, err
}

// UpdateTick stores the outcome of a tick.
func (tx *Tx) UpdateTick(ctx context.Context, t *Tick) error {
	_, err := tx.exec(ctx, "update eval_schedule_tick set outcome = $3, run_id = $4, budget_micros = $5, note = $6 where schedule_id = $1 and tick_at = $2",
		t.ScheduleID, us(t.At), t.Outcome, t.RunID, t.BudgetMicros, t.Note)
	return err
}

// HasTick reports whether a time of a schedule is decided.
func (tx *Tx) HasTick(ctx context.Context, schedule string, at time.Time) (bool, error) {
	var n int
	err := tx.one(ctx, []any{&n}, "select 1 from eval_schedule_tick where schedule_id = $1 and tick_at = $2", schedule, us(at))
	if errors.Is(err, ErrNotFound) {
		return false, nil
	}
	return n > 0, err
}

const tickSelect = `select t.schedule_id, t.tick_at, t.manual, t.outcome, t.run_id, coalesce(r.status, ''), t.budget_micros, t.note
	from eval_schedule_tick t left join eval_run r on r.id = t.run_id where t.schedule_id = $1 `

// Ticks returns the latest ticks of a schedule, newest first.
func (tx *Tx) Ticks(ctx context.Context, schedule string, limit int) ([]*Tick, error) {
	return tx.ticks(ctx, tickSelect+"order by t.tick_at desc limit $2", schedule, limit)
}

// LastStarted returns the latest tick of a schedule that started a run; nil without one.
func (tx *Tx) LastStarted(ctx context.Context, schedule string) (*Tick, error) {
	out, err := tx.ticks(ctx, tickSelect+"and t.run_id <> '' order by t.tick_at desc limit 1", schedule)
	if err != nil || len(out) == 0 {
		return nil, err
	}
	return out[0], nil
}

func (tx *Tx) ticks(ctx context.Context, query string, args ...any) ([]*Tick, error) {
	var out []*Tick
	err := tx.list(ctx, func(row scanner) error {
		var t Tick
		var at, manual int64
		err := row.Scan(&t.ScheduleID, &at, &manual, &t.Outcome, &t.RunID, &t.RunStatus, &t.BudgetMicros, &t.Note)
		t.At, t.Manual = fromUS(at), manual != 0
		out = append(out, &t)
		return err
	}, query, args...)
	return out, err
}

// ScheduleSpent returns the most that runs of a schedule from a time until another may
// have cost: of ended ones the upper bound of the cost, of others the budget if that is more.
func (tx *Tx) ScheduleSpent(ctx context.Context, schedule string, from, until time.Time) (int64, error) {
	var micros int64
	err := tx.one(ctx, []any{&micros}, `select cast(coalesce(sum(case when r.id is null then t.budget_micros when r.ended_at > 0 or r.at_most_micros > r.budget_micros then r.at_most_micros
		else r.budget_micros end), 0) as bigint) from eval_schedule_tick t left join eval_run r on r.id = t.run_id
		where t.schedule_id = $1 and t.outcome = 'started' and t.tick_at >= $2 and t.tick_at < $3`, schedule, us(from), us(until))
	return micros, err
}
