package state_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/firstpick/firstpick/server/store/state"
)

func putCatalog(t *testing.T, db *state.DB, workspace, text string, base, most int) (c *state.CatalogVersion, fresh bool, err error) {
	t.Helper()
	err = db.Write(t.Context(), func(tx *state.Tx) (err error) {
		c, fresh, err = tx.PutCatalog(t.Context(), &state.CatalogVersion{WorkspaceID: workspace, Source: []byte(text), Digest: "d " + text, CreatedAt: now, CreatedBy: "acc_1"}, base, most)
		return err
	})
	return c, fresh, err
}

// A change is of a version; another one since is a conflict, and versions never change.
func TestCatalogs(t *testing.T) {
	onBoth(t, func(t *testing.T, db *state.DB) {
		addWorkspace(t, db, "w")
		addWorkspace(t, db, "other")
		read := db.Read()
		if _, err := read.Catalog(t.Context(), "w"); !errors.Is(err, state.ErrNotFound) {
			t.Errorf("before the first: %v", err)
		}
		for i, step := range []struct {
			workspace, text string
			base, number    int
			fresh           bool
			err             error
		}{
			{"w", "one", 1, 0, false, state.ErrCatalogChanged},
			{"w", "one", 0, 1, true, nil},
			{"w", "one", 0, 1, false, nil},
			{"w", "two", 0, 0, false, state.ErrCatalogChanged},
			{"w", "two", 1, 2, true, nil},
			{"w", "one", state.AnyCatalog, 3, true, nil},
			{"other", "theirs", 0, 1, true, nil},
			{"nowhere", "x", 0, 0, false, state.ErrNotFound},
		} {
			c, fresh, err := putCatalog(t, db, step.workspace, step.text, step.base, 9)
			if !errors.Is(err, step.err) || fresh != step.fresh || err == nil && c.Number != step.number {
				t.Errorf("step %d: %+v, %v, %v", i, c, fresh, err)
			}
		}
		want := &state.CatalogVersion{WorkspaceID: "w", Number: 2, Source: []byte("two"), Digest: "d two", CreatedAt: now, CreatedBy: "acc_1"}
		if got, err := read.CatalogVersion(t.Context(), "w", 2); err != nil || !cmp.Equal(got, want) {
			t.Errorf("%v %s", err, cmp.Diff(want, got))
		}
		if _, err := read.CatalogVersion(t.Context(), "other", 2); !errors.Is(err, state.ErrNotFound) {
			t.Errorf("another workspace's: %v", err)
		}
		list, err := read.Catalogs(t.Context(), "w", 2)
		if err != nil || len(list) != 2 || list[0].Number != 3 || list[1].Number != 2 || list[0].Source != nil {
			t.Errorf("%v %+v", err, list)
		}
	})
}

// A run keeps the version that was current when it was started, and that version stays.
func TestRunsKeepTheirCatalog(t *testing.T) {
	onBoth(t, func(t *testing.T, db *state.DB) {
		addWorkspace(t, db, "w")
		putEval(t, db, &state.Eval{ID: "e1", WorkspaceID: "w", Name: "ci", Latest: version("one")})
		start := func(id string) (r *state.EvalRun) {
			t.Helper()
			write(t, db, func(tx *state.Tx) (err error) {
				r, _, err = tx.AddRun(t.Context(), &state.EvalRun{ID: id, WorkspaceID: "w", EvalID: "e1", Version: 1, BudgetMicros: 1, CreatedAt: now}, 9)
				return err
			})
			return r
		}
		put := func(text string, want error) {
			t.Helper()
			if _, _, err := putCatalog(t, db, "w", text, state.AnyCatalog, 2); !errors.Is(err, want) {
				t.Fatalf("%s: %v", text, err)
			}
		}
		before := start("r0")
		put("one", nil)
		first := start("r1")
		put("two", nil)
		put("three", state.ErrTooManyCatalogs) // the other one is of a run, and the current one stays
		if before.Catalog != 0 || first.Catalog != 1 {
			t.Errorf("%d, %d", before.Catalog, first.Catalog)
		}
		if r := start("r2"); r.Catalog != 2 {
			t.Errorf("%+v", r)
		}
		if got, err := db.Read().Run(t.Context(), "w", "r1"); err != nil || got.Catalog != 1 {
			t.Errorf("%+v, %v", got, err)
		}
		write(t, db, func(tx *state.Tx) error { return tx.RequestErasure(t.Context(), state.EraseRun, "r1", now) })
		write(t, db, func(tx *state.Tx) error {
			done, err := tx.EraseRows(t.Context(), state.Erasure{Kind: state.EraseRun, Subject: "r1", RequestedAt: now}, "aud_1", now.Add(time.Second))
			if !done {
				t.Error("not erased")
			}
			return err
		})
		put("three", nil)
		if _, err := db.Read().CatalogVersion(t.Context(), "w", 1); !errors.Is(err, state.ErrNotFound) {
			t.Errorf("the oldest version without a run: %v", err)
		}
	})
}
