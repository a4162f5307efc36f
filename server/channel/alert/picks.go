package alert

import (
	"context"
	"errors"
	"time"

	"github.com/firstpick/firstpick/server/channel/change"
	"github.com/firstpick/firstpick/server/channel/picks"
	"github.com/firstpick/firstpick/server/store/state"
)

// failedFor is for how long a failed run is a condition.
const failedFor = 7 * 24 * time.Hour

// LookAtPicks evaluates the picks of all workspaces that are due, stores new alerts, and
// puts due digests into the outbox. One that fails is due again later.
func (s *Service) LookAtPicks(ctx context.Context) error {
	if s.Picks == nil {
		return nil
	}
	now := s.Now()
	due, err := s.DB.Read().DuePicks(ctx, now, now.Add(-failedFor), lookMost)
	if err != nil {
		return err
	}
	return each(ctx, due, s.lookAtPicks)
}

func (s *Service) lookAtPicks(ctx context.Context, workspace string) error {
	now := s.Now()
	var watch *state.PickWatch
	var stored []state.OpenAlert
	var failed []*state.EvalRun
	var w *state.Workspace
	if err := s.DB.Write(ctx, func(tx *state.Tx) error {
		var err error
		if watch, err = tx.ClaimPicks(ctx, workspace, now, now.Add(lookEvery)); err != nil || watch == nil {
			return err
		}
		if w, err = tx.Workspace(ctx, workspace); err != nil {
			return err
		}
		if failed, err = tx.FailedRuns(ctx, workspace, now.Add(-failedFor)); err != nil {
			return err
		}
		stored, err = tx.OpenAlerts(ctx, workspace)
		return err
	}); err != nil || watch == nil {
		return err
	}
	facts := change.Facts{Now: now, Picks: &change.Picks{Since: watch.Since}}
	for _, r := range failed {
		facts.Picks.Failed = append(facts.Picks.Failed, change.FailedRun{
			EvalID: r.EvalID, Eval: r.EvalName, Run: r.ID, Reason: r.Failure, At: r.EndedAt, URL: s.page(w) + "/runs/" + r.ID,
		})
	}
	if watch.Tool != "" {
		var err error
		if facts.Picks.Tool, err = s.Picks(ctx, workspace, watch.Tool); err != nil {
			return err
		}
	}
	return errors.Join(s.keep(ctx, workspace, now, Compare(facts, opened(stored))), s.digest(ctx, w, watch, facts.Picks.Tool, now))
}

func opened(stored []state.OpenAlert) []Open {
	out := make([]Open, len(stored))
	for i, t := range stored {
		out[i] = Open{What: t.What, Subject: t.Subject, At: t.At, Seen: t.SeenAt}
	}
	return out
}

// A Follow is which tool a workspace follows.
type Follow struct {
	Tool   string // a slug; empty until chosen
	Since  time.Time
	Digest bool // a mail every week
}

// Following returns which tool a workspace follows.
func (s *Service) Following(ctx context.Context, workspace string) (Follow, error) {
	w, err := s.DB.Read().PickWatch(ctx, workspace)
	if err != nil {
		return Follow{}, s.fail(err)
	}
	return Follow{w.Tool, w.Since, !w.DigestOff}, nil
}

// FollowTool makes a workspace follow the picks of a tool, by its slug, from now on; an
// empty one ends that. By is the account that asks for it.
func (s *Service) FollowTool(ctx context.Context, workspace, by, tool string, digest bool) error {
	return s.change(ctx, workspace, by, func(u *unit) error {
		w, err := u.tx.PickWatch(ctx, workspace)
		if err != nil {
			return err
		}
		return u.follow(w, workspace, by, tool, digest)
	})
}

// FollowFirst makes a workspace follow a tool, unless it follows one, within a transaction of
// the caller.
func (s *Service) FollowFirst(ctx context.Context, tx *state.Tx, now time.Time, workspace, by, tool string) error {
	w, err := tx.PickWatch(ctx, workspace)
	if err != nil || w.Tool != "" {
		return err
	}
	u := &unit{s, ctx, tx, now}
	return u.follow(w, workspace, by, tool, !w.DigestOff)
}

func (u *unit) follow(w *state.PickWatch, workspace, by, tool string, digest bool) error {
	if w.Tool != tool {
		w.Tool, w.Since = tool, u.now
	}
	w.DigestOff = !digest
	if now := u.now; w.DigestAt.Before(now) {
		w.DigestAt = nextDigest(now)
	}
	if err := u.tx.SavePickWatch(u.ctx, workspace, w); err != nil {
		return err
	}
	return u.tx.Audit(u.ctx, state.AuditEntry{
		ID: u.Secrets.ID("aud_"), At: u.now, Event: "picks.followed", WorkspaceID: workspace, AccountID: by, Detail: map[string]string{"tool": tool},
	})
}

// A PicksFunc returns what is measured of a tool for a workspace; nil without a measurement.
type PicksFunc func(ctx context.Context, workspace, tool string) (*picks.Measured, error)
