package state_test

import (
	"testing"
	"time"

	"github.com/firstpick/firstpick/server/store/state"
	"github.com/firstpick/firstpick/server/store/state/statetest"
)

// An incomplete pushed run is announced again while it is erased. The new upload must not get
// the id that the erasure list names: files and rows of that id are deleted for ever.
func TestAnUploadAnnouncedWhileItIsErased(t *testing.T) {
	address := statetest.Address(t, "postgres")
	db := statetest.Open(t, address)
	watch := statetest.Watch(t, address)
	ctx := t.Context()
	addWorkspace(t, db, "w")
	putEval(t, db, &state.Eval{ID: "e1", WorkspaceID: "w", Name: "ci", Latest: version("one")})
	put := func(id string) (row *state.Upload, err error) {
		err = db.Write(ctx, func(tx *state.Tx) (err error) {
			row, _, err = tx.PutUpload(ctx, &state.Upload{
				ID: id, WorkspaceID: "w", EvalID: "e1", Version: 1, LocalRun: "local", Digest: "d", Files: []byte("[]"), Size: 1,
				CreatedAt: now, CreatedBy: "acc_1", ExpiresAt: now.Add(time.Hour),
			}, state.UploadCap{Bytes: 100, Open: 9})
			return err
		})
		return row, err
	}
	if _, err := put("run_1"); err != nil {
		t.Fatal(err)
	}
	erasing, over := make(chan struct{}), make(chan error, 1)
	var again *state.Upload
	go func() {
		<-erasing
		var err error
		again, err = put("run_2")
		over <- err
	}()
	write(t, db, func(tx *state.Tx) error { // as evals.Service.EraseRun does
		if err := tx.RequestErasure(ctx, state.EraseRun, "run_1", now); err != nil {
			return err
		}
		if done, err := tx.EraseRows(ctx, state.Erasure{Kind: state.EraseRun, Subject: "run_1", RequestedAt: now}, "aud_x", now); err != nil || !done {
			t.Error(done, err)
		}
		close(erasing)
		return statetest.UntilBlocked(watch, 1, func() bool { return len(over) > 0 })
	})
	if err := <-over; err != nil {
		t.Fatal(err)
	}
	list, err := db.Read().Erasures(ctx, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		if e.Mark == db.EraseMark(state.EraseRun, again.ID) {
			t.Errorf("the new upload has the id %s, which is erased", again.ID)
		}
	}
	// A restart of a server (erasure.Service.Work) applies the list: it erases the new upload's run.
	write(t, db, func(tx *state.Tx) error {
		_, _, err := tx.AddRun(ctx, &state.EvalRun{ID: again.ID, WorkspaceID: "w", EvalID: "e1", Version: 1, CreatedAt: now, Origin: state.OriginPushed}, 9)
		return err
	})
	if n, _, err := db.ApplyErasures(ctx, list, now); err != nil || n != 0 {
		t.Errorf("the next start of a server erases %d things that nobody asked to erase, %v", n, err)
	}
}
