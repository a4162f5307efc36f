package races

import (
	"testing"

	"github.com/firstpick/firstpick/server/auth/registrations"
	"github.com/firstpick/firstpick/server/store/identity"
	"github.com/firstpick/firstpick/server/store/state"
)

// TestKeysAtOnce: an unclaimed workspace gets the keys it may have, whatever is
// asked for at once.
func TestKeysAtOnce(t *testing.T) {
	each(t, 5, func(t *testing.T, w *world) {
		r := w.anonymous(t)
		tok := ok[*registrations.Tokens](t, "exchange")(w.any().Exchange(t.Context(), caller(), r.Assertion, nil))
		var made bag[string]
		together(times(8, func(int) {
			s := w.any()
			b, err := s.Authenticate(t.Context(), tok.AccessToken)
			if !expect(t, "authenticate", err, "") {
				return
			}
			k, _, _, err := s.CreateKey(t.Context(), caller(), b, registrations.KeyRequest{Kind: "secret"})
			if expect(t, "create a key", err, "", "too_many_keys") && err == nil {
				made.add(k.ID)
			}
		})...)
		stored := ok[[]state.CollectorKey](t, "keys")(w.read().CollectorKeys(t.Context(), r.Registration.WorkspaceID))
		if len(made.all()) != identity.UnclaimedKeys || len(stored) != identity.UnclaimedKeys {
			t.Errorf("%d keys were handed out and %d are stored, want %d", len(made.all()), len(stored), identity.UnclaimedKeys)
		}
	})
}
