package reporter_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server/channel/event"
	"github.com/firstpick/firstpick/server/channel/reporter"
	"github.com/firstpick/firstpick/server/channel/trafficdb"
	"github.com/firstpick/firstpick/server/store/state"
	"github.com/firstpick/firstpick/server/store/state/statetest"
)

// TestNewWorkspacesAreNotTakenForGone lets workspaces begin while old events are
// dropped, and reports keep that waiting.
func TestNewWorkspacesAreNotTakenForGone(t *testing.T) {
	ctx, now, n := t.Context(), time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC), 100
	db := statetest.Open(t, statetest.Address(t, "sqlite"))
	events, err := trafficdb.Open(ctx, "")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = events.Close() }()
	var beside sync.WaitGroup
	done := make(chan struct{})
	until := func(step func() error) {
		beside.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				if err := step(); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	until(func() error { return reporter.DropExpired(ctx, db, events, now) })
	for range 4 {
		until(func() error { _, err := events.Recent(ctx, "ws_0", now.AddDate(0, 0, -1), now); return err })
	}
	for i := range n {
		id := fmt.Sprint("ws_", i)
		if err := db.Write(ctx, func(tx *state.Tx) error {
			_, err := tx.AddWorkspace(ctx, &state.Workspace{ID: id, Slug: id, CreatedAt: now})
			return err
		}); err != nil {
			t.Fatal(err)
		}
		row := trafficdb.Row{Seq: int64(i + 1), Workspace: id, Record: event.Record{ID: "x", Type: event.Touch, At: now, ReceivedAt: now}}
		if err := events.Append(ctx, []trafficdb.Row{row}, row.Seq); err != nil {
			t.Fatal(err)
		}
	}
	close(done)
	beside.Wait()
	if left, err := events.Workspaces(ctx); err != nil || len(left) != n {
		t.Errorf("%d of %d workspaces have their events: %v", len(left), n, err)
	}
}

// TestRestoredStore tells a read model of a later state of the store from one
// that goes on.
func TestRestoredStore(t *testing.T) {
	ctx, now := t.Context(), time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	db := statetest.Open(t, statetest.Address(t, "sqlite"))
	events, err := trafficdb.Open(ctx, "")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = events.Close() }()
	for mark, want := range []bool{false, false, false, true} { // the store has two events
		if mark == 1 {
			if err := db.Write(ctx, func(tx *state.Tx) error {
				_, err := tx.AddEvents(ctx, []state.CollectedEvent{{WorkspaceID: "ws", ID: "a", ReceivedAt: now, Body: []byte("{}")}, {WorkspaceID: "ws", ID: "b", ReceivedAt: now, Body: []byte("{}")}})
				return err
			}); err != nil {
				t.Fatal(err)
			}
		}
		if err := events.Append(ctx, nil, int64(mark)); err != nil {
			t.Fatal(err)
		}
		if got, err := reporter.IsAhead(ctx, db, events); got != want || err != nil {
			t.Errorf("loaded up to %d: %v %v", mark, got, err)
		}
	}
}

// TestReadModelKeepsWhatTheStoreKeeps takes out of the read model what is older
// than each workspace keeps it.
func TestReadModelKeepsWhatTheStoreKeeps(t *testing.T) {
	ctx := t.Context()
	now := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	db := statetest.Open(t, statetest.Address(t, "sqlite"))
	for id, days := range map[string]int{"ws_short": 30, "ws_long": 365} {
		if err := db.Write(ctx, func(tx *state.Tx) error {
			if _, err := tx.AddWorkspace(ctx, &state.Workspace{ID: id, Slug: id, CreatedAt: now}); err != nil {
				return err
			}
			return tx.SetSettings(ctx, id, state.Settings{RetentionDays: days})
		}); err != nil {
			t.Fatal(err)
		}
	}
	events, err := trafficdb.Open(ctx, "")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = events.Close() }()
	var rows []trafficdb.Row
	for i, age := range []int{1, 29, 31, 364, 366} {
		for j, workspace := range []string{"ws_short", "ws_long", "ws_gone"} {
			at := now.AddDate(0, 0, -age)
			rows = append(rows, trafficdb.Row{
				Seq: int64(3*i + j + 1), Workspace: workspace, Record: event.Record{ID: at.Format(time.DateOnly), Type: event.Touch, At: at, ReceivedAt: at},
			})
		}
	}
	if err := events.Append(ctx, rows, int64(len(rows))); err != nil {
		t.Fatal(err)
	}
	if err := reporter.DropExpired(ctx, db, events, now); err != nil {
		t.Fatal(err)
	}
	all := trafficdb.Window{To: now.AddDate(1, 0, 0)}
	for workspace, want := range map[string]int{"ws_short": 2, "ws_long": 4, "ws_gone": 0} {
		n := 0
		for _, err := range events.Raw(ctx, workspace, all) {
			if err != nil {
				t.Fatal(err)
			}
			n++
		}
		if n != want {
			t.Errorf("%s has %d events, want %d", workspace, n, want)
		}
	}
}
