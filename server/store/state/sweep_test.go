package state_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server/store/state"
	"github.com/firstpick/firstpick/server/store/state/statetest"
)

func TestSweep(t *testing.T) {
	onBoth(t, func(t *testing.T, db *state.DB) {
		fill(t, db)
		for i := range 2500 { // more than one batch
			write(t, db, func(tx *state.Tx) error {
				_, err := tx.UseOnce(t.Context(), "set", "iss", strconv.Itoa(i), now.Add(-2*time.Hour))
				return err
			})
		}
		if n, err := db.Sweep(t.Context(), now.Add(-time.Hour)); err != nil || n != 2504 { // token, sign-in, session and workspace have no times here
			t.Errorf("%d rows went, %v", n, err)
		}
		if _, err := db.Sweep(t.Context(), now.Add(1000*24*time.Hour)); err != nil {
			t.Error(err)
		}
		if log, err := db.Read().AuditLog(t.Context(), state.AuditFilter{Limit: 10}); err != nil || len(log) != 0 {
			t.Errorf("%v, %v", log, err)
		}
	})
}

// A subject is revoked while Sweep is about to delete its row, which was not revoked
// when Sweep looked. SQLite's writers never meet like this.
func TestSweepOfARowThatChanges(t *testing.T) {
	address := statetest.Address(t, "postgres")
	db := statetest.Open(t, address)
	watch := statetest.Watch(t, address)
	lock := func() (until time.Time) {
		write(t, db, func(tx *state.Tx) (err error) {
			until, err = tx.LockSubject(t.Context(), "iss", "sub")
			return err
		})
		return until
	}
	lock()
	revoked, swept := make(chan struct{}), make(chan error, 1)
	go func() {
		<-revoked
		_, err := db.Sweep(t.Context(), now)
		swept <- err
	}()
	write(t, db, func(tx *state.Tx) error {
		if err := tx.RevokeSubject(t.Context(), "iss", "sub", now); err != nil {
			return err
		}
		close(revoked)
		return statetest.UntilBlocked(watch, 1, func() bool { return len(swept) > 0 })
	})
	if err := <-swept; err != nil {
		t.Error(err)
	}
	if until := lock(); !until.Equal(now) {
		t.Errorf("assertions are void until %v, want %v", until, now)
	}
}
