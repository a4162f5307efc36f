package races

import (
	"regexp"
	"testing"

	"github.com/firstpick/firstpick/server/auth/registrations"
	"github.com/firstpick/firstpick/server/store/state"
)

// TestSignInsAtOnce: eight sign-ins of a new address make one account.
func TestSignInsAtOnce(t *testing.T) {
	each(t, 5, func(t *testing.T, w *world) {
		email := w.email()
		known := w.try%2 == 1 // an issuer made an account for the address
		if known {
			sub := w.fresh("known-")
			ok[*registrations.Registered](t, "present")(w.any().Present(t.Context(), caller(), w.assertion(sub, email)))
		}
		w.oneAccount(t, email, 8, func() (*state.Account, error) {
			return w.signIn(t, email)
		})
		if known {
			account := w.person(t, email)
			links := ok[[]registrations.Link](t, "links")(w.any().Linked(t.Context(), account))
			if len(links) != 1 || !links[0].Live || links[0].Workspace == "" {
				t.Errorf("the agent that the issuer vouched for: %+v", links)
			}
		}
	})
}

// oneAccount signs in n times at once, and checks that all got the one
// account of the address.
func (w *world) oneAccount(t *testing.T, email string, n int, signIn func() (*state.Account, error)) {
	t.Helper()
	var ids bag[string]
	together(times(n, func(int) {
		account, err := signIn()
		if expect(t, "sign in", err, "") {
			ids.add(account.ID)
		}
	})...)
	account := ok[*state.Account](t, "account")(w.read().VerifiedAccount(t.Context(), email))
	for _, id := range ids.all() {
		if id != account.ID {
			t.Errorf("a sign-in got account %s, the address has %s", id, account.ID)
		}
	}
	if left := ok[[]*state.Account](t, "accounts")(w.read().AssertedAccounts(t.Context(), email)); len(left) != 0 {
		t.Errorf("%d accounts on an issuer's word are left", len(left))
	}
}

var linkToken = regexp.MustCompile(`token=(\S+)`)

// signIn signs in by a link of its own.
func (w *world) signIn(t *testing.T, email string) (*state.Account, error) {
	link, err := w.any().OperatorLink(t.Context(), email, false)
	if err != nil {
		return nil, err
	}
	return w.any().FollowLink(t.Context(), caller(), linkToken.FindStringSubmatch(link)[1], "")
}

// TestOneLinkAtOnce: a link that signs in does so once.
func TestOneLinkAtOnce(t *testing.T) {
	each(t, 10, func(t *testing.T, w *world) {
		link := ok[string](t, "link")(w.any().OperatorLink(t.Context(), w.email(), false))
		token := linkToken.FindStringSubmatch(link)[1]
		var ids bag[string]
		together(times(8, func(int) {
			account, err := w.any().FollowLink(t.Context(), caller(), token, "")
			if expect(t, "follow the link", err, "", "not_found") && err == nil {
				ids.add(account.ID)
			}
		})...)
		if n := len(ids.all()); n != 1 {
			t.Errorf("one link signed in %d times", n)
		}
	})
}

// TestSignInAgainstAssertion: a person's first sign-in while an issuer presents
// the person's agent. There is one account with a proven address, and the agent
// either waits for that person's word or is linked to an account of theirs that
// the next sign-in takes over.
func TestSignInAgainstAssertion(t *testing.T) {
	each(t, 5, func(t *testing.T, w *world) {
		email, sub := w.email(), w.fresh("meet-")
		raw := w.assertion(sub, email)
		var account *state.Account
		var r *registrations.Registered
		together(func() {
			got, err := w.signIn(t, email)
			if expect(t, "sign in", err, "") {
				account = got
			}
		}, func() {
			got, err := w.any().Present(t.Context(), caller(), raw)
			if expect(t, "present", err, "") {
				r = got
			}
		})
		if account == nil || r == nil {
			return
		}
		if again := w.person(t, email); again.ID != account.ID {
			t.Errorf("two accounts with a proven address: %s and %s", account.ID, again.ID)
		}
		links := ok[[]registrations.Link](t, "links")(w.any().Linked(t.Context(), account))
		if (len(links) == 1) != (r.Claim == nil) {
			t.Errorf("the agent asks for confirmation: %v, and %d agents are linked", r.Claim != nil, len(links))
		}
	})
}
