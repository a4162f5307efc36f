package state

import (
	"context"
	"errors"
	"time"
)

// A PickWatch says which tool's picks a workspace follows.
type PickWatch struct {
	Tool      string    // a slug; empty until chosen
	Since     time.Time // when it was chosen
	DigestOff bool
	DigestAt  time.Time // when the next digest is due
}

// PickWatch returns the watch of a workspace; an empty one before a tool is chosen.
func (tx *Tx) PickWatch(ctx context.Context, workspace string) (*PickWatch, error) {
	w, err := scanPickWatch(func(dest ...any) error {
		return tx.one(ctx, dest, "select tool, since, digest_off, digest_at from pick_watch where workspace_id = $1", workspace)
	})
	if errors.Is(err, ErrNotFound) {
		return &PickWatch{}, nil
	}
	return w, err
}

func scanPickWatch(scan func(...any) error) (*PickWatch, error) {
	var w PickWatch
	var since, off, digest int64
	err := scan(&w.Tool, &since, &off, &digest)
	w.Since, w.DigestOff, w.DigestAt = fromUS(since), off != 0, fromUS(digest)
	return &w, err
}

// SavePickWatch stores which tool a workspace follows. It is due at once.
func (tx *Tx) SavePickWatch(ctx context.Context, workspace string, w *PickWatch) error {
	off := 0
	if w.DigestOff {
		off = 1
	}
	_, err := tx.exec(ctx, `insert into pick_watch (workspace_id, tool, since, next_at, digest_off, digest_at) values ($1, $2, $3, 0, $4, $5)
		on conflict (workspace_id) do update set tool = excluded.tool, since = excluded.since, next_at = 0, digest_off = excluded.digest_off, digest_at = excluded.digest_at`,
		workspace, w.Tool, us(w.Since), off, us(w.DigestAt))
	return err
}

// DuePicks returns workspaces whose check of picks is due: those that chose a tool, and
// those with a run that ended after a time.
func (tx *Tx) DuePicks(ctx context.Context, now, ended time.Time, limit int) ([]string, error) {
	return tx.texts(ctx, `select w.id from workspace w left join pick_watch p on p.workspace_id = w.id
		where w.claimed_at > 0 and coalesce(p.next_at, 0) <= $1
			and (coalesce(p.tool, '') <> '' or exists (select 1 from eval_run r where r.workspace_id = w.id and r.ended_at > $2))
		order by coalesce(p.next_at, 0), w.id limit $3`, us(now), us(ended), limit)
}

// ClaimPicks claims the due check of a workspace and schedules the next one. It returns
// nil when another server claimed it first.
func (tx *Tx) ClaimPicks(ctx context.Context, workspace string, now, next time.Time) (*PickWatch, error) {
	w, err := scanPickWatch(func(dest ...any) error {
		return tx.one(ctx, dest, `insert into pick_watch (workspace_id, tool, since, next_at, digest_off, digest_at) values ($1, '', 0, $3, 0, 0)
			on conflict (workspace_id) do update set next_at = $3 where pick_watch.next_at <= $2 returning tool, since, digest_off, digest_at`,
			workspace, us(now), us(next))
	})
	if errors.Is(err, ErrNotFound) {
		return nil, nil
	}
	return w, err
}

// ClaimDigest schedules the next digest and reports whether the one that was due at a
// time is the caller's to send.
func (tx *Tx) ClaimDigest(ctx context.Context, workspace string, due, next time.Time) (bool, error) {
	n, err := tx.exec(ctx, "update pick_watch set digest_at = $3 where workspace_id = $1 and digest_at = $2 and digest_off = 0", workspace, us(due), us(next))
	return n == 1, err
}

// FailedRuns returns the newest ended run of each eval of a workspace where it failed,
// of those that ended after a time.
func (tx *Tx) FailedRuns(ctx context.Context, workspace string, ended time.Time) ([]*EvalRun, error) {
	var out []*EvalRun
	err := tx.list(ctx, func(row scanner) error {
		r, err := scanRun(row.Scan)
		out = append(out, r)
		return err
	}, "select "+runColumns+` from eval_run r where workspace_id = $1 and status = 'failed' and ended_at > $2
		and not exists (select 1 from eval_run n where n.workspace_id = $1 and n.eval_id = r.eval_id and n.status in ('done', 'failed') and (n.ended_at, n.id) > (r.ended_at, r.id))
		order by eval_id`, workspace, us(ended))
	return out, err
}
