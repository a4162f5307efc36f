package races

import (
	"fmt"
	"testing"

	"github.com/firstpick/firstpick/server/auth/registrations"
	"github.com/firstpick/firstpick/server/store/identity"
	"github.com/firstpick/firstpick/server/store/state"
)

// A pending is a ceremony that a person has in front of them.
type pending struct {
	reg     *registrations.Registered
	account *state.Account
	code    *registrations.Code
	sub     string // of the issuer; empty without one
	before  int    // generation
}

// ceremonies are the ways into a ceremony.
func ceremonies() map[string]func(t *testing.T, w *world) pending {
	return map[string]func(t *testing.T, w *world) pending{
		"anonymous": func(t *testing.T, w *world) pending {
			r, account := w.anonymous(t), w.person(t, w.email())
			return pending{reg: r, account: account, code: w.code(t, r.ClaimToken, account.Email), before: 1}
		},
		"service_auth": func(t *testing.T, w *world) pending {
			account := w.person(t, w.email())
			r := ok[*registrations.Registered](t, "register")(w.any().RegisterServiceAuth(t.Context(), caller(), account.Email))
			return pending{reg: r, account: account, code: r.Claim, before: 1}
		},
		"step-up": func(t *testing.T, w *world) pending { return w.stepUp(t) },
	}
}

// stepUp presents an ID-JAG for an account that exists.
func (w *world) stepUp(t *testing.T) pending {
	t.Helper()
	account, sub := w.person(t, w.email()), w.fresh("step-up-")
	r := ok[*registrations.Registered](t, "present")(w.any().Present(t.Context(), caller(), w.IdP.Assertion(w.Agents.Resource(), sub, account.Email)))
	if r.Claim == nil {
		t.Fatal("an assertion for an account that exists was accepted without its owner")
	}
	return pending{reg: r, account: account, code: r.Claim, sub: sub, before: w.registration(t, r.Registration.ID).Generation}
}

// An outcome is how one side of a race saw a ceremony end.
type outcome struct {
	stage registrations.Stage
	right bool
}

// eachCeremony races two answers of the person in each kind of ceremony.
func eachCeremony(t *testing.T, run func(t *testing.T, w *world, p pending)) {
	t.Helper()
	for name, begin := range ceremonies() {
		t.Run(name, func(t *testing.T) {
			each(t, 5, func(t *testing.T, w *world) { run(t, w, begin(t, w)) })
		})
	}
}

func (w *world) answer(t *testing.T, p pending, code string) outcome {
	out, right, err := w.any().Confirm(t.Context(), caller(), p.account, registrations.Confirmation{ViewHash: view(p.code), Code: code})
	if !expect(t, "confirm", err, "") {
		return outcome{}
	}
	return outcome{out.Status, right}
}

// linkedOnce checks that a ceremony linked the agent, and did so once.
func (w *world) linkedOnce(t *testing.T, p pending) {
	t.Helper()
	r := w.registration(t, p.reg.Registration.ID)
	if r.Status(w.Clock.Now()) != identity.Claimed || r.AccountID != p.account.ID || r.Generation != p.before+1 {
		t.Errorf("status %s, account %q, generation %d after %d", r.Status(w.Clock.Now()), r.AccountID, r.Generation, p.before)
	}
	mine := ok[[]*state.Workspace](t, "workspaces")(w.read().Workspaces(t.Context(), p.account.ID))
	if len(mine) != 1 || mine[0].ID != r.WorkspaceID {
		t.Errorf("the person has %d workspaces, want the claimed one alone", len(mine))
	}
	w.logged(t, r.ID, "claim.confirmed", 1)
	w.logged(t, r.ID, "claim.denied", 0)
	if p.sub == "" {
		return
	}
	d := ok[*state.Delegation](t, "delegation")(w.read().Delegation(t.Context(), w.IdP.URL, p.sub))
	if d == nil || d.AccountID != p.account.ID || !d.RevokedAt.IsZero() {
		t.Errorf("delegation %+v", d)
	}
}

func (w *world) logged(t *testing.T, registration, event string, want int) {
	t.Helper()
	log := ok[[]state.AuditEntry](t, "audit")(w.read().AuditLog(t.Context(), state.AuditFilter{Event: event, RegistrationID: registration, Limit: 100}))
	if len(log) != want {
		t.Errorf("%s stands %d times in the audit log, want %d", event, len(log), want)
	}
}

func TestTwoRightCodes(t *testing.T) {
	eachCeremony(t, func(t *testing.T, w *world, p pending) {
		var got [2]outcome
		together(times(2, func(i int) { got[i] = w.answer(t, p, p.code.UserCode) })...)
		if got[0].right == got[1].right || got[0].stage != registrations.Done || got[1].stage != registrations.Done {
			t.Errorf("%+v, want both done, one of them by its code", got)
		}
		w.linkedOnce(t, p)
	})
}

func TestRightAndWrongCode(t *testing.T) {
	eachCeremony(t, func(t *testing.T, w *world, p pending) {
		var right, wrong outcome
		together(func() { right = w.answer(t, p, p.code.UserCode) }, func() { wrong = w.answer(t, p, otherCode(p.code.UserCode)) })
		if !right.right || right.stage != registrations.Done {
			t.Errorf("the right code: %+v", right)
		}
		if wrong.right || wrong.stage != registrations.Open && wrong.stage != registrations.Done {
			t.Errorf("the wrong code: %+v", wrong)
		}
		w.linkedOnce(t, p)
	})
}

func otherCode(code string) string {
	first := '0' + (code[0]-'0'+1)%10
	return string(rune(first)) + code[1:]
}

func TestRightCodeAndDeny(t *testing.T) {
	eachCeremony(t, func(t *testing.T, w *world, p pending) {
		var yes, no outcome
		together(func() { yes = w.answer(t, p, p.code.UserCode) }, func() {
			out, err := w.any().Deny(t.Context(), caller(), p.account, view(p.code))
			if expect(t, "deny", err, "") {
				no.stage = out.Status
			}
		})
		switch {
		case yes.right && yes.stage == registrations.Done && no.stage == registrations.Done:
			w.linkedOnce(t, p)
			w.delivered(t, p)
		case !yes.right && yes.stage == registrations.Denied && no.stage == registrations.Denied:
			r := w.registration(t, p.reg.Registration.ID)
			if r.AccountID != "" || !r.ClaimedAt.IsZero() || r.Generation != p.before {
				t.Errorf("it was denied, and the registration is %+v", r)
			}
			w.logged(t, r.ID, "claim.confirmed", 0)
			w.logged(t, r.ID, "claim.denied", 1)
			_, err := w.any().Redeem(t.Context(), caller(), p.reg.ClaimToken)
			expect(t, "poll after deny", err, "access_denied")
		default:
			t.Errorf("confirm %+v, deny %+v: not one outcome", yes, no)
		}
	})
}

func (w *world) delivered(t *testing.T, p pending) {
	t.Helper()
	out := ok[*registrations.Tokens](t, "redeem")(w.any().Redeem(t.Context(), caller(), p.reg.ClaimToken))
	if !w.alive(t.Context(), out.AccessToken) {
		t.Error("the delivered token is dead")
	}
}

// TestWrongCodesAtOnce: however many are tried at once, five are counted, and the
// attempt is locked once.
func TestWrongCodesAtOnce(t *testing.T) {
	each(t, 5, func(t *testing.T, w *world) {
		p := ceremonies()["anonymous"](t, w)
		var seen bag[string]
		together(times(8, func(int) {
			out := w.answer(t, p, otherCode(p.code.UserCode))
			seen.add(fmt.Sprint(out.stage))
		})...)
		counts := map[string]int{}
		for _, s := range seen.all() {
			counts[s]++
		}
		if counts[fmt.Sprint(registrations.Open)] != identity.WrongCodes-1 || counts[fmt.Sprint(registrations.Locked)] != 8-identity.WrongCodes+1 {
			t.Errorf("stages %v of 8 wrong codes", counts)
		}
		a := ok[*identity.Attempt](t, "attempt")(w.read().NewestAttempt(t.Context(), p.reg.Registration.ID))
		r := w.registration(t, p.reg.Registration.ID)
		if a.Wrong != identity.WrongCodes || a.State != identity.Locked || r.Locks != 1 {
			t.Errorf("%d wrong, state %s, %d locks", a.Wrong, a.State, r.Locks)
		}
		if out := w.answer(t, p, p.code.UserCode); out.right || out.stage != registrations.Locked {
			t.Errorf("the right code after the lock: %+v", out)
		}
		w.logged(t, r.ID, "claim.locked", 1)
	})
}

// TestConfirmationAgainstFreshCode: a code that was replaced while it was typed
// either linked the agent or is dead.
func TestConfirmationAgainstFreshCode(t *testing.T) {
	each(t, 5, func(t *testing.T, w *world) {
		p := ceremonies()["anonymous"](t, w)
		var out outcome
		var fresh *registrations.Code
		together(func() { out = w.answer(t, p, p.code.UserCode) }, func() {
			code, _, err := w.any().StartClaim(t.Context(), caller(), p.reg.ClaimToken, p.account.Email)
			if expect(t, "fresh code", err, "", "claimed_or_in_flight") {
				fresh = code
			}
		})
		switch {
		case out.right && out.stage == registrations.Done && fresh == nil:
			w.linkedOnce(t, p)
		case !out.right && out.stage == registrations.Unknown && fresh != nil:
			p.code = fresh
			w.confirm(t, p.account, fresh)
			w.linkedOnce(t, p)
		default:
			t.Errorf("confirm %+v, fresh code %v: not one outcome", out, fresh != nil)
		}
	})
}
