package state_test

import (
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/firstpick/firstpick/server/store/state"
)

// claimed stores a workspace that has an owner.
func claimed(t *testing.T, db *state.DB, ids ...string) {
	t.Helper()
	write(t, db, func(tx *state.Tx) error {
		for _, id := range ids {
			if _, err := tx.AddWorkspace(t.Context(), &state.Workspace{ID: id, Slug: id, OwnerID: "acc", ClaimedAt: now, CreatedAt: now}); err != nil {
				return err
			}
		}
		return nil
	})
}

func TestPickWatches(t *testing.T) {
	onBoth(t, func(t *testing.T, db *state.DB) {
		claimed(t, db, "chosen", "idle")
		want := &state.PickWatch{Tool: "acme", Since: now.Truncate(time.Microsecond), DigestAt: now.Add(day).Truncate(time.Microsecond)}
		write(t, db, func(tx *state.Tx) error { return tx.SavePickWatch(t.Context(), "chosen", want) })
		for workspace, want := range map[string]*state.PickWatch{"chosen": want, "idle": {}} {
			got, err := db.Read().PickWatch(t.Context(), workspace)
			if diff := cmp.Diff(want, got); err != nil || diff != "" {
				t.Errorf("%s: %v %s", workspace, err, diff)
			}
		}
		due := func(at time.Time) []string {
			list, err := db.Read().DuePicks(t.Context(), at, now, 10)
			if err != nil {
				t.Fatal(err)
			}
			return list
		}
		if got := due(now); !slices.Equal(got, []string{"chosen"}) {
			t.Fatalf("due: %v", got)
		}
		var won, digests atomic.Int32
		var all sync.WaitGroup
		for range 4 { // servers
			all.Go(func() {
				if err := db.Write(t.Context(), func(tx *state.Tx) error {
					w, err := tx.ClaimPicks(t.Context(), "chosen", now, now.Add(5*time.Minute))
					if w != nil {
						won.Add(1)
					}
					if err != nil {
						return err
					}
					mine, err := tx.ClaimDigest(t.Context(), "chosen", want.DigestAt, want.DigestAt.Add(7*day))
					if mine {
						digests.Add(1)
					}
					return err
				}); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if won.Load() != 1 || digests.Load() != 1 {
			t.Errorf("%d claims, %d digests", won.Load(), digests.Load())
		}
		if got := due(now.Add(4 * time.Minute)); len(got) > 0 {
			t.Errorf("due again: %v", got)
		}
	})
}

// The newest ended run of an eval counts: one that failed before a good one is over.
func TestFailedRuns(t *testing.T) {
	onBoth(t, func(t *testing.T, db *state.DB) {
		claimed(t, db, "ws_1", "ws_2")
		write(t, db, func(tx *state.Tx) error {
			for _, e := range []struct{ id, workspace string }{{"evl_1", "ws_1"}, {"evl_2", "ws_1"}, {"evl_3", "ws_2"}} {
				if _, _, err := tx.PutEval(t.Context(), &state.Eval{ID: e.id, WorkspaceID: e.workspace, Name: e.id, Latest: version("one")}, ample); err != nil {
					return err
				}
			}
			return nil
		})
		end := func(workspace, eval, id, status string, at time.Time) {
			t.Helper()
			if _, _, err := addRun(t, db, &state.EvalRun{ID: id, WorkspaceID: workspace, EvalID: eval, Version: 1, CreatedAt: at}, 100); err != nil {
				t.Fatal(err)
			}
			write(t, db, func(tx *state.Tx) error {
				r, err := tx.ClaimRun(t.Context(), "worker", at, time.Minute)
				if err != nil || r == nil {
					t.Fatalf("%v, %v", r, err)
				}
				return tx.FinishRun(t.Context(), r.Lease(), at, state.RunOutcome{Status: status})
			})
		}
		failed := func() (out []string) {
			list, err := db.Read().FailedRuns(t.Context(), "ws_1", now.Add(-day))
			if err != nil {
				t.Fatal(err)
			}
			return ids(list)
		}
		end("ws_1", "evl_1", "run_1", state.RunFailed, now)
		end("ws_2", "evl_3", "run_2", state.RunFailed, now)
		end("ws_1", "evl_2", "run_3", state.RunFailed, now.Add(-2*day))
		if got := failed(); !slices.Equal(got, []string{"run_1"}) {
			t.Errorf("failed: %v", got)
		}
		end("ws_1", "evl_1", "run_4", state.RunCancelled, now.Add(time.Hour))
		if got := failed(); !slices.Equal(got, []string{"run_1"}) {
			t.Errorf("after a cancelled run: %v", got)
		}
		end("ws_1", "evl_1", "run_5", state.RunDone, now.Add(2*time.Hour))
		if got := failed(); len(got) > 0 {
			t.Errorf("after a good run: %v", got)
		}
	})
}
