package races

import (
	"slices"
	"sync"
	"testing"

	"github.com/firstpick/firstpick/server/auth/registrations"
	"github.com/firstpick/firstpick/server/store/identity"
)

// minters exchange assertions until they are refused.
type minters struct {
	w      *world
	tokens bag[string]
	minted chan struct{} // closed at the first token
	once   sync.Once
}

func (w *world) minters() *minters { return &minters{w: w, minted: make(chan struct{})} }

func (m *minters) run(t *testing.T, n int, assertion string) []func() {
	return times(n, func(int) {
		for range 1000 {
			out, err := m.w.any().Exchange(t.Context(), caller(), assertion, nil)
			if err != nil {
				expect(t, "exchange", err, "invalid_grant")
				return
			}
			m.tokens.add(out.AccessToken)
			m.once.Do(func() { close(m.minted) })
		}
		t.Error("a thousand exchanges, and what they race did not end")
	})
}

// end runs what ends the minters once they are at work, and checks that what was
// minted is dead: at once, and again when all of them have stopped.
func (m *minters) end(t *testing.T, what, assertion string, run []func(), fn func()) {
	t.Helper()
	together(append(run, func() {
		<-m.minted
		fn()
		m.w.dead(t, "right after "+what, m.tokens.all(), assertion)
	})...)
	m.w.dead(t, "after "+what, m.tokens.all(), assertion)
}

// TestExchangeAgainstConfirmation: nothing that was issued before the claim
// lives after it.
func TestExchangeAgainstConfirmation(t *testing.T) {
	each(t, 10, func(t *testing.T, w *world) {
		r, account := w.anonymous(t), w.person(t, w.email())
		code := w.code(t, r.ClaimToken, account.Email)
		m := w.minters()
		m.end(t, "the confirmation", r.Assertion, m.run(t, 4, r.Assertion), func() { w.confirm(t, account, code) })
		out := ok[*registrations.Tokens](t, "redeem")(w.any().Redeem(t.Context(), caller(), r.ClaimToken))
		if !w.alive(t.Context(), out.AccessToken) {
			t.Error("the delivered token is dead")
		}
	})
}

// TestExchangeAgainstUnlink: after the owner revoked the agent, no token lives.
func TestExchangeAgainstUnlink(t *testing.T) {
	each(t, 10, func(t *testing.T, w *world) {
		r, account, tok := w.claimed(t)
		m := w.minters()
		m.tokens.add(tok.AccessToken)
		run := append(m.run(t, 4, tok.Assertion), func() { // the poll that may still ask again
			out, err := w.any().Redeem(t.Context(), caller(), r.ClaimToken)
			if expect(t, "poll", err, "", "expired_token") && err == nil {
				m.tokens.add(out.AccessToken)
			}
		})
		m.end(t, "unlinking", tok.Assertion, run, func() {
			expect(t, "unlink", w.any().Unlink(t.Context(), caller(), account.ID, r.Registration.ID), "")
		})
		_, err := w.any().Redeem(t.Context(), caller(), r.ClaimToken)
		expect(t, "poll after unlinking", err, "expired_token")
		w.logged(t, r.Registration.ID, "registration.revoked", 1)
	})
}

// TestUnlinkTwice: two revocations at once are one.
func TestUnlinkTwice(t *testing.T) {
	each(t, 5, func(t *testing.T, w *world) {
		r, account, tok := w.claimed(t)
		together(times(2, func(int) {
			expect(t, "unlink", w.any().Unlink(t.Context(), caller(), account.ID, r.Registration.ID), "")
			w.dead(t, "after unlinking", []string{tok.AccessToken}, tok.Assertion)
		})...)
		w.logged(t, r.Registration.ID, "registration.revoked", 1)
		if g := w.registration(t, r.Registration.ID).Generation; g != 3 {
			t.Errorf("generation %d after one claim and one revocation, want 3", g)
		}
	})
}

// TestRevokeAgainstUse: a token that was revoked is dead at once, on every
// server, and only that token.
func TestRevokeAgainstUse(t *testing.T) {
	each(t, 5, func(t *testing.T, w *world) {
		r := w.anonymous(t)
		tok := ok[*registrations.Tokens](t, "exchange")(w.any().Exchange(t.Context(), caller(), r.Assertion, nil))
		revoked := make(chan struct{})
		use := times(4, func(int) {
			for {
				over := false
				select {
				case <-revoked:
					over = true
				default:
				}
				_, err := w.any().Authenticate(t.Context(), tok.AccessToken)
				if !expect(t, "use", err, "", "invalid_token") || err != nil {
					return
				}
				if over {
					t.Error("a token was good after its revocation was answered")
					return
				}
			}
		})
		var others bag[string]
		mint := times(4, func(int) {
			out, err := w.any().Exchange(t.Context(), caller(), r.Assertion, nil)
			if expect(t, "exchange", err, "") {
				others.add(out.AccessToken)
			}
		})
		together(slices.Concat(use, mint, times(2, func(i int) {
			expect(t, "revoke", w.any().Revoke(t.Context(), caller(), tok.AccessToken), "")
			if i == 0 {
				close(revoked)
			}
		}))...)
		w.dead(t, "after the revocation", []string{tok.AccessToken})
		for _, other := range others.all() {
			if !w.alive(t.Context(), other) {
				t.Error("a token that nobody revoked is dead")
			}
		}
		w.logged(t, r.Registration.ID, "token.revoked", 1)
	})
}

// TestExchangesKeepTheirBound: the oldest tokens make room, whatever is minted at
// once.
func TestExchangesKeepTheirBound(t *testing.T) {
	each(t, 10, func(t *testing.T, w *world) {
		r := w.anonymous(t)
		var got bag[string]
		together(times(2*identity.LiveTokens, func(int) {
			out, err := w.any().Exchange(t.Context(), caller(), r.Assertion, nil)
			if expect(t, "exchange", err, "") {
				got.add(out.AccessToken)
			}
		})...)
		live := 0
		for _, token := range got.all() {
			if w.alive(t.Context(), token) {
				live++
			}
		}
		if live != identity.LiveTokens {
			t.Errorf("%d tokens live, want %d", live, identity.LiveTokens)
		}
	})
}
