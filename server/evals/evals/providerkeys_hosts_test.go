package evals_test

import (
	"log/slog"
	"slices"
	"testing"
	"time"

	"crypto/rand"

	"github.com/firstpick/firstpick/server/evals/evals"
	"github.com/firstpick/firstpick/server/kit/secret"
	"github.com/firstpick/firstpick/server/store/identity"
	"github.com/firstpick/firstpick/server/store/state"
	"github.com/firstpick/firstpick/server/store/state/statetest"
)

// An editor stores a new value of a provider key while an owner takes a host from it. The host
// must not come back.
func TestAHostIsTakenFromAKeyThatChanges(t *testing.T) {
	address := statetest.Address(t, "postgres")
	now := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	w := &world{now: now}
	w.Service = &evals.Service{
		DB: statetest.Open(t, address), Secrets: secret.Source{Rand: rand.Reader}, Checker: checker{}, Log: slog.New(slog.DiscardHandler),
		Now: func() time.Time { return now }, BaseURL: "https://fp.example",
	}
	owner := w.workspace(t, "paid", "dana", state.PlanPaid)
	editor := evals.Actor{Workspace: owner.Workspace, By: "acc_kim", Role: identity.Editor}
	ctx := t.Context()
	if err := w.DB.Write(ctx, func(tx *state.Tx) error {
		return tx.PutMember(ctx, owner.Workspace.ID, "acc_kim", identity.Editor, now)
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.SetProviderKey(ctx, owner, evals.KeyChange{Name: "OPENAI_API_KEY", Value: "first-value", Hosts: []string{"api.openai.com", "gone.example"}}); err != nil {
		t.Fatal(err)
	}
	watch := statetest.Watch(t, address)
	bound, stored := make(chan struct{}), make(chan error, 1)
	go func() {
		<-bound
		_, err := w.SetProviderKey(ctx, editor, evals.KeyChange{Name: "OPENAI_API_KEY", Value: "second-value"}) // the hosts stay
		stored <- err
	}()
	if err := w.DB.Write(ctx, func(tx *state.Tx) error { // SetProviderKey by the owner, with hosts alone
		if err := tx.LockWorkspace(ctx, owner.Workspace.ID); err != nil {
			return err
		}
		if err := tx.BindProviderKey(ctx, owner.Workspace.ID, "OPENAI_API_KEY", []string{"api.openai.com"}, now); err != nil {
			return err
		}
		close(bound)
		return statetest.UntilBlocked(watch, 1, func() bool { return len(stored) > 0 })
	}); err != nil {
		t.Fatal(err)
	}
	if err := <-stored; err != nil {
		t.Fatal(err)
	}
	keys, err := w.ProviderKeys(ctx, owner)
	if err != nil || len(keys) != 1 || !slices.Equal(keys[0].Hosts, []string{"api.openai.com"}) {
		t.Errorf("the key may be sent to %v, %v", keys[0].Hosts, err)
	}
}
