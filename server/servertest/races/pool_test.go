package races

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server/auth/registrations"
	"github.com/firstpick/firstpick/server/auth/trust"
	"github.com/firstpick/firstpick/server/servertest"
	"github.com/firstpick/firstpick/server/store/identity"
	"github.com/firstpick/firstpick/server/store/state"
	"github.com/firstpick/firstpick/server/store/state/statetest"
)

// onPostgres starts a server, and watches its database.
func onPostgres(t *testing.T) (*servertest.Service, *sql.DB) {
	t.Helper()
	address := statetest.Address(t, "postgres")
	s := servertest.New(t, servertest.Options{State: address, Limits: true})
	return s, statetest.Watch(t, address)
}

// The owner of an account that an issuer made signs in while all that the issuer vouched for
// is revoked: the agent's registration moves to the person's account, and is revoked too.
func TestAPersonSignsInWhileAnIssuerIsRemoved(t *testing.T) {
	s, watch := onPostgres(t)
	ctx, db, now := t.Context(), s.Agents.DB, s.Clock.Now()
	const iss = "https://gone.example"
	if err := s.Agents.AddIssuer(ctx, nil, trust.Issuer{ISS: iss}); err != nil {
		t.Fatal(err)
	}
	if err := db.Write(ctx, func(tx *state.Tx) error {
		for i := 1; i <= 2; i++ {
			id := fmt.Sprint(i)
			if err := errors.Join(
				tx.AddAccount(ctx, &state.Account{ID: "acc_" + id, Email: "p" + id + "@example.com", AssertedBy: iss, CreatedAt: now}),
				tx.AddRegistration(ctx, &identity.Registration{
					ID: "reg_" + id, Kind: identity.IdentityAssertion, AccountID: "acc_" + id, Email: "p" + id + "@example.com", ISS: iss, Sub: id, Aud: "aud",
					Generation: 1, CreatedAt: now, ClaimExpires: now.Add(time.Hour), ClaimedAt: now,
				}),
				tx.SaveDelegation(ctx, &state.Delegation{ISS: iss, Sub: id, AccountID: "acc_" + id, CreatedAt: now}),
			); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	locked, over := make(chan struct{}), make(chan error, 1)
	go func() {
		<-locked
		_, err := s.Agents.RemoveIssuer(ctx, nil, iss, true)
		over <- err
	}()
	if err := db.Write(ctx, func(tx *state.Tx) error {
		if _, err := tx.Registration(ctx, "reg_1"); err != nil { // the first revocation waits
			return err
		}
		close(locked)
		if err := statetest.UntilBlocked(watch, 1, func() bool { return len(over) > 0 }); err != nil {
			return err
		}
		// p2 signs in for the first time meanwhile, in another transaction.
		_, err := s.Agents.SignInProvider(ctx, caller(), registrations.ProviderUser{ISS: "https://login.example", Sub: "p2", Email: "p2@example.com", Verified: true}, "test")
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if err := <-over; err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"reg_1", "reg_2"} {
		r, err := db.Read().Registration(ctx, id)
		if err != nil || r.RevokedAt.IsZero() {
			t.Errorf("%s of the removed issuer is live, of %s: %v", id, r.AccountID, err)
		}
	}
}

// As many security events of one issuer at once as the pool has connections: each transaction
// waits for the one before with a connection, and that one needs a second to name the issuer.
func TestManyEventsAtOnce(t *testing.T) {
	s, watch := onPostgres(t)
	ctx, db, now := t.Context(), s.Agents.DB, s.Clock.Now()
	const n = 16 // pgConns
	var events []string
	for i := range n {
		sub := fmt.Sprint("leaver-", i)
		if err := db.Write(ctx, func(tx *state.Tx) error {
			return errors.Join(
				tx.AddAccount(ctx, &state.Account{ID: "acc_" + sub, Email: sub + "@example.com", VerifiedAt: now, CreatedAt: now}),
				tx.SaveDelegation(ctx, &state.Delegation{ISS: s.IdP.URL, Sub: sub, AccountID: "acc_" + sub, CreatedAt: now, ReviewedAt: now}),
			)
		}); err != nil {
			t.Fatal(err)
		}
		events = append(events, s.IdP.Event(s.Agents.Resource(), sub))
	}
	// One event before, so that keys are cached and the counter of the issuer has a row.
	if err := s.Agents.Notify(ctx, caller(), s.IdP.Event(s.Agents.Resource(), "nobody")); err != nil {
		t.Fatal(err)
	}
	hold, err := watch.BeginTx(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := hold.Exec("lock table counter in share mode"); err != nil { // every Take waits
		t.Fatal(err)
	}
	var all sync.WaitGroup
	var mu sync.Mutex
	var failed []error
	for _, e := range events {
		all.Go(func() {
			if err := s.Agents.Notify(ctx, caller(), e); err != nil {
				mu.Lock()
				failed = append(failed, err)
				mu.Unlock()
			}
		})
	}
	if err := statetest.UntilBlocked(watch, n, func() bool { return false }); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if err := hold.Rollback(); err != nil {
		t.Fatal(err)
	}
	// Anybody else meanwhile:
	ping, stop := context.WithTimeout(ctx, time.Minute)
	defer stop()
	if err := db.Ping(ping); err != nil {
		t.Errorf("the store does not respond: %v after %v", err, time.Since(began))
	}
	all.Wait()
	if took := time.Since(began); took > 5*time.Second || len(failed) > 0 {
		t.Errorf("%d events took %v; %d failed: %v", n, took, len(failed), errors.Join(failed...))
	}
}

// With a second owner, a workspace goes on when an operator disables the first.
func TestADisabledOwnerOfTwo(t *testing.T) {
	s, _ := onPostgres(t)
	ctx, db, now := t.Context(), s.Agents.DB, s.Clock.Now()
	if err := db.Write(ctx, func(tx *state.Tx) error {
		_, err := tx.AddWorkspace(ctx, &state.Workspace{ID: "ws_1", Slug: "two", OwnerID: "acc_a", Plan: state.PlanPaid, CreatedAt: now, ClaimedAt: now})
		return errors.Join(err,
			tx.AddAccount(ctx, &state.Account{ID: "acc_a", Email: "a@example.com", VerifiedAt: now, CreatedAt: now}),
			tx.AddAccount(ctx, &state.Account{ID: "acc_b", Email: "b@example.com", VerifiedAt: now, CreatedAt: now}),
			tx.PutMember(ctx, "ws_1", "acc_b", identity.Owner, now),
			tx.AddCollectorKey(ctx, &state.CollectorKey{ID: "key_1", Hash: []byte("h"), WorkspaceID: "ws_1", Kind: "secret", CreatedBy: "acc_b"}),
		)
	}); err != nil {
		t.Fatal(err)
	}
	if err := s.Agents.SetDisabled(ctx, "a@example.com", true); err != nil {
		t.Fatal(err)
	}
	w, err := db.Read().Workspace(ctx, "ws_1")
	if err != nil || w.OwnerID != "acc_b" {
		t.Errorf("the mail goes to %s, %v", w.OwnerID, err)
	}
	if _, _, err := db.Read().CollectorKeyByHash(ctx, []byte("h")); err != nil {
		t.Errorf("the collector key: %v", err)
	}
}
