package evals_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"log/slog"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/server/evals/bundle"
	"github.com/firstpick/firstpick/server/evals/evals"
	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/kit/secret"
	"github.com/firstpick/firstpick/server/store/state"
	"github.com/firstpick/firstpick/server/store/state/statetest"
)

func TestMain(m *testing.M) { statetest.Main(m) }

// A checker takes texts of words: the name, then the names of keys that are needed.
// The word wrong is wrong.
type checker struct{}

func (checker) Check(source []byte) (c evals.Checked, wrong []evals.Issue) {
	for i, word := range strings.Fields(string(source)) {
		switch {
		case word == "wrong":
			wrong = append(wrong, evals.Issue{Line: i + 1, Message: "wrong"})
		case i == 0:
			c.Name = word
		default:
			name, host, sent := strings.Cut(word, "@")
			c.ProviderKeys = append(c.ProviderKeys, name)
			if sent {
				c.KeyHosts = map[string][]string{name: {host}}
			}
		}
	}
	c.Digest, c.Category, c.Trials = string(source), "payments", 30
	return c, wrong
}

// Overlay knows the category payments; an own catalogue of the word wrong is wrong.
func (c checker) Overlay(own []byte) (evals.Checker, *catalog.Catalog, []evals.Issue) {
	if string(own) == "wrong" {
		return nil, nil, []evals.Issue{{Line: 1, Message: "wrong"}}
	}
	base, err := catalog.Load(fstest.MapFS{"catalog/payments.yaml": {Data: []byte("category: {slug: payments, name: Payments, domain: saas}\ntools: [{slug: stripe, name: Stripe}]")}}, "catalog")
	if err == nil {
		base, err = base.Overlay("own", own)
	}
	if err != nil {
		return nil, nil, []evals.Issue{{Message: err.Error()}}
	}
	return c, base, nil
}

// A world is a service with a paid and a free workspace of dana's, and eve's.
type world struct {
	*evals.Service
	now        time.Time
	paid, free evals.Actor
	eve        evals.Actor
	slept      func() // called when the service sleeps
}

func newWorld(t *testing.T, engine string) *world {
	w := &world{now: time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC), slept: func() {}}
	w.Service = &evals.Service{
		DB: statetest.Open(t, statetest.Address(t, engine)), Secrets: secret.Source{Rand: rand.Reader}, Checker: checker{},
		Bundles: bundle.NewCache(t.TempDir(), nil, 4), Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return w.now }, BaseURL: "https://fp.example",
		Plans: true, Caps: evals.Caps{Evals: 3, Queued: 3, Keys: 2, ProviderKeys: 2, BudgetUSD: 100},
		Sleep: func(ctx context.Context, d time.Duration) error {
			w.now = w.now.Add(d)
			w.slept()
			return ctx.Err()
		},
	}
	w.paid, w.free, w.eve = w.workspace(t, "paid", "dana", state.PlanPaid), w.workspace(t, "free", "dana", state.PlanFree), w.workspace(t, "eves", "eve", state.PlanPaid)
	return w
}

func (w *world) workspace(t *testing.T, name, owner, plan string) evals.Actor {
	t.Helper()
	ws := &state.Workspace{ID: "ws_" + name, Slug: name, OwnerID: "acc_" + owner, Plan: plan, CreatedAt: w.now, ClaimedAt: w.now}
	if err := w.DB.Write(t.Context(), func(tx *state.Tx) error {
		if _, err := tx.Account(t.Context(), ws.OwnerID); errors.Is(err, state.ErrNotFound) {
			if err := tx.AddAccount(t.Context(), &state.Account{ID: ws.OwnerID, Email: owner + "@example.com", CreatedAt: w.now, VerifiedAt: w.now}); err != nil {
				return err
			}
		}
		_, err := tx.AddWorkspace(t.Context(), ws)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return evals.Actor{Workspace: ws, By: ws.OwnerID}
}

func (w *world) put(t *testing.T, a evals.Actor, source string) *evals.Eval {
	t.Helper()
	e, _, _, err := w.Put(t.Context(), a, []byte(source))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func (w *world) start(t *testing.T, a evals.Actor, req evals.StartRequest) *evals.Run {
	t.Helper()
	r, _, err := w.Start(t.Context(), a, req)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// code is the code of what a caller was told; empty for no failure.
func code(err error) string {
	if err == nil {
		return ""
	}
	return apierr.Of(err).Code
}

func onBoth(t *testing.T, run func(t *testing.T, w *world)) {
	for _, engine := range statetest.Engines() {
		t.Run(engine, func(t *testing.T) { run(t, newWorld(t, engine)) })
	}
}

// An eval is stored once for what it means, with a version for each meaning.
func TestPut(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		for i, c := range []struct {
			source           string
			created, changed bool
			version          int
			code             string
		}{
			{"ci OPENAI_API_KEY", true, true, 1, ""},
			{"ci OPENAI_API_KEY", false, false, 1, ""},
			{"ci", false, true, 2, ""},
			{"ci wrong wrong", false, false, 0, "invalid_eval"},
			{"ci \x00", false, false, 0, "invalid_eval"},
			{strings.Repeat("x", evals.MaxSource+1), false, false, 0, "invalid_eval"},
			{"b", true, true, 1, ""}, {"c", true, true, 1, ""},
			{"d", false, false, 0, "too_many_evals"},
		} {
			e, created, changed, err := w.Put(t.Context(), w.paid, []byte(c.source))
			if code(err) != c.code || created != c.created || changed != c.changed || err == nil && e.Version != c.version {
				t.Errorf("%d %.20q: %+v %v %v, %v", i, c.source, e, created, changed, err)
			}
			if c.code == "invalid_eval" && len(evals.Issues(err)) == 0 {
				t.Errorf("%.20q: no issues: %v", c.source, err)
			}
		}
		list, next, err := w.Evals(t.Context(), w.paid, "", 2)
		if err != nil || len(list) != 2 || list[0].Name != "b" || list[0].Source != "" || next == "" {
			t.Fatalf("%v %q %v", list, next, err)
		}
		list, end, err := w.Evals(t.Context(), w.paid, next, 2)
		if err != nil || len(list) != 1 || list[0].Name != "ci" || end != "" {
			t.Fatalf("%v %q %v", list, end, err)
		}
		first, err := w.Version(t.Context(), w.paid, list[0].ID, 1)
		if err != nil || first.Source != "ci OPENAI_API_KEY" || !slices.Equal(first.MissingKeys, []string{"OPENAI_API_KEY"}) {
			t.Errorf("%+v %v", first, err)
		}
		_, err = w.Version(t.Context(), w.paid, list[0].ID, 3)
		_, foreign := w.Eval(t.Context(), w.eve, list[0].ID)
		_, _, bad := w.Evals(t.Context(), w.paid, "nonsense", 2)
		_, _, _, free := w.Put(t.Context(), w.free, []byte("ci"))
		if code(err) != "eval_not_found" || code(foreign) != "eval_not_found" || code(bad) != "invalid_request" || code(free) != "plan_required" {
			t.Error(err, foreign, bad, free)
		}
		if theirs, _, err := w.Evals(t.Context(), w.eve, "", 0); err != nil || len(theirs) != 0 {
			t.Errorf("eve sees %v, %v", theirs, err)
		}
	})
}

// TestWithoutPlans: every workspace has evals, and the paid plan, where a server has no plans.
func TestWithoutPlans(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		w.Plans = false
		if _, _, _, err := w.Put(t.Context(), w.free, []byte("ci")); err != nil {
			t.Error(err)
		}
		_, token, err := w.CreateKey(t.Context(), w.free, evals.KeyRequest{Label: "ci"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Authenticate(t.Context(), token, netip.Addr{}, ""); err != nil || w.Plan(w.free.Workspace) != state.PlanPaid {
			t.Error(err, w.Plan(w.free.Workspace))
		}
	})
}

// A run is queued once for a key, within the caps, when all that it needs is there.
func TestStart(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		e, keyed := w.put(t, w.paid, "ci"), w.put(t, w.paid, "keyed OPENAI_API_KEY")
		first := w.start(t, w.paid, evals.StartRequest{EvalID: e.ID, BudgetUSD: 5, IdempotencyKey: "a"})
		if first.Status != "queued" || first.BudgetUSD != 5 || first.Planned != 30 || first.EvalName != "ci" || first.Category != "payments" || first.EvalVersion != 1 {
			t.Errorf("%+v", first)
		}
		w.put(t, w.paid, "ci ")
		again, replayed, err := w.Start(t.Context(), w.paid, evals.StartRequest{EvalID: e.ID, BudgetUSD: 5, IdempotencyKey: "a"})
		if err != nil || !replayed || again.ID != first.ID || again.EvalVersion != 1 {
			t.Errorf("again: %+v %v %v", again, replayed, err)
		}
		if old := w.start(t, w.paid, evals.StartRequest{EvalID: e.ID, BudgetUSD: 0.5, Version: 1}); old.EvalVersion != 1 {
			t.Errorf("%+v", old)
		}
		for i, c := range []struct {
			a    evals.Actor
			req  evals.StartRequest
			code string
		}{
			{w.paid, evals.StartRequest{EvalID: e.ID, BudgetUSD: 6, IdempotencyKey: "a"}, "idempotency_conflict"},
			{w.paid, evals.StartRequest{EvalID: e.ID, BudgetUSD: 5, IdempotencyKey: "with blank"}, "invalid_request"},
			{w.paid, evals.StartRequest{EvalID: e.ID}, "invalid_request"},
			{w.paid, evals.StartRequest{EvalID: e.ID, BudgetUSD: -1}, "invalid_request"},
			{w.paid, evals.StartRequest{EvalID: e.ID, BudgetUSD: 101}, "invalid_request"},
			{w.paid, evals.StartRequest{EvalID: e.ID, BudgetUSD: 5, Version: 9}, "eval_not_found"},
			{w.paid, evals.StartRequest{EvalID: "evl_none", BudgetUSD: 5}, "eval_not_found"},
			{w.eve, evals.StartRequest{EvalID: e.ID, BudgetUSD: 5}, "eval_not_found"},
			{w.free, evals.StartRequest{EvalID: e.ID, BudgetUSD: 5}, "plan_required"},
			{w.paid, evals.StartRequest{EvalID: keyed.ID, BudgetUSD: 5}, "provider_key_missing"},
		} {
			if _, _, err := w.Start(t.Context(), c.a, c.req); code(err) != c.code {
				t.Errorf("%d: %v, want %s", i, err, c.code)
			}
		}
		if _, err := w.SetProviderKey(t.Context(), w.paid, evals.KeyChange{Name: "OPENAI_API_KEY", Value: "sk-12345678"}); err != nil {
			t.Fatal(err)
		}
		w.start(t, w.paid, evals.StartRequest{EvalID: keyed.ID, BudgetUSD: 5})
		if _, _, err := w.Start(t.Context(), w.paid, evals.StartRequest{EvalID: e.ID, BudgetUSD: 5}); code(err) != "queue_full" || apierr.Of(err).RetryAfter == 0 {
			t.Errorf("a fourth: %v", err)
		}
		if r, replayed, err := w.Start(t.Context(), w.paid, evals.StartRequest{EvalID: e.ID, BudgetUSD: 5, IdempotencyKey: "a"}); err != nil || !replayed || r.ID != first.ID {
			t.Errorf("a repetition while the queue is full: %v %v", replayed, err)
		}
	})
}

// Runs are listed newest first, by eval and status; a cursor belongs to its list.
func TestRuns(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		a, b := w.put(t, w.paid, "a"), w.put(t, w.paid, "b")
		var ids []string
		for _, e := range []*evals.Eval{a, b, a} {
			ids = append(ids, w.start(t, w.paid, evals.StartRequest{EvalID: e.ID, BudgetUSD: 1}).ID)
			w.now = w.now.Add(time.Second)
		}
		if _, err := w.Cancel(t.Context(), w.paid, ids[0]); err != nil {
			t.Fatal(err)
		}
		got := func(q evals.RunQuery) (out []string) {
			for {
				q.Limit = 1
				list, next, err := w.Runs(t.Context(), w.paid, q)
				if err != nil {
					t.Fatal(err)
				}
				for _, r := range list {
					out = append(out, r.ID)
				}
				if q.Cursor = next; next == "" {
					return out
				}
			}
		}
		for i, c := range []struct {
			q    evals.RunQuery
			want []string
		}{
			{evals.RunQuery{}, []string{ids[2], ids[1], ids[0]}},
			{evals.RunQuery{EvalID: a.ID}, []string{ids[2], ids[0]}},
			{evals.RunQuery{Status: "queued"}, []string{ids[2], ids[1]}},
			{evals.RunQuery{EvalID: a.ID, Status: "cancelled"}, []string{ids[0]}},
		} {
			if out := got(c.q); !slices.Equal(out, c.want) {
				t.Errorf("%d: %v, want %v", i, out, c.want)
			}
		}
		_, cursor, _ := w.Runs(t.Context(), w.paid, evals.RunQuery{Limit: 1})
		_, _, other := w.Runs(t.Context(), w.paid, evals.RunQuery{Status: "queued", Cursor: cursor})
		_, _, status := w.Runs(t.Context(), w.paid, evals.RunQuery{Status: "gone"})
		_, _, foreign := w.Runs(t.Context(), w.eve, evals.RunQuery{EvalID: a.ID})
		if code(other) != "invalid_request" || code(status) != "invalid_request" || code(foreign) != "eval_not_found" {
			t.Error(other, status, foreign)
		}
		if theirs, _, err := w.Runs(t.Context(), w.eve, evals.RunQuery{Cursor: cursor}); err != nil || len(theirs) != 0 {
			t.Errorf("eve sees %v, %v", theirs, err)
		}
	})
}

// A watcher hears every event once and in order, is told the end, and goes on where
// it was.
func TestWatch(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		r := w.start(t, w.paid, evals.StartRequest{EvalID: w.put(t, w.paid, "ci").ID, BudgetUSD: 5})
		var lease state.RunLease
		worker := []func(tx *state.Tx) error{
			func(tx *state.Tx) error {
				row, err := tx.ClaimRun(t.Context(), "w", w.now, time.Hour)
				lease = row.Lease()
				return errors.Join(err, tx.AppendRunEvents(t.Context(), row.ID, []state.RunEvent{{At: w.now, Body: []byte(`{"type":"started"}`)}}))
			},
			func(tx *state.Tx) error {
				w.now = w.now.Add(20 * time.Second) // quiet
				return nil
			},
			func(tx *state.Tx) error {
				return errors.Join(
					tx.FinishRun(t.Context(), lease, w.now, state.RunOutcome{Status: state.RunDone, RunProgress: state.RunProgress{Planned: 30, Valid: 30}}),
					tx.AppendRunEvents(t.Context(), r.ID, []state.RunEvent{{At: w.now, Body: []byte(`{"type":"progress"}`)}, {At: w.now, Body: []byte(`{"type":"ended","status":"done"}`)}}))
			},
		}
		w.slept = func() {
			if len(worker) > 0 {
				if err := w.DB.Write(t.Context(), worker[0]); err != nil {
					t.Error(err)
				}
				worker = worker[1:]
			}
		}
		watch := func(after int64) (out []string) {
			if err := w.Watch(t.Context(), w.paid, r.ID, after, func(e evals.Event) error {
				var body struct{ Type, Status string }
				if e.Body != nil {
					if err := json.Unmarshal(e.Body, &body); err != nil {
						t.Error(err)
					}
				}
				out = append(out, body.Type+body.Status)
				return nil
			}); err != nil {
				t.Error(err)
			}
			return out
		}
		if got, want := watch(0), []string{"started", "", "progress", "endeddone"}; !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
		if got, want := watch(1), []string{"progress", "endeddone"}; !slices.Equal(got, want) {
			t.Errorf("from the second on: %q, want %q", got, want)
		}
		if got, want := watch(3), []string{"endeddone"}; !slices.Equal(got, want) {
			t.Errorf("after the end: %q, want %q", got, want)
		}
		if err := w.Watch(t.Context(), w.eve, r.ID, 0, func(evals.Event) error { t.Error("eve hears"); return nil }); code(err) != "run_not_found" {
			t.Error(err)
		}
		gone := errors.New("gone")
		if err := w.Watch(t.Context(), w.paid, r.ID, 0, func(evals.Event) error { return gone }); !errors.Is(err, gone) {
			t.Error(err)
		}
	})
}

// A queued run is cancelled at once, and who watches hears of it; a running one is
// asked to end; what ended stays.
func TestCancel(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		e := w.put(t, w.paid, "ci")
		queued, running := w.start(t, w.paid, evals.StartRequest{EvalID: e.ID, BudgetUSD: 5}), w.start(t, w.paid, evals.StartRequest{EvalID: e.ID, BudgetUSD: 5})
		if err := w.DB.Write(t.Context(), func(tx *state.Tx) error {
			row, err := tx.ClaimRun(t.Context(), "w", w.now, time.Hour)
			if row.ID != running.ID { // the oldest of the same moment is chosen by id
				queued, running = running, queued
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			w.now = w.now.Add(time.Second)
			r, err := w.Cancel(t.Context(), w.paid, queued.ID)
			if err != nil || r.Status != "cancelled" || r.EndedAt == nil || !r.CancelRequested {
				t.Errorf("%+v %v", r, err)
			}
			if r, err = w.Cancel(t.Context(), w.paid, running.ID); err != nil || r.Status != "running" || r.EndedAt != nil || !r.CancelRequested {
				t.Errorf("%+v %v", r, err)
			}
		}
		events, err := w.DB.Read().RunEventsAfter(t.Context(), queued.ID, 0, 10)
		if err != nil || len(events) != 1 {
			t.Errorf("%v %v", events, err)
		}
		_, foreign := w.Cancel(t.Context(), w.eve, running.ID)
		_, _, none := w.Results(t.Context(), w.paid, queued.ID)
		_, _, early := w.Results(t.Context(), w.paid, running.ID)
		if code(foreign) != "run_not_found" || code(none) != "no_results" || code(early) != "no_results" || none.Error() == "" {
			t.Error(foreign, none, early)
		}
		report, err := w.Report(t.Context(), w.paid, queued.ID)
		if err != nil || report.Scores != nil || report.Status != "cancelled" {
			t.Errorf("%+v %v", report, err)
		}
	})
}

// A key lets in while it is live, its workspace pays and the owner's account is
// open, for what its scopes say; keys make no keys.
func TestKeys(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		in := func(token string) (*evals.Actor, error) {
			return w.Authenticate(t.Context(), token, netip.MustParseAddr("192.0.2.1"), "test")
		}
		k, token, err := w.CreateKey(t.Context(), w.paid, evals.KeyRequest{Label: " ci ", Scopes: []string{"read"}})
		if err != nil || k.Label != "ci" || !strings.HasPrefix(token, "fpe_") || strings.Contains(k.Shown, token[4:20]) {
			t.Fatalf("%+v %v", k, err)
		}
		a, err := in(token)
		if err != nil || a.Workspace.ID != w.paid.Workspace.ID || a.By != k.ID {
			t.Fatalf("%+v %v", a, err)
		}
		if own, err := w.Key(t.Context(), *a); err != nil || own.LastUsedAt == nil || !own.LastUsedAt.Equal(w.now) {
			t.Errorf("%+v %v", own, err)
		}
		_, _, _, put := w.Put(t.Context(), *a, []byte("ci"))
		_, _, mint := w.CreateKey(t.Context(), *a, evals.KeyRequest{})
		_, _, free := w.CreateKey(t.Context(), w.free, evals.KeyRequest{})
		_, _, scope := w.CreateKey(t.Context(), w.paid, evals.KeyRequest{Scopes: []string{"admin"}})
		_, _, label := w.CreateKey(t.Context(), w.paid, evals.KeyRequest{Label: "a\nb"})
		if code(put) != "insufficient_scope" || code(mint) != "access_denied" || code(free) != "plan_required" || code(scope) != "invalid_request" || code(label) != "invalid_request" {
			t.Error(put, mint, free, scope, label)
		}
		if _, _, err := w.CreateKey(t.Context(), w.paid, evals.KeyRequest{}); err != nil {
			t.Error(err)
		}
		if _, _, err := w.CreateKey(t.Context(), w.paid, evals.KeyRequest{}); code(err) != "too_many_keys" {
			t.Error(err)
		}
		for _, other := range []string{"", "fpe_", token + "x", "fpe_" + strings.Repeat("a", 38), "sk_live_" + token[4:]} {
			if _, err := in(other); code(err) != "invalid_token" {
				t.Errorf("%q: %v", other, err)
			}
		}
		w.disable(t, true)
		if _, err := in(token); code(err) != "invalid_token" {
			t.Errorf("a shut account: %v", err)
		}
		w.disable(t, false)
		w.plan(t, state.PlanFree)
		if _, err := in(token); code(err) != "plan_required" {
			t.Errorf("a free plan: %v", err)
		}
		w.plan(t, state.PlanPaid)
		if err := w.RevokeKey(t.Context(), w.eve, k.ID); code(err) != "not_found" {
			t.Errorf("eve revokes: %v", err)
		}
		if err := w.RevokeKey(t.Context(), *a, k.ID); code(err) != "access_denied" {
			t.Errorf("a key revokes: %v", err)
		}
		if err := w.RevokeKey(t.Context(), w.paid, k.ID); err != nil {
			t.Error(err)
		}
		if _, err := in(token); code(err) != "invalid_token" {
			t.Errorf("revoked: %v", err)
		}
		keys, err := w.Keys(t.Context(), w.paid)
		if err != nil || len(keys) != 2 {
			t.Errorf("%+v %v", keys, err)
		}
		for _, key := range keys {
			if (key.RevokedAt != nil) != (key.ID == k.ID) {
				t.Errorf("%+v", key)
			}
		}
	})
}

func (w *world) disable(t *testing.T, off bool) {
	t.Helper()
	if err := w.DB.Write(t.Context(), func(tx *state.Tx) error {
		dana, err := tx.Account(t.Context(), "acc_dana")
		if err != nil {
			return err
		}
		if dana.DisabledAt = (time.Time{}); off {
			dana.DisabledAt = w.now
		}
		return tx.SaveAccount(t.Context(), dana)
	}); err != nil {
		t.Fatal(err)
	}
}

func (w *world) plan(t *testing.T, plan string) {
	t.Helper()
	if err := w.DB.Write(t.Context(), func(tx *state.Tx) error { return tx.SetPlanOf(t.Context(), w.paid.Workspace.ID, plan) }); err != nil {
		t.Fatal(err)
	}
}

// A provider key is shown by its end alone, and only names that are keys' are taken.
func TestProviderKeys(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		const value = "sk-proj-0123456789abcdef"
		k, err := w.SetProviderKey(t.Context(), w.paid, evals.KeyChange{Name: "OPENAI_API_KEY", Value: " " + value + "\n"})
		if err != nil || k.Shown != "...cdef" {
			t.Fatalf("%+v %v", k, err)
		}
		w.now = w.now.Add(time.Second)
		if k, err = w.SetProviderKey(t.Context(), w.paid, evals.KeyChange{Name: "OPENAI_API_KEY", Value: "sk-proj-another0"}); err != nil || k.Shown != "...her0" || !k.UpdatedAt.After(k.CreatedAt) {
			t.Fatalf("%+v %v", k, err)
		}
		for _, name := range []string{"", "LD_PRELOAD", "PATH", "openai_api_key", "1_KEY", "A B_KEY", "A_KEY=", strings.Repeat("A", 100) + "_KEY"} {
			if _, err := w.SetProviderKey(t.Context(), w.paid, evals.KeyChange{Name: name, Value: value}); code(err) != "invalid_request" {
				t.Errorf("name %q: %v", name, err)
			}
		}
		for _, bad := range []string{"", "short", "with blank inside", "ünïcödé-key", strings.Repeat("x", 5000), "line\nline2345", "1234567890123456"} {
			if _, err := w.SetProviderKey(t.Context(), w.paid, evals.KeyChange{Name: "A_KEY", Value: bad}); code(err) != "invalid_request" || strings.Contains(err.Error(), bad) && bad != "" {
				t.Errorf("value %q: %v", bad, err)
			}
		}
		if _, err := w.SetProviderKey(t.Context(), w.paid, evals.KeyChange{Name: "A_KEY", Value: value, Hosts: []string{"a.example"}}); err != nil {
			t.Error(err)
		}
		if _, err := w.SetProviderKey(t.Context(), w.paid, evals.KeyChange{Name: "B_KEY", Value: value, Hosts: []string{"b.example"}}); code(err) != "too_many_keys" {
			t.Error(err)
		}
		if _, err := w.SetProviderKey(t.Context(), w.free, evals.KeyChange{Name: "B_KEY", Value: value, Hosts: []string{"b.example"}}); code(err) != "plan_required" {
			t.Error(err)
		}
		if err := w.DropProviderKey(t.Context(), w.eve, "A_KEY"); code(err) != "not_found" {
			t.Error(err)
		}
		if err := w.DropProviderKey(t.Context(), w.paid, "A_KEY"); err != nil {
			t.Error(err)
		}
		keys, err := w.ProviderKeys(t.Context(), w.paid)
		if err != nil || len(keys) != 1 || keys[0].Name != "OPENAI_API_KEY" {
			t.Errorf("%+v %v", keys, err)
		}
	})
}
