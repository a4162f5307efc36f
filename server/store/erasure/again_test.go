package erasure_test

import (
	"crypto/rand"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server/kit/secret"
	"github.com/firstpick/firstpick/server/store/erasure"
	"github.com/firstpick/firstpick/server/store/state"
	"github.com/firstpick/firstpick/server/store/state/statetest"
)

func TestMain(m *testing.M) { statetest.Main(m) }

// The results of a run have an id by their content. A run that was erased and pushed again has
// the same: the erasure that was carried out must not delete them.
func TestARunIsPushedAgainAfterItsErasure(t *testing.T) {
	ctx, now, data := t.Context(), time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC), t.TempDir()
	db := statetest.Open(t, statetest.Address(t, "postgres"))
	bundle := filepath.Join(data, "bundles", "w", "B")
	pushed := func(id string) {
		t.Helper()
		if err := db.Write(ctx, func(tx *state.Tx) error {
			_, _, err := tx.AddRun(ctx, &state.EvalRun{ID: id, WorkspaceID: "w", EvalID: "e", Version: 1, CreatedAt: now, Origin: state.OriginPushed}, 9)
			if err != nil {
				return err
			}
			r, err := tx.ClaimRun(ctx, "worker", now, time.Minute)
			if err != nil {
				return err
			}
			return errors.Join(os.MkdirAll(bundle, 0o755), tx.FinishRun(ctx, r.Lease(), now, state.RunOutcome{Status: state.RunDone, Bundle: "B"}))
		}); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Write(ctx, func(tx *state.Tx) error {
		_, err := tx.AddWorkspace(ctx, &state.Workspace{ID: "w", Slug: "w", Plan: "paid", CreatedAt: now})
		_, _, put := tx.PutEval(ctx, &state.Eval{ID: "e", WorkspaceID: "w", Name: "ci", Latest: state.EvalVersion{Digest: "d", Summary: []byte("{}"), CreatedAt: now}}, state.EvalCap{Evals: 9, Versions: 9})
		return errors.Join(err, put)
	}); err != nil {
		t.Fatal(err)
	}
	server := func() *erasure.Service {
		return &erasure.Service{
			DB: db, List: erasure.List(filepath.Join(data, erasure.ListFile)), Folders: erasure.Folders{Bundles: filepath.Join(data, "bundles")},
			Secrets: secret.Source{Rand: rand.Reader}, Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return now },
		}
	}
	pushed("run_1")
	s := server()
	if err := s.Request(ctx, state.EraseRun, "run_1"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Work(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(bundle); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("not erased: %v", err)
	}
	pushed("run_2")                               // the same run
	if _, err := server().Work(ctx); err != nil { // of the next start of a server
		t.Fatal(err)
	}
	if r, err := db.Read().Run(ctx, "w", "run_2"); err != nil || r.Bundle != "B" {
		t.Fatal(r, err)
	}
	if _, err := os.Stat(bundle); err != nil {
		t.Errorf("the results of run_2, which nobody erased: %v", err)
	}
}
