package state_test

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/firstpick/firstpick/server/store/state"
)

func addWorkspace(t *testing.T, db *state.DB, id string) {
	t.Helper()
	write(t, db, func(tx *state.Tx) error {
		_, err := tx.AddWorkspace(t.Context(), &state.Workspace{ID: id, Slug: id, Plan: "free", CreatedAt: now})
		return err
	})
}

func receive(t *testing.T, db *state.DB, workspace string, at time.Time, backfill bool) {
	t.Helper()
	write(t, db, func(tx *state.Tx) error {
		_, err := tx.AddEvents(t.Context(), []state.CollectedEvent{{WorkspaceID: workspace, ID: at.String(), ReceivedAt: at, Backfill: backfill, Body: []byte("{}")}})
		return err
	})
}

const day = 24 * time.Hour

// A workspace is due when live events came lately and nobody looked for a while;
// what was backfilled is no sign of life.
func TestWatches(t *testing.T) {
	onBoth(t, func(t *testing.T, db *state.DB) {
		for _, id := range []string{"live", "old", "filled", "silent"} {
			addWorkspace(t, db, id)
		}
		for back := range 10 {
			receive(t, db, "live", now.Add(-time.Duration(back)*day), false)
		}
		receive(t, db, "live", now.Add(time.Minute), true)
		receive(t, db, "old", now.Add(-11*day), false)
		receive(t, db, "filled", now, true)
		due := func(at time.Time) []string {
			list, err := db.Read().DueWatches(t.Context(), at, 10)
			if err != nil {
				t.Fatal(err)
			}
			return list
		}
		take := func(at time.Time) (w *state.Watch) {
			write(t, db, func(tx *state.Tx) (err error) {
				w, err = tx.ClaimWatch(t.Context(), "live", at, at.Add(5*time.Minute), time.Hour)
				return err
			})
			return w
		}
		if got := due(now); !cmp.Equal(got, []string{"live"}) {
			t.Errorf("due: %q", got)
		}
		want := &state.Watch{FirstAt: now.Add(-9 * day), LastAt: now, Days: 7, Since: now}
		if got := take(now); !cmp.Equal(got, want) {
			t.Errorf("%+v", got)
		}
		if got := take(now.Add(time.Minute)); got != nil || len(due(now.Add(time.Minute))) != 0 {
			t.Errorf("taken twice: %+v", got)
		}
		if got := take(now.Add(6 * time.Minute)); !cmp.Equal(got, want) {
			t.Errorf("%+v", got)
		}
		want.Since = now.Add(3 * time.Hour)
		if got := take(now.Add(3 * time.Hour)); !cmp.Equal(got, want) {
			t.Errorf("after a pause: %+v", got)
		}
	})
}

// Of servers that look at once, one gets the workspace; an alert is stored once
// until it is over.
func TestAlertsAreToldOnce(t *testing.T) {
	onBoth(t, func(t *testing.T, db *state.DB) {
		addWorkspace(t, db, "w")
		receive(t, db, "w", now, false)
		var taken, told atomic.Int32
		var all sync.WaitGroup
		for i := range 16 {
			all.Go(func() {
				if err := db.Write(t.Context(), func(tx *state.Tx) error {
					w, err := tx.ClaimWatch(t.Context(), "w", now, now.Add(time.Minute), time.Hour)
					if w != nil {
						taken.Add(1)
					}
					return err
				}); err != nil {
					t.Error(err)
				}
				var added bool
				if err := db.Write(t.Context(), func(tx *state.Tx) (err error) {
					added, err = tx.AddAlert(t.Context(), &state.Alert{ID: fmt.Sprint(i), WorkspaceID: "w", What: "x", At: now, Summary: "s", Body: []byte("{}")}, "subject", now)
					return err
				}); err != nil {
					t.Error(err)
				}
				if added {
					told.Add(1)
				}
			})
		}
		all.Wait()
		if taken.Load() != 1 || told.Load() != 1 {
			t.Errorf("taken %d times, told %d times", taken.Load(), told.Load())
		}
		list, err := db.Read().OpenAlerts(t.Context(), "w")
		if want := []state.OpenAlert{{What: "x", Subject: "subject", At: now, SeenAt: now}}; err != nil || !cmp.Equal(list, want) {
			t.Errorf("%+v, %v", list, err)
		}
		later := list[0]
		later.SeenAt = now.Add(time.Hour)
		write(t, db, func(tx *state.Tx) error { return tx.ConfirmAlert(t.Context(), "w", later) })
		write(t, db, func(tx *state.Tx) error { return tx.EndAlert(t.Context(), "w", list[0]) }) // it was seen since
		if list, err := db.Read().OpenAlerts(t.Context(), "w"); err != nil || !cmp.Equal(list, []state.OpenAlert{later}) {
			t.Errorf("%+v, %v", list, err)
		}
		write(t, db, func(tx *state.Tx) error { return tx.EndAlert(t.Context(), "w", later) })
		write(t, db, func(tx *state.Tx) error {
			added, err := tx.AddAlert(t.Context(), &state.Alert{ID: "again", WorkspaceID: "w", What: "x", At: now.Add(time.Hour), Body: []byte("{}")}, "subject", now)
			if !added {
				t.Error("not told again when it was over")
			}
			return err
		})
		alerts, err := db.Read().Alerts(t.Context(), "w", 10)
		if err != nil || len(alerts) != 2 || alerts[0].ID != "again" || alerts[1].Summary != "s" || string(alerts[1].Body) != "{}" {
			t.Errorf("%+v, %v", alerts, err)
		}
	})
}

func TestAlertChannels(t *testing.T) {
	onBoth(t, func(t *testing.T, db *state.DB) {
		addWorkspace(t, db, "w")
		want := &state.AlertChannel{
			ID: "c1", WorkspaceID: "w", URL: "https://acme.dev/hook", Secret: "whsec_1", OldSecret: "whsec_0", OldUntil: now.Add(day),
			CreatedAt: now, FailingSince: now.Add(time.Hour), PausedAt: now.Add(2 * time.Hour),
		}
		write(t, db, func(tx *state.Tx) error { return tx.AddChannel(t.Context(), want) })
		want.Secret, want.OldSecret, want.PausedAt = "whsec_2", "", time.Time{}
		write(t, db, func(tx *state.Tx) error { return tx.SaveChannel(t.Context(), want) })
		if got, err := db.Read().Channels(t.Context(), "w"); err != nil || !cmp.Equal(got, []*state.AlertChannel{want}) {
			t.Errorf("%+v, %v", got, err)
		}
		if _, err := db.Read().Channel(t.Context(), "other", "c1"); !errors.Is(err, state.ErrNotFound) {
			t.Errorf("another workspace's channel: %v", err)
		}
		if _, err := db.Read().Channels(t.Context(), "none"); !errors.Is(err, state.ErrNotFound) {
			t.Error(err)
		}
		for _, on := range []bool{false, false, true, true} {
			write(t, db, func(tx *state.Tx) error { return tx.SetAlertMail(t.Context(), "w", on, now) })
			if got, err := db.Read().AlertMail(t.Context(), "w"); got != on || err != nil {
				t.Errorf("mail is %v, %v", got, err)
			}
		}
		if err := db.Write(t.Context(), func(tx *state.Tx) error { return tx.DropChannel(t.Context(), "other", "c1") }); !errors.Is(err, state.ErrNotFound) {
			t.Error(err)
		}
		write(t, db, func(tx *state.Tx) error { return tx.DropChannel(t.Context(), "w", "c1") })
		if got, err := db.Read().Channels(t.Context(), "w"); len(got) != 0 || err != nil {
			t.Errorf("%+v, %v", got, err)
		}
	})
}

// Deliveries are taken one by one per channel, oldest first, by whoever comes,
// and again when the taker dies.
func TestDeliveriesAreTakenOnce(t *testing.T) {
	onBoth(t, func(t *testing.T, db *state.DB) {
		addWorkspace(t, db, "w")
		write(t, db, func(tx *state.Tx) error {
			for _, c := range []string{"c1", "c2"} {
				if err := tx.AddChannel(t.Context(), &state.AlertChannel{ID: c, WorkspaceID: "w", URL: "u", Secret: "s"}); err != nil {
					return err
				}
				for i := range 3 {
					if err := tx.AddDelivery(t.Context(), &state.Delivery{
						ID: fmt.Sprintf("%s-%d", c, i), WorkspaceID: "w", AlertID: "a", ChannelID: c, What: "x", Body: []byte("{}"),
						State: state.DeliveryPending, CreatedAt: now.Add(time.Duration(i)), NextAt: now.Add(time.Duration(i) * time.Second),
					}); err != nil {
						return err
					}
				}
			}
			return nil
		})
		at := now.Add(time.Minute)
		take := func() (out []string) {
			var mu sync.Mutex
			var all sync.WaitGroup
			for range 8 {
				all.Go(func() {
					var d *state.Delivery
					if err := db.Write(t.Context(), func(tx *state.Tx) (err error) {
						d, _, err = tx.ClaimDelivery(t.Context(), at, time.Minute)
						return err
					}); err != nil {
						t.Error(err)
					}
					if d != nil {
						mu.Lock()
						out = append(out, fmt.Sprint(d.ID, " ", d.Tries))
						mu.Unlock()
					}
				})
			}
			all.Wait()
			return out
		}
		if got := take(); len(got) != 2 || !has(got, "c1-0 1") || !has(got, "c2-0 1") {
			t.Errorf("%q", got)
		}
		write(t, db, func(tx *state.Tx) error {
			if err := tx.SaveDelivery(t.Context(), &state.Delivery{ID: "c1-0", State: state.Delivered, DoneAt: at, Tries: 1, Status: 200, Took: time.Second}); err != nil {
				return err
			}
			return tx.FreeChannel(t.Context(), "c1")
		})
		if got := take(); len(got) != 1 || !has(got, "c1-1 1") {
			t.Errorf("%q", got)
		}
		at = at.Add(time.Minute) // both leases are over
		if n, err := db.Read().DueDeliveries(t.Context(), at); n != 5 || err != nil {
			t.Errorf("%d due, %v", n, err)
		}
		if got := take(); len(got) != 2 || !has(got, "c1-2 1") || !has(got, "c2-1 1") { // those that wait longer go first
			t.Errorf("%q", got)
		}
		write(t, db, func(tx *state.Tx) error { return tx.EndDeliveries(t.Context(), "c2", "why", at) })
		list, err := db.Read().Deliveries(t.Context(), "w", 10)
		if err != nil || len(list) != 6 {
			t.Fatalf("%+v, %v", list, err)
		}
		for _, d := range list {
			switch {
			case d.ID == "c1-0" && (d.State != state.Delivered || d.Status != 200 || d.Took != time.Second),
				d.ChannelID == "c2" && (d.State != state.DeliveryFailed || d.Failure != "why"),
				d.ChannelID == "c1" && d.ID != "c1-0" && d.State != state.DeliveryPending:
				t.Errorf("%+v", d)
			}
		}
	})
}

func has(list []string, s string) bool {
	for _, l := range list {
		if l == s {
			return true
		}
	}
	return false
}
