package state_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server/store/state"
)

// TestLogPages reads the logs of a workspace and of an operator in pages, over lines of one time.
func TestLogPages(t *testing.T) {
	onBoth(t, func(t *testing.T, db *state.DB) {
		ctx, at := t.Context(), time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
		var want []string
		if err := db.Write(ctx, func(tx *state.Tx) error {
			want = nil
			for i := range 10 {
				e := state.AuditEntry{ID: fmt.Sprintf("aud_%02d", i), At: at.Add(time.Duration(i/4) * time.Microsecond), Event: "a.b", WorkspaceID: "ws_1"}
				want = append(want, e.ID)
				if err := tx.Audit(ctx, e); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		slices.Reverse(want)
		for name, read := range map[string]func(before state.AuditEntry) ([]state.AuditEntry, error){
			"workspace": func(before state.AuditEntry) ([]state.AuditEntry, error) {
				return db.Read().WorkspaceLog(ctx, &state.WorkspaceLog{WorkspaceID: "ws_1", Events: []string{"a.b"}, Before: before, Limit: 3})
			},
			"operator": func(before state.AuditEntry) ([]state.AuditEntry, error) {
				return db.Read().OperatorLog(ctx, &state.OperatorLog{Action: "a", Before: before, Limit: 3})
			},
		} {
			var got []string
			for before := (state.AuditEntry{}); ; {
				page, err := read(before)
				if err != nil {
					t.Fatal(name, err)
				}
				if len(page) == 0 {
					break
				}
				for _, e := range page {
					got = append(got, e.ID)
				}
				before = page[len(page)-1]
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: %v, want %v", name, got, want)
			}
		}
	})
}
