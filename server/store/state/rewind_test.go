package state_test

import (
	"errors"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server/store/state"
	"github.com/firstpick/firstpick/server/store/state/statetest"
)

// TestRewind: what a clock that was ahead by a year had leased or put off is due again, its
// holder has lost it, and what level clocks set stays.
func TestRewind(t *testing.T) {
	for _, engine := range statetest.Engines() {
		t.Run(engine, func(t *testing.T) {
			ctx, db, ahead := t.Context(), statetest.Open(t, statetest.Address(t, engine)), now.AddDate(1, 0, 0)
			rewind := func(want int64) {
				t.Helper()
				if n, err := db.Rewind(ctx, now); n != want || err != nil {
					t.Errorf("%d rows, %v; want %d", n, err, want)
				}
			}
			enqueue(t, db, map[string]int{"a": 1})
			rewind(0)
			first := claim(t, db, "ahead", ahead)
			if first == nil || claim(t, db, "level", now) != nil {
				t.Fatal("the lease holds nothing up: the test proves nothing")
			}
			write(t, db, func(tx *state.Tx) error {
				return errors.Join(tx.AddMail(ctx, "m", []byte("{}"), ahead), tx.SavePickWatch(ctx, "a", &state.PickWatch{Tool: "acme", Since: now}), func() error {
					_, err := tx.ClaimPicks(ctx, "a", ahead, ahead.Add(time.Minute))
					return err
				}())
			})
			rewind(3)
			second := claim(t, db, "level", now)
			if second == nil || second.Attempt != first.Attempt+1 {
				t.Fatalf("%+v", second)
			}
			if _, err := beat(t, db, first.Lease(), ahead, lease, first.RunProgress); !errors.Is(err, state.ErrLeaseLost) {
				t.Errorf("the worker whose clock was ahead renews: %v", err)
			}
			if err := finish(t, db, first.Lease(), state.RunOutcome{Status: state.RunDone}); !errors.Is(err, state.ErrLeaseLost) {
				t.Errorf("the worker whose clock was ahead ends the run: %v", err)
			}
			rewind(0)
			if _, err := beat(t, db, second.Lease(), now, lease, second.RunProgress); err != nil {
				t.Errorf("a level lease: %v", err)
			}
			if due, err := db.Read().DuePicks(ctx, now, now, 9); len(due) != 1 || err != nil {
				t.Errorf("%v %v", due, err)
			}
			write(t, db, func(tx *state.Tx) error {
				m, err := tx.ClaimMail(ctx, now, time.Minute)
				if err == nil && m == nil {
					t.Error("the mail waits for next year")
				}
				return err
			})
			if err := finish(t, db, second.Lease(), state.RunOutcome{Status: state.RunDone}); err != nil {
				t.Error(err)
			}
			if claim(t, db, "ahead", ahead) != nil || claim(t, db, "level", now) != nil {
				t.Error("an ended run is claimed again")
			}
		})
	}
}
