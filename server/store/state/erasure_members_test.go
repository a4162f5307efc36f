package state_test

import (
	"errors"
	"testing"

	"github.com/firstpick/firstpick/server/store/identity"
	"github.com/firstpick/firstpick/server/store/state"
	"github.com/firstpick/firstpick/server/store/state/statetest"
)

// TestErasedMembers: a workspace is erased with its only owner, and with nobody else.
func TestErasedMembers(t *testing.T) {
	type members map[string]identity.Role
	for name, tt := range map[string]struct {
		members  members
		disabled string
		gone     bool   // the workspace
		owner    string // whom its mail goes to
	}{
		"the only owner":                 {members{"acc_a": identity.Owner, "acc_b": identity.Editor}, "", true, ""},
		"a viewer":                       {members{"acc_a": identity.Viewer, "acc_b": identity.Owner}, "", false, "acc_b"},
		"a viewer of a disabled owner's": {members{"acc_a": identity.Viewer, "acc_b": identity.Owner}, "acc_b", false, "acc_b"},
		"one of two owners":              {members{"acc_a": identity.Owner, "acc_b": identity.Owner}, "", false, "acc_b"},
		"the other owner is disabled":    {members{"acc_a": identity.Owner, "acc_b": identity.Owner}, "acc_b", false, "acc_b"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, engine := range statetest.Engines() {
				db, ctx := statetest.Open(t, statetest.Address(t, engine)), t.Context()
				write(t, db, func(tx *state.Tx) error {
					var errs []error
					for id, role := range tt.members {
						a := &state.Account{ID: id, Email: id + "@example.com", CreatedAt: now, VerifiedAt: now}
						if id == tt.disabled {
							a.DisabledAt = now
						}
						errs = append(errs, tx.AddAccount(ctx, a))
						if role == identity.Owner {
							tt.owner = max(tt.owner, id)
						}
					}
					_, err := tx.AddWorkspace(ctx, &state.Workspace{ID: "w", Slug: "w", Plan: state.PlanFree, CreatedAt: now, ClaimedAt: now})
					errs = append(errs, err)
					for id, role := range tt.members {
						errs = append(errs, tx.PutMember(ctx, "w", id, role, now))
						if role == identity.Owner {
							errs = append(errs, tx.SetOwner(ctx, "w", id))
						}
					}
					return errors.Join(errs...)
				})
				write(t, db, func(tx *state.Tx) error { return tx.RequestErasure(ctx, state.EraseAccount, "acc_a", now) })
				w, err := db.Read().Workspace(ctx, "w")
				if err != nil {
					t.Fatal(err)
				}
				open, err := db.Read().Erasures(ctx, true)
				if err != nil || (len(open) == 2) != tt.gone {
					t.Errorf("%s: erasures %+v, %v", engine, open, err)
				}
				if !tt.gone && w.OwnerID != tt.owner {
					t.Errorf("%s: the owner is %q", engine, w.OwnerID)
				}
				if _, err := db.Read().Role(ctx, "w", "acc_a"); !errors.Is(err, state.ErrNotFound) {
					t.Errorf("%s: still a member: %v", engine, err)
				}
			}
		})
	}
}

func TestNames(t *testing.T) {
	for _, c := range []struct {
		text, name string
		want       bool
	}{
		{`{"to":"im@acme.dev"}`, "im@acme.dev", true},
		{"write to im@acme.dev.", "im@acme.dev", true},
		{"im@acme.dev, kim@acme.dev", "im@acme.dev", true},
		{"kim@acme.dev", "im@acme.dev", false},
		{"j.im@acme.dev", "im@acme.dev", false},
		{"im@acme.dev.example", "im@acme.dev", false},
		{"/workspaces/calm-otter-12345/runs", "calm-otter-1234", false},
		{"/workspaces/calm-otter-1234/runs", "calm-otter-1234", true},
		{"calm-otter-12345 and calm-otter-1234", "calm-otter-1234", true},
	} {
		if got := state.Names(c.text, c.name); got != c.want {
			t.Errorf("%q in %q: %v", c.name, c.text, got)
		}
	}
}
