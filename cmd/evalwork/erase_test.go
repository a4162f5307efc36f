package evalwork_test

import (
	"context"
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/firstpick/firstpick/cmd/evalwork"
	"github.com/firstpick/firstpick/publish/storage"
	"github.com/firstpick/firstpick/runner/provider/providertest"
	"github.com/firstpick/firstpick/server/kit/secret"
	"github.com/firstpick/firstpick/server/store/erasure"
	"github.com/firstpick/firstpick/server/store/state"
)

// bucket is the shared place of bundles.
type bucket struct{ storage.Store }

func (b bucket) Names(ctx context.Context) (out []string, err error) {
	list, err := b.List(ctx, "")
	for _, f := range list {
		out = append(out, f.Name)
	}
	return out, err
}

func (w *world) erasures() *erasure.Service {
	return &erasure.Service{
		DB: w.db, List: erasure.List(filepath.Join(w.worker.Data, erasure.ListFile)), Secrets: secret.Source{Rand: rand.Reader},
		Log: w.worker.Log, Now: time.Now,
		Folders: erasure.Folders{Journals: filepath.Join(w.worker.Data, "evals"), Bundles: w.worker.Bundles, Work: filepath.Join(w.worker.Data, "work"), Bucket: bucket{w.worker.Shared}},
	}
}

// TestAnErasedRunLeavesNoFiles: journals, raw answers, results and their shared copies go
// with a run; those of another run stay.
func TestAnErasedRunLeavesNoFiles(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		f := fake(t, providertest.Always(answered()))
		gone := w.queue(asked(3, model("gone-agent", f.URL)), 1)
		w.start()
		w.ended(gone)
		kept := w.queue(asked(3, model("kept-agent", f.URL)), 1)
		w.ended(kept)
		search := func(texts ...string) []erasure.FileFind {
			t.Helper()
			found, err := erasure.SearchFiles(t.Context(), []string{w.worker.Data}, texts)
			if err != nil || len(found.Failed) > 0 {
				t.Fatal(err, found.Failed)
			}
			return found.Finds
		}
		if before := search(gone, "gone-agent"); len(before) < 4 {
			t.Fatalf("before: %+v", before)
		}
		s := w.erasures()
		if err := s.Request(t.Context(), state.EraseRun, gone); err != nil {
			t.Fatal(err)
		}
		if n, err := s.Work(t.Context()); n != 0 || err != nil {
			t.Fatal(n, err)
		}
		if after := search(gone, "gone-agent"); len(after) > 0 {
			t.Errorf("after: %+v", after)
		}
		if len(search(kept, "kept-agent")) < 4 {
			t.Error("the files of another run are gone")
		}
		w.results(w.run(kept))
	})
}

// TestARunIsStoppedBeforeItIsErased: rows stay while its worker has it, and nothing comes
// back afterwards.
func TestARunIsStoppedBeforeItIsErased(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		g := newGate(2)
		f := fake(t, g.script)
		id := w.queue(asked(50, model("gone-agent", f.URL)), 1)
		w.start()
		<-g.waiting
		s := w.erasures()
		if err := s.Request(t.Context(), state.EraseRun, id); err != nil {
			t.Fatal(err)
		}
		if n, err := s.Work(t.Context()); n != 1 || err != nil {
			t.Fatalf("erased under its worker: %d %v", n, err)
		}
		close(g.open)
		w.ended(id)
		if n, err := s.Work(t.Context()); n != 0 || err != nil {
			t.Fatal(n, err)
		}
		if _, err := os.Stat(filepath.Join(evalwork.RunsRoot(w.worker.Data, workspaceID), id)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("its files: %v", err)
		}
	})
}

// TestAWorkerThatLostAnErasedRun removes what it wrote of it.
func TestAWorkerThatLostAnErasedRun(t *testing.T) {
	w := newWorld(t, "sqlite")
	g := newGate(2)
	f := fake(t, g.script)
	id := w.queue(asked(50, model("gone-agent", f.URL)), 1)
	stop := w.start()
	<-g.waiting
	w.write(func(tx *state.Tx) error { return tx.RequestErasure(t.Context(), state.EraseRun, id, time.Now()) })
	open, err := w.db.Read().Erasures(t.Context(), true)
	if err != nil || len(open) != 1 {
		t.Fatal(open, err)
	}
	w.write(func(tx *state.Tx) error { // an hour later its lease is over
		done, err := tx.EraseRows(t.Context(), open[0], "aud_x", time.Now().Add(time.Hour))
		if !done {
			t.Error("the rows stay")
		}
		return err
	})
	close(g.open)
	stop()
	if _, err := os.Stat(filepath.Join(evalwork.RunsRoot(w.worker.Data, workspaceID), id)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("its files: %v", err)
	}
}
