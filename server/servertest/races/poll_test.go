package races

import (
	"bytes"
	"testing"

	"github.com/firstpick/firstpick/server/auth/registrations"
	"github.com/firstpick/firstpick/server/kit/secret"
	"github.com/firstpick/firstpick/server/store/identity"
)

const pollers = 200

// TestPollsAgainstConfirmation: polls that race the person's confirmation are
// told to wait or get tokens, at most as often as a lost answer may be asked for
// again, and of what was delivered only the last lives.
func TestPollsAgainstConfirmation(t *testing.T) {
	each(t, 20, func(t *testing.T, w *world) {
		r, account := w.anonymous(t), w.person(t, w.email())
		code := w.code(t, r.ClaimToken, account.Email)
		var got bag[*registrations.Tokens]
		var spent bag[error]
		polls := times(pollers, func(int) {
			out, err := w.any().Redeem(t.Context(), caller(), r.ClaimToken)
			switch {
			case !expect(t, "poll", err, "", "authorization_pending", "slow_down", "invalid_grant"):
			case err == nil:
				got.add(out)
			case word(err) == "invalid_grant":
				spent.add(err)
			}
		})
		together(append(polls, func() { w.confirm(t, account, code) })...)

		n := len(got.all())
		if n > identity.RedeemTries {
			t.Errorf("tokens were delivered %d times, at most %d are right", n, identity.RedeemTries)
		}
		if k := len(spent.all()); k > 0 && n < identity.RedeemTries {
			t.Errorf("%d polls were told invalid_grant though only %d deliveries were made", k, n)
		}
		for n < identity.RedeemTries { // what is left of the series
			out, err := w.any().Redeem(t.Context(), caller(), r.ClaimToken)
			if err != nil {
				t.Fatalf("poll after %d deliveries: %v", n, err)
			}
			got.add(out)
			n++
		}
		_, err := w.any().Redeem(t.Context(), caller(), r.ClaimToken)
		expect(t, "poll after the last delivery", err, "invalid_grant")

		last, alive := w.registration(t, r.Registration.ID).Redeem, 0
		if last.Count != n {
			t.Errorf("%d deliveries are booked, %d were made", last.Count, n)
		}
		for _, tok := range got.all() {
			live := w.alive(t.Context(), tok.AccessToken)
			if newest := bytes.Equal(secret.Hash(tok.AccessToken), last.Token); live != newest {
				t.Errorf("a delivered token: alive %v, delivered last %v", live, newest)
			}
			if live {
				alive++
			}
		}
		if alive != 1 {
			t.Errorf("%d delivered tokens live, want 1", alive)
		}
	})
}

// TestPollsKeepTheirBooks: polls at one moment move the interval once.
func TestPollsKeepTheirBooks(t *testing.T) {
	each(t, 5, func(t *testing.T, w *world) {
		r := w.anonymous(t)
		w.code(t, r.ClaimToken, w.email())
		var words bag[string]
		together(times(8, func(int) {
			_, err := w.any().Redeem(t.Context(), caller(), r.ClaimToken)
			if expect(t, "poll", err, "authorization_pending", "slow_down") {
				words.add(word(err))
			}
		})...)
		waits := 0
		for _, s := range words.all() {
			if s == "authorization_pending" {
				waits++
			}
		}
		p := w.registration(t, r.Registration.ID).Poll
		if waits != 1 || p.Interval != 2*identity.PollInterval || !p.Penalised {
			t.Errorf("of 8 polls at once %d were in time; books %+v", waits, p)
		}
	})
}
