package races

import (
	"context"
	"fmt"
	"testing"

	"github.com/firstpick/firstpick/server/auth/registrations"
	"github.com/firstpick/firstpick/server/servertest"
	"github.com/firstpick/firstpick/server/store/state"
)

// TestAnAccountIsErasedWhileItCreatesAWorkspace: the workspace is refused, or erased with its
// account; none is left to nobody.
func TestAnAccountIsErasedWhileItCreatesAWorkspace(t *testing.T) {
	each(t, 1, func(t *testing.T, w *world) {
		ctx, id := t.Context(), fmt.Sprintf("acc_erased_%d", w.try)
		a := &state.Account{ID: id, Email: id + "@example.com", VerifiedAt: servertest.Start(), CreatedAt: servertest.Start()}
		if err := w.Agents.DB.Write(ctx, func(tx *state.Tx) error { return tx.AddAccount(ctx, a) }); err != nil {
			t.Fatal(err)
		}
		var made *state.Workspace
		var refused, failed error
		together(
			func() {
				made, _, refused = w.servers[0].CreateOwnWorkspace(ctx, caller(), a, state.Settings{Site: "https://" + id + ".example"}, registrations.KeyRequest{})
			},
			func() { failed = w.servers[len(w.servers)-1].EraseOwnAccount(ctx, caller(), a, a.Email) },
		)
		if failed != nil {
			t.Fatal(failed)
		}
		if refused != nil {
			return
		}
		if open := erasing(t, w, made.ID); !open {
			t.Errorf("workspace %s is left to an erased account", made.Slug)
		}
	})
}

// erasing reports whether the erasure of a workspace is requested or done.
func erasing(t *testing.T, w *world, id string) (is bool) {
	t.Helper()
	list, err := w.Agents.DB.Read().Erasures(context.WithoutCancel(t.Context()), false)
	if err != nil {
		t.Fatal(err)
	}
	mark := w.Agents.DB.EraseMark(state.EraseWorkspace, id)
	for _, e := range list {
		is = is || e.Mark == mark
	}
	return is
}
