package cli

import (
	"testing"
	"time"

	"github.com/firstpick/firstpick/server/event"
	"github.com/firstpick/firstpick/server/state"
	"github.com/firstpick/firstpick/server/state/statetest"
	"github.com/firstpick/firstpick/server/trafficdb"
)

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
	if err := dropExpired(ctx, db, events, now); err != nil {
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
