package races

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	mrand "math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server/auth/registrations"
	"github.com/firstpick/firstpick/server/servertest"
	"github.com/firstpick/firstpick/server/store/identity"
	"github.com/firstpick/firstpick/server/store/state"
)

// TestSameAssertionAtOnce: of one ID-JAG that is presented eight times at once,
// on PostgreSQL at two servers, one is accepted.
func TestSameAssertionAtOnce(t *testing.T) {
	each(t, 2, func(t *testing.T, w *world) {
		sub := w.fresh("same-")
		if w.try%2 == 1 { // the subject is known already
			w.vouched(t, sub)
		}
		raw := w.assertion(sub, sub+"@example.com")
		accepted := w.presentAtOnce(t, 8, func(int) string { return raw }, "", "replay_detected")
		if len(accepted) != 1 {
			t.Errorf("one ID-JAG was accepted %d times", len(accepted))
		}
		w.oneOfAll(t, sub)
	})
}

// presentAtOnce presents n ID-JAGs, in turn at each server, and returns what was
// accepted.
func (w *world) presentAtOnce(t *testing.T, n int, raw func(i int) string, words ...string) []*registrations.Registered {
	t.Helper()
	var accepted bag[*registrations.Registered]
	together(times(n, func(i int) {
		r, err := w.servers[i%len(w.servers)].Present(t.Context(), caller(), raw(i))
		if !expect(t, "present", err, words...) || err != nil {
			return
		}
		if r.Claim != nil {
			t.Error("a person without an account was asked to confirm")
			return
		}
		accepted.add(r)
	})...)
	return accepted.all()
}

// oneOfAll checks that a subject has one registration, one delegation and one
// account with one workspace.
func (w *world) oneOfAll(t *testing.T, sub string) {
	t.Helper()
	regs := ok[[]*identity.Registration](t, "registrations")(w.read().SubjectRegistrations(t.Context(), w.IdP.URL, sub))
	accounts := ok[[]*state.Account](t, "accounts")(w.read().AssertedAccounts(t.Context(), sub+"@example.com"))
	d := ok[*state.Delegation](t, "delegation")(w.read().Delegation(t.Context(), w.IdP.URL, sub))
	if len(regs) != 1 || len(accounts) != 1 || d == nil {
		t.Fatalf("%d registrations, %d accounts, delegation %v; want one of each", len(regs), len(accounts), d)
	}
	if d.AccountID != accounts[0].ID || !d.RevokedAt.IsZero() || regs[0].AccountID != accounts[0].ID || regs[0].Generation != 2 {
		t.Errorf("delegation %+v, account %s, registration %+v", d, accounts[0].ID, regs[0])
	}
	if spaces := ok[[]*state.Workspace](t, "workspaces")(w.read().Workspaces(t.Context(), accounts[0].ID)); len(spaces) != 1 {
		t.Errorf("%d workspaces, want 1", len(spaces))
	}
}

// TestFirstAssertionsAtOnce: eight ID-JAGs of one new subject make one
// registration, account, workspace and delegation, and all are accepted.
func TestFirstAssertionsAtOnce(t *testing.T) {
	each(t, 5, func(t *testing.T, w *world) { w.firstAtOnce(t) })
}

// TestFirstAssertionsUnderLimits is the same with the limits on.
func TestFirstAssertionsUnderLimits(t *testing.T) {
	eachWith(t, 10, 1, servertest.Options{Limits: true}, func(t *testing.T, w *world) {
		w.Clock.Add(2 * time.Hour) // the last try's are forgotten
		w.firstAtOnce(t, "rate_limited")
	})
}

func (w *world) firstAtOnce(t *testing.T, words ...string) {
	t.Helper()
	sub := w.fresh("new-")
	raw := make([]string, 8)
	for i := range raw {
		raw[i] = w.assertion(sub, sub+"@example.com")
	}
	accepted := w.presentAtOnce(t, len(raw), func(i int) string { return raw[i] }, append(words, "")...)
	if len(words) == 0 && len(accepted) != len(raw) {
		t.Errorf("%d of %d were accepted", len(accepted), len(raw))
	}
	w.oneOfAll(t, sub)
	for _, r := range accepted {
		_, err := w.any().Exchange(t.Context(), caller(), r.Assertion, nil)
		expect(t, "exchange", err, append(words, "")...)
	}
}

// TestCancelledAssertionIsNotUsedUp: who gave up waiting either was accepted or
// may present the same ID-JAG again.
func TestCancelledAssertionIsNotUsedUp(t *testing.T) {
	each(t, 2, func(t *testing.T, w *world) {
		sub := w.fresh("cancelled-")
		raw := w.assertion(sub, sub+"@example.com")
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		if w.try%4 == 0 {
			cancel()
		}
		var first error
		together(func() { _, first = w.any().Present(ctx, caller(), raw) }, cancel)
		_, second := w.any().Present(t.Context(), caller(), raw)
		want := "" // it was never used
		if first == nil {
			want = "replay_detected"
		}
		expect(t, "the same ID-JAG again (first: "+word(first)+")", second, want)
		w.oneOfAll(t, sub)
	})
}

var errNoRandom = errors.New("this source fails when it is told to")

// A failing source of randomness fails at one read: with it a transaction ends
// wherever it makes an id.
type failing struct{ left atomic.Int64 }

func (f *failing) Read(p []byte) (int, error) {
	if f.left.Add(-1) == 0 {
		return 0, errNoRandom
	}
	return io.ReadFull(rand.Reader, p)
}

// TestFailedTransactionsLeaveNothing: an ID-JAG whose transaction failed, at
// whichever id that it makes, is good for another try.
func TestFailedTransactionsLeaveNothing(t *testing.T) {
	source := &failing{}
	o := servertest.Options{Agents: func(cfg *registrations.Config) { cfg.Rand = source }}
	eachWith(t, 5, 1, o, func(t *testing.T, w *world) {
		sub := w.fresh("failed-")
		raw := w.assertion(sub, sub+"@example.com")
		source.left.Store(1 + mrand.Int64N(5)) // it makes ten ids and more before it commits
		_, err := w.Agents.Present(t.Context(), caller(), raw)
		source.left.Store(0)
		if err == nil {
			t.Fatal("the transaction did not fail, so this tests nothing")
		}
		if regs := ok[[]*identity.Registration](t, "registrations")(w.read().SubjectRegistrations(t.Context(), w.IdP.URL, sub)); len(regs) != 0 {
			t.Error("a registration of a failed transaction is stored")
		}
		accepted := w.presentAtOnce(t, 4, func(int) string { return raw }, "", "replay_detected")
		if len(accepted) != 1 {
			t.Errorf("after a failed try the ID-JAG was accepted %d times, want once", len(accepted))
		}
		w.oneOfAll(t, sub)
	})
}
