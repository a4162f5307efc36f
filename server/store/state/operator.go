package state

import (
	"context"
	"math"
	"strings"
	"time"
)

// The reads of this file are an operator's: they go over all workspaces, and return that
// something exists, not its content.

// Operators returns the accounts that are operators, oldest first.
func (tx *Tx) Operators(ctx context.Context) ([]*Account, error) {
	var out []*Account
	err := tx.list(ctx, func(row scanner) error {
		a, err := tx.scanAccount(row.Scan)
		out = append(out, a)
		return err
	}, "select "+accountColumns+" from account where admin = 1 order by created_at, id")
	return out, err
}

// Totals are the numbers of rows in the store.
type Totals struct {
	Accounts, Operators, Workspaces, Claimed, Paid int
	Registrations                                  int // live agents
	Events                                         int64
	EventsAt                                       time.Time // of the last event
	Evals, Runs                                    int
	Failed                                         int // runs that failed since the given time
	Mail                                           int // mails that wait to be sent
	MailTries                                      int // the most tries of one of them
	Erasures                                       int // requested, rows not yet deleted
}

// Totals counts the rows of all workspaces, and the runs that failed since a time.
func (tx *Tx) Totals(ctx context.Context, since time.Time) (Totals, error) {
	var t Totals
	var last int64
	err := tx.one(ctx, []any{
		&t.Accounts, &t.Operators, &t.Workspaces, &t.Claimed, &t.Paid, &t.Registrations, &t.Events, &last, &t.Evals, &t.Runs, &t.Failed, &t.Mail, &t.MailTries, &t.Erasures,
	}, `select (select count(*) from account), (select count(*) from account where admin = 1),
		(select count(*) from workspace), (select count(*) from workspace where claimed_at > 0), (select count(*) from workspace where plan = 'paid'),
		(select count(*) from registration where claimed_at > 0 and revoked_at = 0 and denied_at = 0),
		(select cast(coalesce(sum(accepted), 0) as bigint) from collected_day), (select coalesce(max(last_at), 0) from collected_day),
		(select count(*) from eval), (select count(*) from eval_run), (select count(*) from eval_run where status = 'failed' and ended_at >= $1),
		(select count(*) from outbox), (select coalesce(max(tries), 0) from outbox), (select count(*) from erasure where erased_at = 0)`, us(since))
	t.EventsAt = fromUS(last)
	return t, err
}

// A RunLine is a run as an operator lists it: without its eval and its results.
type RunLine struct {
	ID, Slug           string // of the run and its workspace
	Status             string
	CreatedAt, EndedAt time.Time
	Attempt, Tries     int    // by workers, and those that were not given back in order
	LeaseOwner         string // the worker that took it last
	LeaseUntil         time.Time
	Planned, Valid     int
}

const runLines = `select r.id, coalesce(w.slug, ''), r.status, r.created_at, r.ended_at, r.attempt, r.attempt - r.given_back, r.lease_owner, r.lease_until, r.planned, r.valid
	from eval_run r left join workspace w on w.id = r.workspace_id where `

func (tx *Tx) runLines(ctx context.Context, where string, limit int) ([]*RunLine, error) {
	var out []*RunLine
	err := tx.list(ctx, func(row scanner) error {
		var r RunLine
		var created, ended, lease int64
		err := row.Scan(&r.ID, &r.Slug, &r.Status, &created, &ended, &r.Attempt, &r.Tries, &r.LeaseOwner, &lease, &r.Planned, &r.Valid)
		r.CreatedAt, r.EndedAt, r.LeaseUntil = fromUS(created), fromUS(ended), fromUS(lease)
		out = append(out, &r)
		return err
	}, runLines+where+" limit $1", limit)
	return out, err
}

// OpenRuns returns the runs of all workspaces that have not ended, oldest first.
func (tx *Tx) OpenRuns(ctx context.Context, limit int) ([]*RunLine, error) {
	return tx.runLines(ctx, "r.ended_at = 0 order by r.created_at, r.id", limit)
}

// LastFailures returns the runs of all workspaces that failed, newest first.
func (tx *Tx) LastFailures(ctx context.Context, limit int) ([]*RunLine, error) {
	return tx.runLines(ctx, "r.status = 'failed' order by r.ended_at desc, r.id desc", limit)
}

// A WorkspaceSearch chooses workspaces.
type WorkspaceSearch struct {
	Text     string    // a part of the slug, the name or the site, in any case; empty for all
	Before   time.Time // older than the workspace of this time and id
	BeforeID string
	Limit    int
}

// A WorkspaceLine is a workspace as an operator finds it.
type WorkspaceLine struct {
	Workspace
	OperatorPlan  string // the plan that an operator set; empty where billing decides
	Members, Runs int
	Events        int64     // of the days that are kept
	ActiveAt      time.Time // of the last event or run; zero for never
}

// SearchWorkspaces returns workspaces, newest first.
func (tx *Tx) SearchWorkspaces(ctx context.Context, s WorkspaceSearch) ([]*WorkspaceLine, error) {
	before := int64(math.MaxInt64)
	if !s.Before.IsZero() {
		before = us(s.Before)
	}
	like := "%" + strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`).Replace(strings.ToLower(s.Text)) + "%"
	var out []*WorkspaceLine
	err := tx.list(ctx, func(row scanner) error {
		var l WorkspaceLine
		var event, run int64
		w, err := scanWorkspace(func(dest ...any) error {
			return row.Scan(append(dest, &l.OperatorPlan, &l.Members, &l.Runs, &l.Events, &event, &run)...)
		})
		if err != nil {
			return err
		}
		l.Workspace, l.ActiveAt = *w, fromUS(max(event, run))
		out = append(out, &l)
		return nil
	}, "select "+workspaceColumns+`, plan_said,
		(select count(*) from member m where m.workspace_id = workspace.id),
		(select count(*) from eval_run r where r.workspace_id = workspace.id),
		(select cast(coalesce(sum(accepted), 0) as bigint) from collected_day d where d.workspace_id = workspace.id),
		(select coalesce(max(last_at), 0) from collected_day d where d.workspace_id = workspace.id),
		(select coalesce(max(case when ended_at > created_at then ended_at else created_at end), 0) from eval_run r where r.workspace_id = workspace.id)
		from workspace where (created_at, id) < ($1, $2) and (lower(slug) like $3 escape '\' or lower(name) like $3 escape '\' or lower(site) like $3 escape '\')
		order by created_at desc, id desc limit $4`, before, s.BeforeID, like, s.Limit)
	return out, err
}

// An OperatorLog chooses lines of the audit log; zero fields choose all.
type OperatorLog struct {
	WorkspaceID string
	Action      string // an event such as operator.plan, or the part of it before a dot
	Before      AuditEntry
	Limit       int
}

// OperatorLog returns lines of the audit log over all workspaces, newest first, older than
// Before where that has a time.
func (tx *Tx) OperatorLog(ctx context.Context, f *OperatorLog) ([]AuditEntry, error) {
	like := strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`).Replace(f.Action) + ".%"
	return tx.auditEntries(ctx, "select "+auditColumns+` from audit where ($1 = '' or workspace_id = $1) and ($2 = '' or event = $2 or event like $3 escape '\')
		and (cast($4 as bigint) = 0 or happened_at < $4 or happened_at = $4 and id < $5) order by happened_at desc, id desc limit $6`,
		f.WorkspaceID, f.Action, like, us(f.Before.At), f.Before.ID, f.Limit)
}
