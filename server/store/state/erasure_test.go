package state_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server/store/identity"
	"github.com/firstpick/firstpick/server/store/state"
	"github.com/firstpick/firstpick/server/store/state/statetest"
)

// names are all texts by which the filled workspace and account are known.
var names = []string{"ws_1", "acme-slug", "acme.example", "reg_1", "acc_1", "dana", "+491234567", "evl_1", "secret-eval", "run_1", "whk_1"}

// fillForErasure fills every table, with a workspace of an account and traces of both in
// the audit log, mails and sign-in links; and a second workspace, which must stay.
func fillForErasure(t *testing.T, db *state.DB) {
	t.Helper()
	ctx := t.Context()
	fill(t, db)
	write(t, db, func(tx *state.Tx) error {
		_, err := tx.AddWorkspace(ctx, &state.Workspace{ID: "other", Slug: "stays", OwnerID: "acc_2", Plan: "free", CreatedAt: now, ClaimedAt: now})
		_, taken := tx.AddEvents(ctx, []state.CollectedEvent{
			{WorkspaceID: "ws_1", ID: "e2", ReceivedAt: now, Body: []byte(`{"host":"acme.example"}`)},
			{WorkspaceID: "other", ID: "e3", ReceivedAt: now, Body: []byte(`{"host":"stays.example"}`)},
		})
		for i := range 300 { // so many that whole pages of the file become free
			if _, err := tx.AddEvents(ctx, []state.CollectedEvent{{
				WorkspaceID: "ws_1", ID: fmt.Sprint("many", i), ReceivedAt: now, Body: []byte(`{"host":"acme.example","path":"` + strings.Repeat("/x", 300) + `"}`),
			}}); err != nil {
				return err
			}
		}
		_, _, put := tx.PutEval(ctx, &state.Eval{ID: "evl_2", WorkspaceID: "ws_1", Name: "secret-eval", Latest: version("two")}, ample)
		_, _, stays := tx.PutEval(ctx, &state.Eval{ID: "evl_3", WorkspaceID: "other", Name: "kept", Latest: version("three")}, ample)
		_, err2 := tx.AddBillingEvent(ctx, "evt_2", "paid", now)
		return errors.Join(err, taken, put, stays, err2,
			tx.ClaimWorkspace(ctx, "ws_1", "acc_1", now),
			tx.SetSettings(ctx, "ws_1", state.Settings{Name: "Dana's shop", Site: "https://acme.example", RetentionDays: 30}),
			tx.AddMail(ctx, "m2", []byte(`{"to":"dana@example.com","text":"/workspaces/acme-slug"}`), now),
			tx.AddMail(ctx, "m3", []byte(`{"to":"kim@example.com"}`), now),
			tx.Audit(ctx, state.AuditEntry{ID: "aud_2", At: now, Event: "key.created", WorkspaceID: "ws_1", AccountID: "acc_1", RegistrationID: "reg_1", IP: "203.0.113.9", Detail: map[string]string{"key": "dana"}}),
			tx.Audit(ctx, state.AuditEntry{ID: "aud_3", At: now, Event: "eval.stored", WorkspaceID: "ws_1", Detail: map[string]string{"eval": "evl_1"}}),
		)
	})
}

// erase carries out what was requested, as the service does.
func erase(t *testing.T, db *state.DB, at time.Time) (waiting int) {
	t.Helper()
	ctx := t.Context()
	open, err := db.Read().Erasures(ctx, true)
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range open {
		if e.ErasedAt.IsZero() {
			if e.Kind == state.EraseWorkspace {
				if err := db.DropWorkspaceEvents(ctx, e.Subject); err != nil {
					t.Fatal(err)
				}
			}
			write(t, db, func(tx *state.Tx) error {
				done, err := tx.EraseRows(ctx, e, "aud_e"+string(rune('a'+i))+e.Mark[:8], at)
				if !done {
					waiting++
				}
				return err
			})
		}
	}
	if err := db.Scrub(ctx); err != nil {
		t.Fatal(err)
	}
	return waiting
}

func TestErasure(t *testing.T) {
	for _, engine := range statetest.Engines() {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			ctx, address := t.Context(), statetest.Address(t, engine)
			db := statetest.Open(t, address)
			fillForErasure(t, db)
			if found, rows, err := db.Search(ctx, names); err != nil || rows < 35 || len(found) < 20 {
				t.Fatalf("before: %d places in %d rows, %v", len(found), rows, err)
			}
			write(t, db, func(tx *state.Tx) error { return tx.RequestErasure(ctx, state.EraseAccount, "acc_1", now) })
			if _, _, err := db.Read().CollectorKeyByHash(ctx, []byte("k")); !errors.Is(err, state.ErrNotFound) {
				t.Errorf("its key works after the request: %v", err)
			}
			if n := erase(t, db, now.Add(time.Minute)); n != 0 {
				t.Errorf("%d wait", n)
			}
			found, _, err := db.Search(ctx, names)
			if err != nil || len(found) > 0 {
				t.Errorf("after: %+v, %v", found, err)
			}
			if _, err := db.Read().Workspace(ctx, "other"); err != nil {
				t.Error("another workspace is gone:", err)
			}
			found, _, err = db.Search(ctx, []string{"stays.example", "kim@example.com", "evl_3"})
			if err != nil || len(found) != 4 {
				t.Errorf("of others only %+v, %v", found, err)
			}
			log, err := db.Read().AuditLog(ctx, state.AuditFilter{Limit: 100})
			if err != nil || len(log) < 5 {
				t.Errorf("%+v, %v", log, err)
			}
			for _, e := range log {
				if e.IP != "" || e.ID == "aud_3" && len(e.Detail) > 0 {
					t.Errorf("%+v", e)
				}
			}
			searchFiles(t, address, names)
		})
	}
}

// searchFiles searches the bytes of a SQLite store and its log.
func searchFiles(t *testing.T, address string, names []string) {
	t.Helper()
	file, sqlite := strings.CutPrefix(address, "sqlite://")
	if !sqlite {
		return
	}
	for _, path := range []string{file, file + "-wal", file + "-shm"} {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		data = bytes.ReplaceAll(data, []byte("sqlite_autoindex_eval_run_1"), nil) // an index, not the run
		for _, name := range names {
			if at := bytes.Index(data, []byte(name)); at >= 0 {
				t.Errorf("%s holds %q at byte %d", path, name, at)
			}
		}
	}
}

// TestErasureWaitsForRuns: rows of a run that a worker has stay until it ends or its lease
// does.
func TestErasureWaitsForRuns(t *testing.T) {
	onBoth(t, func(t *testing.T, db *state.DB) {
		fillForErasure(t, db)
		ctx := t.Context()
		var run *state.EvalRun
		write(t, db, func(tx *state.Tx) (err error) {
			run, err = tx.ClaimRun(ctx, "worker", now, time.Minute)
			return err
		})
		write(t, db, func(tx *state.Tx) error { return tx.RequestErasure(ctx, state.EraseEval, "evl_1", now) })
		if n := erase(t, db, now.Add(time.Second)); n != 1 {
			t.Fatal("erased under the worker")
		}
		write(t, db, func(tx *state.Tx) error {
			o, err := tx.RenewLease(ctx, run.Lease(), now.Add(time.Second), time.Minute, state.RunProgress{})
			if !o.Cancel {
				t.Error("the worker is not told to stop")
			}
			return errors.Join(err, tx.FinishRun(ctx, run.Lease(), now.Add(2*time.Second), state.RunOutcome{Status: state.RunCancelled, Bundle: "b1"}))
		})
		if n := erase(t, db, now.Add(3*time.Second)); n != 0 {
			t.Fatal("waits for a run that ended")
		}
		kinds := map[string]int{}
		all, err := db.Read().Erasures(ctx, false)
		for _, e := range all {
			kinds[e.Kind]++
		}
		if err != nil || kinds["eval"] != 1 || kinds["run"] != 1 || kinds["bundle"] != 1 {
			t.Errorf("%v, %v", kinds, err)
		}
		if found, _, err := db.Search(ctx, []string{"evl_1", "run_1"}); err != nil || len(found) > 0 {
			t.Errorf("%+v, %v", found, err)
		}
		if found, _, err := db.Search(ctx, []string{"evl_2"}); err != nil || len(found) == 0 {
			t.Errorf("the other eval is gone: %v", err)
		}
	})
}

// TestRestoreAppliesTheErasureList: a backup from before an erasure does not bring back what
// was erased.
func TestRestoreAppliesTheErasureList(t *testing.T) {
	for _, engine := range statetest.Engines() {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			db := statetest.Open(t, statetest.Address(t, "sqlite"))
			fillForErasure(t, db)
			var file bytes.Buffer
			if _, err := db.Backup(ctx, &file); err != nil {
				t.Fatal(err)
			}
			write(t, db, func(tx *state.Tx) error { return tx.RequestErasure(ctx, state.EraseAccount, "acc_1", now) })
			erase(t, db, now.Add(time.Minute))
			list, err := db.Read().Erasures(ctx, false)
			if err != nil {
				t.Fatal(err)
			}
			address := statetest.Address(t, engine)
			restored := statetest.Open(t, address)
			if _, err := restored.Restore(ctx, &file); err != nil {
				t.Fatal(err)
			}
			if !restored.RestoredFrom(db.ID()) || restored.ID() == db.ID() || db.RestoredFrom(restored.ID()) {
				t.Errorf("ids %s and %s", db.ID(), restored.ID())
			}
			if n, ownerless, err := restored.ApplyErasures(ctx, list, now); err != nil || n < 2 || len(ownerless) > 0 {
				t.Fatalf("%d applied, %v, %v", n, ownerless, err)
			}
			erase(t, restored, now.Add(time.Minute))
			if found, _, err := restored.Search(ctx, names); err != nil || len(found) > 0 {
				t.Errorf("%+v, %v", found, err)
			}
			if _, err := restored.Read().Workspace(ctx, "other"); err != nil {
				t.Error("another workspace is gone:", err)
			}
			searchFiles(t, address, names)
			again := statetest.Open(t, address)
			if again.ID() != restored.ID() || !again.RestoredFrom(db.ID()) {
				t.Error("the id of a store changed")
			}
		})
	}
}

// TestRestoreBeforeATransfer: a workspace that was given away after the backup stays, without
// its owner of then, who is erased; the other members keep their roles.
func TestRestoreBeforeATransfer(t *testing.T) {
	for _, engine := range statetest.Engines() {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			db := statetest.Open(t, statetest.Address(t, "sqlite"))
			fillForErasure(t, db)
			write(t, db, func(tx *state.Tx) error { return tx.PutMember(ctx, "ws_1", "acc_9", identity.Viewer, now) })
			var file bytes.Buffer
			if _, err := db.Backup(ctx, &file); err != nil {
				t.Fatal(err)
			}
			write(t, db, func(tx *state.Tx) error {
				return errors.Join(tx.PutMember(ctx, "ws_1", "acc_9", identity.Owner, now), tx.RequestErasure(ctx, state.EraseAccount, "acc_1", now))
			})
			erase(t, db, now.Add(time.Minute))
			list, err := db.Read().Erasures(ctx, false)
			if err != nil {
				t.Fatal(err)
			}
			restored := statetest.Open(t, statetest.Address(t, engine))
			if _, err := restored.Restore(ctx, &file); err != nil {
				t.Fatal(err)
			}
			if _, ownerless, err := restored.ApplyErasures(ctx, list, now); err != nil || len(ownerless) != 1 || ownerless[0] != "slug" {
				t.Fatalf("%v, %v", ownerless, err)
			}
			erase(t, restored, now.Add(time.Minute))
			w, err := restored.Read().Workspace(ctx, "ws_1")
			if err != nil || w.OwnerID != "" {
				t.Fatalf("%+v, %v", w, err)
			}
			if members, err := restored.Read().Members(ctx, "ws_1"); err != nil || len(members) != 1 || members[0].AccountID != "acc_9" || members[0].Role != identity.Viewer {
				t.Errorf("%+v, %v", members, err)
			}
			if found, _, err := restored.Search(ctx, []string{"acc_1", "dana@"}); err != nil || len(found) > 0 {
				t.Errorf("%+v, %v", found, err)
			}
		})
	}
}

// TestRequestErasureOfNothing: what does not exist cannot be erased.
func TestRequestErasureOfNothing(t *testing.T) {
	onBoth(t, func(t *testing.T, db *state.DB) {
		for _, kind := range []string{state.EraseAccount, state.EraseWorkspace, state.EraseEval, state.EraseRun} {
			err := db.Write(context.Background(), func(tx *state.Tx) error { return tx.RequestErasure(t.Context(), kind, "nothing", now) })
			if !errors.Is(err, state.ErrNotFound) {
				t.Errorf("%s: %v", kind, err)
			}
		}
	})
}
