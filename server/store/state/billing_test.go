package state_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/firstpick/firstpick/server/store/state"
)

// A subscription pays for the workspace that it names, else for the one that it was
// bought for, and for no other.
func TestStanding(t *testing.T) {
	onBoth(t, func(t *testing.T, db *state.DB) {
		for _, id := range []string{"named", "bought", "other"} {
			addWorkspace(t, db, id)
		}
		for _, c := range []struct {
			named, bought string
			pays          bool
			want          string
		}{
			{"", "", true, ""},
			{"named", "", true, "named"},
			{"", "bought", true, "bought"},
			{"named", "bought", true, "named"},
			{"named", "bought", false, ""},
			{"gone", "bought", true, ""},
		} {
			at := state.StatusEvent{At: now.Truncate(time.Second), Rank: 3, Event: "evt_1"}
			want := state.Subscription{ID: "sub_1", NamedID: c.named, BoughtID: c.bought, Status: "active", Pays: c.pays, Latest: at}
			write(t, db, func(tx *state.Tx) error {
				if _, err := tx.Subscription(t.Context(), "sub_1"); err != nil {
					return err
				}
				if err := tx.SaveSubscription(t.Context(), &want); err != nil {
					return err
				}
				got, err := tx.Subscription(t.Context(), "sub_1")
				if diff := cmp.Diff(&want, got); diff != "" {
					t.Error(diff)
				}
				return err
			})
			for _, id := range []string{"named", "bought", "other"} {
				if s, err := db.Read().PlanState(t.Context(), id); err != nil || s.Pays != (id == c.want) || s.Plan != state.PlanFree || s.OperatorPlan != "" || !s.OperatorPlanAt.IsZero() || (s.Due() == state.PlanPaid) != s.Pays {
					t.Errorf("%+v: %s stands %+v, %v", c, id, s, err)
				}
			}
			list, err := db.Read().AllWorkspaces(t.Context())
			if err != nil || len(list) != 3 {
				t.Fatalf("%+v, %v", list, err)
			}
			for _, w := range list {
				if w.Subscribed != (w.ID == c.want) {
					t.Errorf("%+v: %s is listed as %v", c, w.ID, w.Subscribed)
				}
			}
		}
		if _, err := db.Read().PlanState(t.Context(), "none"); !errors.Is(err, state.ErrNotFound) {
			t.Error(err)
		}
	})
}

// Many that tell of one subscription at a time do so one after another.
func TestSubscriptionsAreLocked(t *testing.T) {
	onBoth(t, func(t *testing.T, db *state.DB) {
		atOnce(8, func(i int) {
			if err := db.Write(t.Context(), func(tx *state.Tx) error {
				s, err := tx.Subscription(t.Context(), "sub_1")
				if err != nil {
					return err
				}
				s.Latest.Rank++
				return tx.SaveSubscription(t.Context(), s)
			}); err != nil {
				t.Error(i, err)
			}
		})
		write(t, db, func(tx *state.Tx) error {
			s, err := tx.Subscription(t.Context(), "sub_1")
			if err == nil && s.Latest.Rank != 8 {
				t.Errorf("%+v", s)
			}
			return err
		})
	})
}

func TestTheOrderOfTellings(t *testing.T) {
	at := func(second, rank int, event string) state.StatusEvent {
		return state.StatusEvent{At: now.Add(time.Duration(second) * time.Second), Rank: rank, Event: event}
	}
	order := []state.StatusEvent{{}, at(0, 0, "a"), at(0, 0, "b"), at(0, 1, "a"), at(1, 0, "a")}
	for i, a := range order {
		for j, b := range order {
			if a.After(b) != (i > j) {
				t.Errorf("%+v after %+v: %v", a, b, a.After(b))
			}
		}
	}
}

// What an operator says is stored with its time, and lists count what is there.
func TestAllWorkspaces(t *testing.T) {
	onBoth(t, func(t *testing.T, db *state.DB) {
		for i := range 2 {
			addEval(t, db, fmt.Sprint("w", i))
		}
		for i := range 3 {
			if _, _, err := addRun(t, db, queued(fmt.Sprint("r", i), "w1", i), 3); err != nil {
				t.Fatal(err)
			}
		}
		claim(t, db, "worker", now.Add(time.Minute))
		write(t, db, func(tx *state.Tx) error {
			_, err := tx.RequestCancel(t.Context(), "w1", "r2", now)
			return err
		})
		said := now.Add(time.Hour).Truncate(time.Microsecond)
		write(t, db, func(tx *state.Tx) error {
			if err := tx.SetOperatorPlan(t.Context(), "none", state.PlanFree, said); !errors.Is(err, state.ErrNotFound) {
				t.Error(err)
			}
			return errors.Join(tx.SetOperatorPlan(t.Context(), "w0", state.PlanFree, said), tx.SetPlanOf(t.Context(), "w0", state.PlanFree))
		})
		if s, err := db.Read().PlanState(t.Context(), "w0"); err != nil || cmp.Diff(state.PlanState{Plan: state.PlanFree, OperatorPlan: state.PlanFree, OperatorPlanAt: said}, s) != "" {
			t.Errorf("%+v, %v", s, err)
		}
		list, err := db.Read().AllWorkspaces(t.Context())
		if err != nil || len(list) != 2 {
			t.Fatalf("%+v, %v", list, err)
		}
		var got []string
		for _, w := range list {
			got = append(got, fmt.Sprint(w.Slug, " ", w.Plan, " ", w.OperatorPlan, " ", w.State(now), " ", w.Evals, " ", w.Queued, " ", w.Open))
		}
		if diff := cmp.Diff([]string{"w0 free free claimed 1 0 0", "w1 paid  claimed 1 1 2"}, got); diff != "" {
			t.Error(diff)
		}
	})
}
