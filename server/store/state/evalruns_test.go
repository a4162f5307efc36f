package state_test

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/firstpick/firstpick/server/store/state"
)

// addEval gives a workspace of that name an eval of that name.
func addEval(t *testing.T, db *state.DB, name string) {
	t.Helper()
	write(t, db, func(tx *state.Tx) error {
		_, err := tx.AddWorkspace(t.Context(), &state.Workspace{ID: name, Slug: name, Plan: "paid", CreatedAt: now, ClaimedAt: now})
		return err
	})
	putEval(t, db, &state.Eval{ID: name, WorkspaceID: name, Name: name, Latest: version("one")})
}

// queued is a run of the eval of addEval, i microseconds after now.
func queued(id, workspace string, i int) *state.EvalRun {
	return &state.EvalRun{ID: id, WorkspaceID: workspace, EvalID: workspace, Version: 1, EvalName: "ci", Category: "payments", CreatedAt: now.Add(time.Duration(i) * time.Microsecond)}
}

func addRun(t *testing.T, db *state.DB, r *state.EvalRun, most int) (run *state.EvalRun, fresh bool, err error) {
	t.Helper()
	err = db.Write(t.Context(), func(tx *state.Tx) (err error) {
		run, fresh, err = tx.AddRun(t.Context(), r, most)
		return err
	})
	return run, fresh, err
}

func ids(runs []*state.EvalRun) (out []string) {
	for _, r := range runs {
		out = append(out, r.ID)
	}
	return out
}

func TestARunIsAddedOnce(t *testing.T) {
	onBoth(t, func(t *testing.T, db *state.DB) {
		addEval(t, db, "w")
		addEval(t, db, "other")
		r := queued("r1", "w", 0)
		r.BudgetMicros, r.IdempotencyKey, r.RequestHash, r.CreatedBy, r.Planned = 5_000_000, "again", []byte{1}, "key_1", 12
		want := *r
		want.Status = state.RunQueued
		first, fresh, err := addRun(t, db, r, 2)
		if err != nil || !fresh || !cmp.Equal(first, &want) {
			t.Fatalf("%v %v %s", fresh, err, cmp.Diff(&want, first))
		}
		if _, _, err := addRun(t, db, queued("r2", "w", 1), 2); err != nil {
			t.Fatal(err)
		}
		if _, _, err := addRun(t, db, queued("r3", "w", 2), 2); !errors.Is(err, state.ErrQueueFull) {
			t.Errorf("a third of two: %v", err)
		}
		r.ID = "r4"
		if again, fresh, err := addRun(t, db, r, 2); err != nil || fresh || !cmp.Equal(again, &want) {
			t.Errorf("the same request: %v %v %+v", fresh, err, again)
		}
		r.RequestHash = []byte{2}
		if _, _, err := addRun(t, db, r, 2); !errors.Is(err, state.ErrOtherRequest) {
			t.Errorf("another request: %v", err)
		}
		elsewhere := queued("r5", "other", 0)
		elsewhere.IdempotencyKey = "again"
		if _, fresh, err := addRun(t, db, elsewhere, 2); err != nil || !fresh {
			t.Errorf("the key of another workspace: %v %v", fresh, err)
		}
		foreign, unknown := queued("r6", "other", 0), queued("r7", "other", 0)
		foreign.EvalID, unknown.Version = "w", 2
		for _, r := range []*state.EvalRun{foreign, unknown, queued("r8", "none", 0)} {
			if _, _, err := addRun(t, db, r, 2); !errors.Is(err, state.ErrNotFound) {
				t.Errorf("%s: %v", r.ID, err)
			}
		}
		if got, err := db.Read().Run(t.Context(), "w", "r1"); err != nil || !cmp.Equal(got, &want) {
			t.Errorf("%+v, %v", got, err)
		}
		if _, err := db.Read().Run(t.Context(), "other", "r1"); !errors.Is(err, state.ErrNotFound) {
			t.Errorf("another workspace's run: %v", err)
		}
	})
}

// Of many who send one request at once, one makes a run, and all get it; no more
// runs are queued than may be.
func TestRunsAddedAtOnce(t *testing.T) {
	onBoth(t, func(t *testing.T, db *state.DB) {
		addEval(t, db, "w")
		var made, full atomic.Int32
		var all sync.WaitGroup
		var got [16]string
		for i := range 16 {
			all.Go(func() {
				r := queued(fmt.Sprint("same", i), "w", i)
				r.IdempotencyKey = "once"
				run, fresh, err := addRun(t, db, r, 5)
				if err != nil {
					t.Error(err)
					return
				}
				got[i] = run.ID
				if fresh {
					made.Add(1)
				}
			})
		}
		all.Wait()
		for i := range 16 {
			all.Go(func() {
				_, _, err := addRun(t, db, queued(fmt.Sprint("more", i), "w", i), 5)
				if errors.Is(err, state.ErrQueueFull) {
					full.Add(1)
				} else if err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if slices.Sort(got[:]); made.Load() != 1 || got[0] != got[15] {
			t.Errorf("%d made: %q", made.Load(), got)
		}
		if full.Load() != 12 {
			t.Errorf("%d of 16 refused, with one of five places taken", full.Load())
		}
	})
}

func TestRunsPages(t *testing.T) {
	onBoth(t, func(t *testing.T, db *state.DB) {
		addEval(t, db, "w")
		addEval(t, db, "other")
		putEval(t, db, &state.Eval{ID: "second", WorkspaceID: "w", Name: "second", Latest: version("one")})
		for i, at := range []int{0, 1, 1, 1, 2} { // three in one microsecond
			r := queued(fmt.Sprint("r", i), "w", at)
			if i == 2 {
				r.EvalID = "second"
			}
			for _, r := range []*state.EvalRun{r, queued(fmt.Sprint("o", i), "other", at)} {
				if _, _, err := addRun(t, db, r, 9); err != nil {
					t.Fatal(err)
				}
			}
		}
		write(t, db, func(tx *state.Tx) error { _, err := tx.RequestCancel(t.Context(), "w", "r4", now); return err })
		list := func(f state.RunFilter, limit int) []*state.EvalRun {
			runs, err := db.Read().Runs(t.Context(), "w", f, limit)
			if err != nil {
				t.Fatal(err)
			}
			return runs
		}
		var all []string
		for f := (state.RunFilter{}); ; {
			page := list(f, 2)
			if len(page) == 0 {
				break
			}
			all = append(all, ids(page)...)
			f.Before, f.BeforeID = page[len(page)-1].CreatedAt, page[len(page)-1].ID
		}
		if want := []string{"r4", "r3", "r2", "r1", "r0"}; !cmp.Equal(all, want) {
			t.Errorf("%q", all)
		}
		if got := ids(list(state.RunFilter{EvalID: "second"}, 9)); !cmp.Equal(got, []string{"r2"}) {
			t.Errorf("of one eval: %q", got)
		}
		if got := ids(list(state.RunFilter{EvalID: "w", Status: state.RunQueued}, 9)); !cmp.Equal(got, []string{"r3", "r1", "r0"}) {
			t.Errorf("queued: %q", got)
		}
	})
}

// Events of a run are numbered without a gap whoever tells them, and go some days
// after its end.
func TestRunEvents(t *testing.T) {
	onBoth(t, func(t *testing.T, db *state.DB) {
		addEval(t, db, "w")
		for i, id := range []string{"r1", "r2"} {
			if _, _, err := addRun(t, db, queued(id, "w", i), 9); err != nil {
				t.Fatal(err)
			}
		}
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				if err := db.Write(t.Context(), func(tx *state.Tx) error {
					return tx.AppendRunEvents(t.Context(), "r1", []state.RunEvent{{At: now, Body: fmt.Append(nil, i, "a")}, {At: now, Body: fmt.Append(nil, i, "b")}})
				}); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		events, err := db.Read().RunEventsAfter(t.Context(), "r1", 0, 100)
		if err != nil || len(events) != 16 {
			t.Fatalf("%+v, %v", events, err)
		}
		for i, e := range events {
			if e.Seq != int64(i)+1 || !e.At.Equal(now) || i%2 == 1 && string(e.Body) != string(events[i-1].Body[:1])+"b" {
				t.Errorf("%d: %d %s after %s", i, e.Seq, e.Body, events[max(0, i-1)].Body)
			}
		}
		if some, err := db.Read().RunEventsAfter(t.Context(), "r1", 5, 3); err != nil || !cmp.Equal(some, events[5:8]) {
			t.Errorf("%+v, %v", some, err)
		}
		if r, err := db.Read().Run(t.Context(), "w", "r1"); err != nil || r.LastEvent != 16 {
			t.Errorf("%+v, %v", r, err)
		}
		if err := db.Write(t.Context(), func(tx *state.Tx) error {
			return tx.AppendRunEvents(t.Context(), "none", []state.RunEvent{{At: now}})
		}); !errors.Is(err, state.ErrNotFound) {
			t.Error(err)
		}
		write(t, db, func(tx *state.Tx) error {
			if err := tx.AppendRunEvents(t.Context(), "r2", []state.RunEvent{{At: now, Body: []byte("{}")}}); err != nil {
				return err
			}
			_, err := tx.RequestCancel(t.Context(), "w", "r1", now.Add(day))
			return err
		})
		for _, c := range []struct {
			after time.Duration
			want  int
		}{{7 * day, 16}, {8*day + 1000, 0}} {
			if _, err := db.Sweep(t.Context(), now.Add(c.after)); err != nil {
				t.Fatal(err)
			}
			if events, err := db.Read().RunEventsAfter(t.Context(), "r1", 0, 100); err != nil || len(events) != c.want {
				t.Errorf("after %s: %d, %v", c.after, len(events), err)
			}
		}
		if events, err := db.Read().RunEventsAfter(t.Context(), "r2", 0, 100); err != nil || len(events) != 1 {
			t.Errorf("of a run that has not ended: %+v, %v", events, err)
		}
	})
}
