package races

import (
	"testing"

	"github.com/firstpick/firstpick/server/auth/registrations"
	"github.com/firstpick/firstpick/server/store/identity"
	"github.com/firstpick/firstpick/server/store/state"
)

// assertion returns an ID-JAG of the fake identity provider.
func (w *world) assertion(sub, email string) string {
	return w.IdP.Assertion(w.Agents.Resource(), sub, email)
}

// vouched returns what an agent has that an issuer vouched for, for a person who
// had no account.
func (w *world) vouched(t *testing.T, sub string) (*registrations.Registered, *registrations.Tokens) {
	t.Helper()
	r := ok[*registrations.Registered](t, "present")(w.any().Present(t.Context(), caller(), w.assertion(sub, sub+"@example.com")))
	return r, ok[*registrations.Tokens](t, "exchange")(w.any().Exchange(t.Context(), caller(), r.Assertion, nil))
}

func (w *world) notify(t *testing.T, event string) {
	t.Helper()
	expect(t, "event", w.any().Notify(t.Context(), caller(), event), "")
}

// ended checks that nothing of a subject is left: no live registration, no
// delegation, no token, no assertion, and that what the issuer said before the
// event is no longer heard.
func (w *world) ended(t *testing.T, sub string, tokens []string, assertions ...string) {
	t.Helper()
	for _, r := range ok[[]*identity.Registration](t, "registrations")(w.read().SubjectRegistrations(t.Context(), w.IdP.URL, sub)) {
		if s := r.Status(w.Clock.Now()); s == identity.Claimed {
			t.Errorf("after the event the registration is %s, generation %d", s, r.Generation)
		}
	}
	d := ok[*state.Delegation](t, "delegation")(w.read().Delegation(t.Context(), w.IdP.URL, sub))
	if d != nil && d.RevokedAt.IsZero() {
		t.Error("after the event the delegation is live")
	}
	w.dead(t, "after the event", tokens, assertions...)
}

func TestEventAgainstExchange(t *testing.T) {
	each(t, 10, func(t *testing.T, w *world) {
		sub := w.fresh("exchange-")
		r, tok := w.vouched(t, sub)
		event := w.IdP.Event(w.Agents.Resource(), sub)
		m := w.minters()
		m.tokens.add(tok.AccessToken)
		m.end(t, "the event", r.Assertion, m.run(t, 4, r.Assertion), func() { w.notify(t, event) })
		w.ended(t, sub, m.tokens.all(), r.Assertion)
	})
}

// presentAgainst races an event with ID-JAGs that were minted before it.
func (w *world) presentAgainst(t *testing.T, sub string, n int, words ...string) ([]string, []string) {
	t.Helper()
	raw := make([]string, n)
	for i := range raw {
		raw[i] = w.assertion(sub, sub+"@example.com")
	}
	event := w.IdP.Event(w.Agents.Resource(), sub) // not before: a second may begin between them
	var tokens, assertions bag[string]
	together(append(times(n, func(i int) {
		r, err := w.any().Present(t.Context(), caller(), raw[i])
		if !expect(t, "present", err, words...) || err != nil {
			return
		}
		if r.Claim != nil {
			t.Error("a person without an account was asked to confirm")
			return
		}
		assertions.add(r.Assertion)
		out, err := w.any().Exchange(t.Context(), caller(), r.Assertion, nil)
		if expect(t, "exchange", err, "", "invalid_grant") && err == nil {
			tokens.add(out.AccessToken)
		}
	}), func() { w.notify(t, event) })...)
	return tokens.all(), assertions.all()
}

// TestEventAgainstAssertion: an ID-JAG from before the event does not bring the
// subject back.
func TestEventAgainstAssertion(t *testing.T) {
	each(t, 1, func(t *testing.T, w *world) {
		sub := w.fresh("again-")
		r, tok := w.vouched(t, sub)
		tokens, assertions := w.presentAgainst(t, sub, 2, "", "revoked")
		w.ended(t, sub, append(tokens, tok.AccessToken), append(assertions, r.Assertion)...)
	})
}

// TestEventAgainstFirstAssertion: nor does one that is the subject's first.
func TestEventAgainstFirstAssertion(t *testing.T) {
	each(t, 1, func(t *testing.T, w *world) {
		sub := w.fresh("first-")
		tokens, assertions := w.presentAgainst(t, sub, 2, "", "revoked")
		w.ended(t, sub, tokens, assertions...)
	})
}

// TestEventAgainstStepUp: a confirmation that races the event leaves nothing
// linked, and the claim token that it may have completed delivers nothing.
func TestEventAgainstStepUp(t *testing.T) {
	each(t, 5, func(t *testing.T, w *world) {
		p := w.stepUp(t)
		event := w.IdP.Event(w.Agents.Resource(), p.sub)
		var tokens, assertions bag[string]
		together(func() {
			if out := w.answer(t, p, p.code.UserCode); out.right != (out.stage == registrations.Done) || !out.right && out.stage != registrations.Unknown {
				t.Errorf("confirm: %+v", out)
			}
		}, func() { w.notify(t, event) }, func() {
			out, err := w.any().Redeem(t.Context(), caller(), p.reg.ClaimToken)
			if expect(t, "poll", err, "", "authorization_pending", "expired_token") && err == nil {
				tokens.add(out.AccessToken)
				assertions.add(out.Assertion)
			}
		})
		w.ended(t, p.sub, tokens.all(), assertions.all()...)
		_, err := w.any().Redeem(t.Context(), caller(), p.reg.ClaimToken)
		expect(t, "poll after the event", err, "expired_token")
	})
}

// TestStepUpAgainstConfirmation: a second ID-JAG of the same subject while the
// first one's code is typed. Either the code links, and the second is accepted,
// or the second asks anew and the first code is dead.
func TestStepUpAgainstConfirmation(t *testing.T) {
	each(t, 10, func(t *testing.T, w *world) {
		p := w.stepUp(t)
		raw := w.assertion(p.sub, p.account.Email)
		var out outcome
		var second *registrations.Registered
		together(func() { out = w.answer(t, p, p.code.UserCode) }, func() {
			r, err := w.any().Present(t.Context(), caller(), raw)
			if expect(t, "present", err, "") {
				second = r
			}
		})
		if second == nil {
			return
		}
		switch {
		case out.right && out.stage == registrations.Done && second.Claim == nil:
			w.linkedOnce(t, p)
		case !out.right && out.stage == registrations.Unknown && second.Claim != nil:
			p.reg, p.code, p.before = second, second.Claim, w.registration(t, p.reg.Registration.ID).Generation
			w.confirm(t, p.account, p.code)
			w.linkedOnce(t, p)
		default:
			t.Errorf("confirm %+v, second assertion asks %v: not one outcome", out, second.Claim != nil)
		}
	})
}

// TestSameEventTwice: an event that is delivered twice at once is answered twice
// and acts once.
func TestSameEventTwice(t *testing.T) {
	each(t, 5, func(t *testing.T, w *world) {
		sub := w.fresh("twice-")
		r, tok := w.vouched(t, sub)
		event := w.IdP.Event(w.Agents.Resource(), sub)
		together(times(4, func(int) {
			w.notify(t, event)
			w.dead(t, "after the event", []string{tok.AccessToken}, r.Assertion)
		})...)
		w.ended(t, sub, []string{tok.AccessToken}, r.Assertion)
		w.logged(t, r.Registration.ID, "registration.revoked", 1)
	})
}
