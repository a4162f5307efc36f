package state_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/firstpick/firstpick/server/store/state"
	"github.com/firstpick/firstpick/server/store/state/statetest"
)

const lease = time.Minute

func claim(t *testing.T, db *state.DB, owner string, at time.Time) (r *state.EvalRun) {
	t.Helper()
	if err := db.Write(t.Context(), func(tx *state.Tx) (err error) {
		r, err = tx.ClaimRun(t.Context(), owner, at, lease)
		return err
	}); err != nil {
		t.Error(err)
	}
	return r
}

func beat(t *testing.T, db *state.DB, l state.RunLease, at time.Time, length time.Duration, p state.RunProgress) (cancel bool, err error) {
	t.Helper()
	err = db.Write(t.Context(), func(tx *state.Tx) (err error) {
		order, err := tx.RenewLease(t.Context(), l, at, length, p)
		cancel = order.Cancel
		return err
	})
	return cancel, err
}

func finish(t *testing.T, db *state.DB, l state.RunLease, o state.RunOutcome) error {
	t.Helper()
	return db.Write(t.Context(), func(tx *state.Tx) error { return tx.FinishRun(t.Context(), l, now.Add(day), o) })
}

// enqueue adds runs to workspaces, all of one before those of the next.
func enqueue(t *testing.T, db *state.DB, runs map[string]int) {
	t.Helper()
	at := 0
	for _, w := range slices.Sorted(maps.Keys(runs)) {
		addEval(t, db, w)
		write(t, db, func(tx *state.Tx) error {
			for i := range runs[w] {
				if _, _, err := tx.AddRun(t.Context(), queued(fmt.Sprint(w, i), w, at+i), runs[w]); err != nil {
					return err
				}
			}
			return nil
		})
		at += runs[w]
	}
}

// atOnce runs f for each of n workers at the same time.
func atOnce(n int, f func(worker int)) {
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { f(i) })
	}
	all.Wait()
}

// A thousand runs, the most by who came first: at every moment the workspaces
// that have work have had the same share since they have it, and each run is
// taken once.
func TestTheQueueIsFair(t *testing.T) {
	onBoth(t, func(t *testing.T, db *state.DB) {
		left := map[string]int{"a": 700, "b": 200, "c": 100}
		enqueue(t, db, left)
		taken, share, total := map[string]bool{}, map[string]int{}, 0
		for len(left) > 0 {
			var runs [2]*state.EvalRun
			atOnce(2, func(worker int) { runs[worker] = claim(t, db, fmt.Sprint("worker", worker), now) })
			emptied := false
			for _, r := range runs {
				if r == nil || taken[r.ID] || r.Attempt != 1 || r.Status != state.RunRunning {
					t.Fatalf("after %d: %+v", len(taken), r)
				}
				taken[r.ID] = true
				share[r.WorkspaceID]++
				total++
				if left[r.WorkspaceID]--; left[r.WorkspaceID] == 0 {
					delete(left, r.WorkspaceID)
					emptied = true
				}
			}
			atOnce(2, func(worker int) {
				if err := finish(t, db, runs[worker].Lease(), state.RunOutcome{Status: state.RunDone}); err != nil {
					t.Error(err)
				}
			})
			if emptied {
				share, total = map[string]int{}, 0
				continue
			}
			fair := float64(total) / float64(len(left))
			for w := range left {
				if off := float64(share[w]) - fair; max(off, -off) > max(1, fair/10) {
					t.Fatalf("after %d: %s has %d of %d, of %d workspaces with work", len(taken), w, share[w], total, len(left))
				}
			}
		}
		if got := claim(t, db, "worker0", now.Add(day)); got != nil || len(taken) != 1000 {
			t.Errorf("%d taken, and then %+v", len(taken), got)
		}
	})
}

// The workspace with the fewest running runs is next, then the one whose turn is
// longest ago, whatever workers' clocks say.
func TestWhoIsNext(t *testing.T) {
	onBoth(t, func(t *testing.T, db *state.DB) {
		enqueue(t, db, map[string]int{"a": 4, "b": 3, "c": 1})
		leases := map[string]state.RunLease{}
		for _, step := range []struct {
			ended string // before
			skew  time.Duration
			want  string
		}{
			{want: "a0", skew: time.Hour},
			{want: "b0"},
			{want: "c0"},
			{want: "b1", ended: "b0"}, // a runs one
			{want: "a1", ended: "c0"}, // both run one, c has no more
			{want: "b2"},
			{want: "a2", ended: "a0"},
			{want: "a3"},
		} {
			if step.ended != "" {
				if err := finish(t, db, leases[step.ended], state.RunOutcome{Status: state.RunDone}); err != nil {
					t.Fatal(err)
				}
			}
			r := claim(t, db, "worker", now.Add(step.skew))
			if r == nil {
				t.Fatalf("nothing, not %s", step.want)
			}
			leases[r.ID] = r.Lease()
			if r.ID != step.want {
				t.Errorf("%s, not %s", r.ID, step.want)
			}
		}
	})
}

// Workers that claim and finish as fast as they can get each run once; those that
// somebody cancels meanwhile are cancelled, or are told so.
func TestManyWorkers(t *testing.T) {
	onBoth(t, func(t *testing.T, db *state.DB) {
		runs := map[string]int{"a": 60, "b": 30, "c": 30}
		enqueue(t, db, runs)
		var mu sync.Mutex
		took := map[string]int{}
		atOnce(10, func(worker int) {
			if worker >= 8 { // they cancel, in both directions
				for i := range 30 {
					if worker == 9 {
						i = 29 - i
					}
					if err := db.Write(t.Context(), func(tx *state.Tx) error {
						_, err := tx.RequestCancel(t.Context(), "b", fmt.Sprint("b", i), now)
						return err
					}); err != nil {
						t.Error(err)
					}
				}
				return
			}
			for r := claim(t, db, "same name", now); r != nil; r = claim(t, db, "same name", now) {
				mu.Lock()
				took[r.ID]++
				mu.Unlock()
				if _, err := beat(t, db, r.Lease(), now, lease, r.RunProgress); err != nil {
					t.Error(r.ID, err)
				}
				if r.WorkspaceID == "b" {
					continue // stays as it is
				}
				if err := finish(t, db, r.Lease(), state.RunOutcome{Status: state.RunDone}); err != nil {
					t.Error(r.ID, err)
				}
			}
		})
		for w, n := range runs {
			list, err := db.Read().Runs(t.Context(), w, state.RunFilter{}, 1000)
			if err != nil || len(list) != n {
				t.Fatalf("%d runs, %v", len(list), err)
			}
			for _, r := range list {
				want := state.RunDone
				if w == "b" && took[r.ID] == 1 {
					want = state.RunRunning
				} else if w == "b" {
					want = state.RunCancelled
				}
				cancelled := !r.CancelAsked.IsZero()
				if r.Status != want || took[r.ID] != r.Attempt || r.Attempt > 1 || cancelled != (w == "b") || r.EndedAt.IsZero() != (want == state.RunRunning) {
					t.Errorf("taken %d times: %+v", took[r.ID], r)
				}
			}
		}
	})
}

// A run whose worker is silent goes to another one, and the first can do no more
// to it.
func TestARunOutlivesItsWorker(t *testing.T) {
	onBoth(t, func(t *testing.T, db *state.DB) {
		enqueue(t, db, map[string]int{"a": 1})
		minute := func(n float64) time.Time { return now.Add(time.Duration(n * float64(time.Minute))) }
		first := claim(t, db, "one", now)
		half := state.RunProgress{Planned: 10, Valid: 4, Excluded: 1, SpentMicros: 70, AtMostMicros: 90, Worked: time.Second}
		if cancel, err := beat(t, db, first.Lease(), minute(.5), lease, half); cancel || err != nil {
			t.Fatal(cancel, err)
		}
		if r := claim(t, db, "two", minute(1.4)); r != nil {
			t.Fatalf("taken from a living worker: %+v", r)
		}
		if cancel, err := beat(t, db, first.Lease(), minute(1.6), lease, half); cancel || err != nil { // late, but nobody took it
			t.Fatal(cancel, err)
		}
		var mu sync.Mutex
		var second *state.EvalRun
		atOnce(8, func(int) {
			if r := claim(t, db, "one", minute(2.6)); r != nil {
				mu.Lock()
				defer mu.Unlock()
				if second != nil {
					t.Error("taken twice")
				}
				second = r
			}
		})
		if second == nil {
			t.Fatal("not taken")
		}
		want := *first
		want.Attempt, want.LeaseUntil, want.RunProgress = 2, minute(3.6), half
		if !cmp.Equal(second, &want) {
			t.Error(cmp.Diff(&want, second))
		}
		if _, err := beat(t, db, first.Lease(), minute(2.7), lease, half); !errors.Is(err, state.ErrLeaseLost) {
			t.Errorf("the first still beats: %v", err)
		}
		if err := finish(t, db, first.Lease(), state.RunOutcome{Status: state.RunFailed}); !errors.Is(err, state.ErrLeaseLost) {
			t.Errorf("the first still finishes: %v", err)
		}
		giveBack := func(l state.RunLease) error {
			return db.Write(t.Context(), func(tx *state.Tx) error { return tx.ReleaseRun(t.Context(), l, minute(3), half, "") })
		}
		if err := giveBack(second.Lease()); err != nil {
			t.Fatal(err)
		}
		third := claim(t, db, "three", minute(3))
		if err := giveBack(second.Lease()); !errors.Is(err, state.ErrLeaseLost) {
			t.Errorf("the second gives back what is not its: %v", err)
		}
		if third == nil || third.Attempt != 3 || third.Tries() != 2 {
			t.Fatalf("given back: %+v", third)
		}
		if err := finish(t, db, third.Lease(), state.RunOutcome{Status: state.RunQueued}); err == nil {
			t.Error("a run ended as queued")
		}
		all := state.RunProgress{Planned: 10, Valid: 9, Excluded: 1, SpentMicros: 150, AtMostMicros: 150, Worked: time.Hour}
		if err := finish(t, db, third.Lease(), state.RunOutcome{Status: state.RunDone, RunProgress: all, Bundle: "runs/a0"}); err != nil {
			t.Fatal(err)
		}
		want.Status, want.EndedAt, want.LeaseOwner, want.LeaseUntil, want.Attempt, want.GivenBack = state.RunDone, now.Add(day), "three", time.Time{}, 3, 1
		want.RunProgress, want.Bundle = all, "runs/a0"
		if got, err := db.Read().Run(t.Context(), "a", "a0"); err != nil || !cmp.Equal(got, &want) {
			t.Errorf("%v %s", err, cmp.Diff(&want, got))
		}
		if err := finish(t, db, third.Lease(), state.RunOutcome{Status: state.RunFailed}); !errors.Is(err, state.ErrLeaseLost) {
			t.Errorf("ended twice: %v", err)
		}
		write(t, db, func(tx *state.Tx) error {
			got, err := tx.RequestCancel(t.Context(), "a", "a0", now)
			if !cmp.Equal(got, &want) {
				t.Errorf("cancelled after its end: %s", cmp.Diff(&want, got))
			}
			return err
		})
	})
}

// A worker that is about to take a run while somebody cancels it takes the next.
// SQLite's writers never meet like this.
func TestARunCancelledWhileItIsTaken(t *testing.T) {
	address := statetest.Address(t, "postgres")
	db := statetest.Open(t, address)
	enqueue(t, db, map[string]int{"a": 2})
	watch := statetest.Watch(t, address)
	cancelled, taken := make(chan struct{}), make(chan *state.EvalRun, 1)
	go func() {
		<-cancelled
		taken <- claim(t, db, "worker", now)
	}()
	write(t, db, func(tx *state.Tx) error {
		if _, err := tx.RequestCancel(t.Context(), "a", "a0", now); err != nil {
			return err
		}
		close(cancelled)
		return statetest.UntilBlocked(watch, 1, func() bool { return len(taken) > 0 })
	})
	if r := <-taken; r == nil || r.ID != "a1" {
		t.Errorf("%+v", r)
	}
}

// A queued run is cancelled at once; a running one when its worker says so, or
// the worker after it. The queue's depth and lag tell of all.
func TestCancelAndStats(t *testing.T) {
	onBoth(t, func(t *testing.T, db *state.DB) {
		enqueue(t, db, map[string]int{"a": 3})
		stats := func(at time.Duration, want state.QueueStats) {
			t.Helper()
			if got, err := db.Read().QueueStats(t.Context(), now.Add(at)); err != nil || got != want {
				t.Errorf("%+v, %v; want %+v", got, err, want)
			}
		}
		cancel := func(workspace, id, want string) error {
			return db.Write(t.Context(), func(tx *state.Tx) error {
				r, err := tx.RequestCancel(t.Context(), workspace, id, now)
				if err == nil && (r.Status != want || r.CancelAsked.IsZero()) {
					t.Errorf("%+v", r)
				}
				return err
			})
		}
		stats(time.Second, state.QueueStats{Queued: 3, OldestWait: time.Second})
		r := claim(t, db, "one", now)
		if err := errors.Join(cancel("a", "a0", state.RunRunning), cancel("a", "a1", state.RunCancelled)); err != nil {
			t.Fatal(err)
		}
		if err := cancel("b", "a2", ""); !errors.Is(err, state.ErrNotFound) {
			t.Errorf("another workspace cancels: %v", err)
		}
		stats(time.Second, state.QueueStats{Queued: 1, Running: 1, OldestWait: time.Second - 2*time.Microsecond})
		if told, err := beat(t, db, r.Lease(), now, lease, r.RunProgress); !told || err != nil {
			t.Errorf("the worker is not told: %v", err)
		}
		if got := claim(t, db, "two", now); got == nil || got.ID != "a2" {
			t.Errorf("%+v", got)
		}
		stats(lease+time.Second, state.QueueStats{Abandoned: 2, OldestWait: time.Second})
		again := claim(t, db, "two", now.Add(lease))
		if again == nil || again.ID != "a0" || again.CancelAsked.IsZero() || again.Attempt != 2 {
			t.Fatalf("%+v", again)
		}
		if err := finish(t, db, again.Lease(), state.RunOutcome{Status: state.RunCancelled}); err != nil {
			t.Fatal(err)
		}
		stats(time.Second, state.QueueStats{Running: 1})
		if got := claim(t, db, "three", now.Add(2*lease)); got == nil || got.ID != "a2" {
			t.Errorf("a cancelled run came back: %+v", got)
		}
	})
}
