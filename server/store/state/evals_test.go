package state_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/firstpick/firstpick/server/store/state"
)

// version is what an eval may say; text is its source and digest.
func version(text string) state.EvalVersion {
	return state.EvalVersion{Source: []byte(text), Digest: text, Summary: []byte(`{"trials":3}`), CreatedAt: now, CreatedBy: "acc_1"}
}

// ample is room for what a test stores.
var ample = state.EvalCap{Evals: 9, Versions: 9}

func putEval(t *testing.T, db *state.DB, e *state.Eval) (stored *state.Eval, fresh bool) {
	t.Helper()
	write(t, db, func(tx *state.Tx) (err error) {
		stored, fresh, err = tx.PutEval(t.Context(), e, ample)
		return err
	})
	return stored, fresh
}

// An eval gets a version when it says something else, and keeps those before; it
// is its workspace's alone.
func TestEvals(t *testing.T) {
	onBoth(t, func(t *testing.T, db *state.DB) {
		addWorkspace(t, db, "w")
		addWorkspace(t, db, "other")
		v := version("one")
		want := &state.Eval{ID: "e1", WorkspaceID: "w", Name: "ci", CreatedAt: now, UpdatedAt: now, Latest: v}
		want.Latest.Number = 1
		if got, fresh := putEval(t, db, &state.Eval{ID: "e1", WorkspaceID: "w", Name: "ci", Latest: v}); !fresh || !cmp.Equal(got, want) {
			t.Errorf("%v %s", fresh, cmp.Diff(want, got))
		}
		v.Source, v.CreatedAt = []byte("one, in other words"), now.Add(time.Hour)
		if got, fresh := putEval(t, db, &state.Eval{ID: "e2", WorkspaceID: "w", Name: "ci", Latest: v}); fresh || !cmp.Equal(got, want) {
			t.Errorf("the same again: %v %s", fresh, cmp.Diff(want, got))
		}
		v = version("two")
		v.CreatedAt = now.Add(2 * time.Hour)
		want.UpdatedAt, want.Latest = v.CreatedAt, v
		want.Latest.Number = 2
		if got, fresh := putEval(t, db, &state.Eval{ID: "e3", WorkspaceID: "w", Name: "ci", Latest: v}); !fresh || !cmp.Equal(got, want) {
			t.Errorf("another: %v %s", fresh, cmp.Diff(want, got))
		}
		if got, fresh := putEval(t, db, &state.Eval{ID: "e4", WorkspaceID: "w", Name: "ci", Latest: version("one")}); !fresh || got.ID != "e1" || got.Latest.Number != 3 {
			t.Errorf("back to the first: %v %+v", fresh, got)
		}
		if got, fresh := putEval(t, db, &state.Eval{ID: "e5", WorkspaceID: "other", Name: "ci", Latest: version("one")}); !fresh || got.ID != "e5" || got.Latest.Number != 1 {
			t.Errorf("another workspace: %v %+v", fresh, got)
		}
		if got, err := db.Read().EvalVersion(t.Context(), "w", "e1", 2); err != nil || !cmp.Equal(*got, want.Latest) {
			t.Errorf("%+v, %v", got, err)
		}
		_, foreign := db.Read().Eval(t.Context(), "other", "e1")
		_, foreignVersion := db.Read().EvalVersion(t.Context(), "other", "e1", 1)
		_, noVersion := db.Read().EvalVersion(t.Context(), "w", "e1", 4)
		nowhere := db.Write(t.Context(), func(tx *state.Tx) error {
			_, _, err := tx.PutEval(t.Context(), &state.Eval{ID: "e6", WorkspaceID: "none", Name: "ci", Latest: version("one")}, ample)
			return err
		})
		for _, err := range []error{foreign, foreignVersion, noVersion, nowhere} {
			if !errors.Is(err, state.ErrNotFound) {
				t.Error(err)
			}
		}
	})
}

// A workspace keeps as many evals and versions as it may; what is there already
// can be sent again.
func TestEvalsCap(t *testing.T) {
	onBoth(t, func(t *testing.T, db *state.DB) {
		addWorkspace(t, db, "w")
		put := func(name, text string) error {
			return db.Write(t.Context(), func(tx *state.Tx) error {
				_, _, err := tx.PutEval(t.Context(), &state.Eval{ID: name, WorkspaceID: "w", Name: name, Latest: version(text)}, state.EvalCap{Evals: 1, Versions: 2})
				return err
			})
		}
		for _, c := range []struct {
			name, text string
			want       error
		}{{"a", "one", nil}, {"b", "one", state.ErrTooManyEvals}, {"a", "two", nil}, {"a", "three", state.ErrTooManyVersions}, {"a", "two", nil}} {
			if err := put(c.name, c.text); !errors.Is(err, c.want) {
				t.Errorf("%s %s: %v, want %v", c.name, c.text, err, c.want)
			}
		}
	})
}

// Evals are listed by name, page by page, without their sources.
func TestEvalsPages(t *testing.T) {
	onBoth(t, func(t *testing.T, db *state.DB) {
		for _, w := range []string{"w", "other"} {
			addWorkspace(t, db, w)
			for _, name := range []string{"c", "a", "e", "b", "d"} {
				putEval(t, db, &state.Eval{ID: w + name, WorkspaceID: w, Name: name, Latest: version(name)})
			}
		}
		var pages []string
		for after := ""; ; {
			list, err := db.Read().Evals(t.Context(), "w", after, 2)
			if err != nil {
				t.Fatal(err)
			}
			if len(list) == 0 {
				break
			}
			page := ""
			for _, e := range list {
				if e.Latest.Source != nil || e.Latest.Digest != e.Name || string(e.Latest.Summary) != `{"trials":3}` {
					t.Errorf("%+v", e)
				}
				page, after = page+" "+e.ID, e.Name
			}
			pages = append(pages, page)
		}
		if want := []string{" wa wb", " wc wd", " we"}; !cmp.Equal(pages, want) {
			t.Errorf("%q", pages)
		}
	})
}
