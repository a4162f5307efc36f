package state_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server/store/state"
)

// TestWhatTheStoreSaysOfARun: a worker learns with each beat whether its run may go on.
func TestWhatTheStoreSaysOfARun(t *testing.T) {
	onBoth(t, func(t *testing.T, db *state.DB) {
		enqueue(t, db, map[string]int{"a": 1})
		write(t, db, func(tx *state.Tx) error {
			_, err := tx.AddWorkspace(t.Context(), &state.Workspace{ID: "b", Slug: "b", OwnerID: "acc_b", Plan: "paid", CreatedAt: now, ClaimedAt: now})
			return errors.Join(err, tx.AddAccount(t.Context(), &state.Account{ID: "acc_b", Email: "b@example.com", VerifiedAt: now, CreatedAt: now}))
		})
		putEval(t, db, &state.Eval{ID: "b", WorkspaceID: "b", Name: "b", Latest: version("one")})
		if _, _, err := addRun(t, db, queued("b0", "b", 1), 1); err != nil {
			t.Fatal(err)
		}
		runs := map[string]*state.EvalRun{}
		for range 2 {
			r := claim(t, db, "w", now)
			runs[r.WorkspaceID] = r
		}
		order := func(workspace string) (o state.Order) {
			write(t, db, func(tx *state.Tx) (err error) {
				o, err = tx.RenewLease(t.Context(), runs[workspace].Lease(), now, lease, state.RunProgress{})
				return err
			})
			return o
		}
		disable := func(at time.Time) {
			write(t, db, func(tx *state.Tx) error {
				return tx.SaveAccount(t.Context(), &state.Account{ID: "acc_b", VerifiedAt: now, DisabledAt: at})
			})
		}
		plan := func(plan string) {
			write(t, db, func(tx *state.Tx) error { return tx.SetPlanOf(t.Context(), "b", plan) })
		}
		for _, step := range []struct {
			what   string
			change func()
			want   state.Order
		}{
			{"nothing happened", func() {}, state.Order{}},
			{"its owner is disabled", func() { disable(now) }, state.Order{Stop: state.StopOwner}},
			{"and enabled again", func() { disable(time.Time{}) }, state.Order{}},
			{"its plan ended", func() { plan(state.PlanFree) }, state.Order{Stop: state.StopPlan}},
			{"and it was cancelled", func() {
				write(t, db, func(tx *state.Tx) error {
					_, err := tx.RequestCancel(t.Context(), "b", "b0", now)
					return err
				})
			}, state.Order{Cancel: true, Stop: state.StopPlan}},
			{"its plan is paid again", func() { plan(state.PlanPaid) }, state.Order{Cancel: true}},
		} {
			step.change()
			if got := order("b"); got != step.want {
				t.Errorf("%s: %+v, want %+v", step.what, got, step.want)
			}
			if got := order("a"); got != (state.Order{}) { // which has no owner
				t.Errorf("%s: another workspace: %+v", step.what, got)
			}
		}
	})
}

// TestWhoStarves: a run waits that a slot of this workspace would serve more fairly.
func TestWhoStarves(t *testing.T) {
	for name, tt := range map[string]struct {
		queued map[string]int // runs by workspace
		taken  int            // by workers, in turn
		want   map[string]bool
	}{
		"nobody else has runs":              {map[string]int{"a": 3}, 2, map[string]bool{"a": false}},
		"another waits and has none":        {map[string]int{"a": 2}, 2, map[string]bool{"a": true}},
		"one slot each is fair":             {map[string]int{"a": 1}, 1, map[string]bool{"a": false}},
		"whoever has nothing takes nothing": {map[string]int{"a": 2}, 2, map[string]bool{"b": false, "c": false}},
	} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, db *state.DB) {
				enqueue(t, db, tt.queued)
				for range tt.taken {
					claim(t, db, "w", now)
				}
				if name != "nobody else has runs" {
					enqueue(t, db, map[string]int{"b": 1})
				}
				for workspace, want := range tt.want {
					got, err := db.Read().RunsStarve(t.Context(), workspace, now, 0)
					if err != nil || got != want {
						t.Errorf("%s: %v, want %v (%v)", workspace, got, want, err)
					}
				}
				if got, err := db.Read().RunsStarve(t.Context(), "a", now.Add(2*lease), 0); err != nil || got {
					t.Errorf("with no run under way: %v (%v)", got, err)
				}
			})
		})
	}
}

// TestWhoStarvesHasWaited: an idle worker takes a run that was just added, or given up.
func TestWhoStarvesHasWaited(t *testing.T) {
	const waited = 5 * time.Second
	onBoth(t, func(t *testing.T, db *state.DB) {
		enqueue(t, db, map[string]int{"a": 2})
		for range 2 {
			claim(t, db, "w", now)
		}
		enqueue(t, db, map[string]int{"b": 1})
		var given *state.EvalRun
		for _, step := range []struct {
			what  string
			after time.Duration // since it was added or given back
			want  bool
		}{
			{"added just now", waited - time.Millisecond, false},
			{"added a while ago", waited, true},
			{"given back just now", waited - time.Millisecond, false},
			{"given back a while ago", waited, true},
		} {
			since := now
			if strings.HasPrefix(step.what, "given") {
				since = now.Add(20 * time.Second)
			}
			if since != now && given == nil {
				given = claim(t, db, "w", now.Add(10*time.Second))
				write(t, db, func(tx *state.Tx) error {
					return tx.ReleaseRun(t.Context(), given.Lease(), since, given.RunProgress, "")
				})
			}
			if got, err := db.Read().RunsStarve(t.Context(), "a", since.Add(step.after), waited); err != nil || got != step.want {
				t.Errorf("%s: %v, want %v (%v)", step.what, got, step.want, err)
			}
		}
	})
}
