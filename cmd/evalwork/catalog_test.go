package evalwork_test

import (
	"crypto/rand"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/cmd/evalwork"
	"github.com/firstpick/firstpick/fixtures/prices"
	"github.com/firstpick/firstpick/runner/provider/providertest"
	"github.com/firstpick/firstpick/server/evals/bundle"
	"github.com/firstpick/firstpick/server/evals/evals"
	"github.com/firstpick/firstpick/server/kit/secret"
	"github.com/firstpick/firstpick/server/store/erasure"
	"github.com/firstpick/firstpick/server/store/state"
)

// service is the service of the servers that share the world's store.
func (w *world) service() *evals.Service {
	return &evals.Service{
		DB: w.db, Secrets: secret.Source{Rand: rand.Reader}, Checker: &evalwork.Checker{Catalog: w.worker.Catalog, Prices: w.worker.Prices, Policy: w.worker.Policy},
		Bundles: bundle.NewCache(w.worker.Bundles, nil, 4), Log: slog.New(slog.DiscardHandler), Now: time.Now, Sleep: sleep, BaseURL: "https://fp.example", Plans: true,
	}
}

// tenant makes a workspace whose key may be sent to a fake model.
func (w *world) tenant(s *evals.Service, name, url string) evals.Actor {
	w.t.Helper()
	ws := &state.Workspace{ID: "wsp_" + name, Slug: name, OwnerID: "acc_" + name, Plan: "paid", CreatedAt: time.Now(), ClaimedAt: time.Now()}
	w.write(func(tx *state.Tx) error {
		if err := tx.AddAccount(w.t.Context(), &state.Account{ID: ws.OwnerID, Email: name + "@tenant.example", VerifiedAt: time.Now(), CreatedAt: time.Now()}); err != nil {
			return err
		}
		_, err := tx.AddWorkspace(w.t.Context(), ws)
		return err
	})
	a := evals.Actor{Workspace: ws, By: ws.OwnerID}
	host, err := evals.KeyHost(url)
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := s.SetProviderKey(w.t.Context(), a, evals.KeyChange{Name: "FAKE_API_KEY", Value: theKey, Hosts: []string{host}}); err != nil {
		w.t.Fatal(err)
	}
	return a
}

func voting(tools string) []byte {
	return []byte("category: {slug: feature-voting, name: Feature voting, domain: saas, summary: Votes on features.}\ntools:\n" + tools)
}

func votingEval(url string) []byte {
	return []byte(strings.Replace(asked(3, model("api", url)), "category: webserver", "category: feature-voting", 1))
}

func (w *world) startOf(s *evals.Service, a evals.Actor, e *evals.Eval) *evals.Run {
	w.t.Helper()
	r, _, err := s.Start(w.t.Context(), a, evals.StartRequest{EvalID: e.ID, BudgetUSD: 1})
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

func (w *world) report(s *evals.Service, a evals.Actor, r *evals.Run) *evals.Report {
	w.t.Helper()
	for deadline := time.Now().Add(time.Minute); ; _ = sleep(w.t.Context(), 10*time.Millisecond) {
		report, err := s.Report(w.t.Context(), a, r.ID)
		if err != nil {
			w.t.Fatal(err)
		}
		if report.EndedAt != nil {
			return report
		}
		if time.Now().After(deadline) {
			w.t.Fatalf("not ended: %+v", report.Run)
		}
	}
}

// picks are the tools of a report's board with their picks.
func picks(r *evals.Report) (out []string) {
	if r.Scores == nil {
		return []string{"no board: " + r.Note}
	}
	for _, t := range r.Scores.Board.Tools {
		out = append(out, t.Slug+"="+t.Tool+strings.Repeat("+", t.Picks))
	}
	slices.Sort(out)
	return out
}

// TestAnOwnCatalogue: a tool that the server's catalogue lacks, in a category that it
// lacks, is measured. A run keeps the version that was current when it was started, another
// workspace means another tool by the same slug, and all of it goes with the workspace.
func TestAnOwnCatalogue(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		f := fake(t, providertest.Always(providertest.Step{Text: "I recommend Votely for this.", Usage: prices.Usage{Input: 20, Output: 10}}))
		s, ctx := w.service(), t.Context()
		dana, eve, fred := w.tenant(s, "dana", f.URL), w.tenant(s, "eve", f.URL), w.tenant(s, "fred", f.URL)
		source := votingEval(f.URL)

		if _, err := s.Check(ctx, dana, source); len(evals.Issues(err)) != 1 || !strings.Contains(evals.Issues(err)[0].Message, `no category "feature-voting"`) {
			t.Fatalf("without an own catalogue: %v", err)
		}
		put := func(a evals.Actor, text []byte) *evals.Catalog {
			t.Helper()
			c, _, err := s.PutCatalog(ctx, a, text, evals.AnyCatalog)
			if err != nil {
				t.Fatal(err, evals.Issues(err))
			}
			return c
		}
		one := put(dana, voting("  - {slug: ours, name: Votely}\n  - {slug: canny, name: Canny}\n"))
		put(eve, voting("  - {slug: ours, name: Ballot Box}\n  - {slug: poll, name: Poll}\n"))
		if _, err := s.Check(ctx, fred, source); len(evals.Issues(err)) != 1 {
			t.Errorf("another workspace has the category: %v", err)
		}
		store := func(a evals.Actor) *evals.Eval {
			t.Helper()
			e, _, _, err := s.Put(ctx, a, source)
			if err != nil {
				t.Fatal(err, evals.Issues(err))
			}
			return e
		}
		danas, eves := store(dana), store(eve)
		if danas.CatalogDigest != one.Digest || one.Digest == "" {
			t.Errorf("validated with %q, want %q", danas.CatalogDigest, one.Digest)
		}
		first := w.startOf(s, dana, danas)
		two := put(dana, voting("  - {slug: ours, name: Voting Machine}\n  - {slug: canny, name: Canny}\n  - {slug: third, name: Third}\n"))
		second, theirs := w.startOf(s, dana, danas), w.startOf(s, eve, eves)
		w.start()
		was, is, other := w.report(s, dana, first), w.report(s, dana, second), w.report(s, eve, theirs)
		for _, tt := range []struct {
			r    *evals.Report
			want []string
		}{
			{was, []string{"canny=Canny", "ours=Votely+++"}},
			{is, []string{"canny=Canny", "ours=Voting Machine", "third=Third"}},
			{other, []string{"ours=Ballot Box", "poll=Poll"}},
		} {
			if got := picks(tt.r); !slices.Equal(got, tt.want) {
				t.Errorf("%s: %q, want %q", tt.r.ID, got, tt.want)
			}
		}
		if was.CatalogVersion != one.Version || is.CatalogVersion != two.Version || was.Manifest.CategoryVersion == is.Manifest.CategoryVersion || was.Manifest.Catalog == w.worker.Catalog.Version {
			t.Errorf("versions %d %d, categories %s %s", was.CatalogVersion, is.CatalogVersion, was.Manifest.CategoryVersion, is.Manifest.CategoryVersion)
		}
		if again := store(dana); again.Version != danas.Version {
			t.Errorf("another catalogue made version %d of an eval with the same meaning", again.Version)
		}
		c, err := s.Compare(ctx, dana, second.ID, first.ID)
		if err != nil || len(c.Notes) == 0 || !strings.Contains(noteOf(c, "catalog"), "(own version 1 before, own version 2 now); only in the base: none; only in the run: third") {
			t.Errorf("%v %+v", err, c)
		}

		// A change of another category is no change of what is compared.
		put(dana, []byte(string(voting("  - {slug: ours, name: Voting Machine}\n  - {slug: canny, name: Canny}\n  - {slug: third, name: Third}\n"))+"---\ncategory: {slug: payments}\ntools: [{slug: votely-pay, name: Votely Pay}]\n"))
		third := w.report(s, dana, w.startOf(s, dana, danas))
		if c, err := s.Compare(ctx, dana, third.ID, second.ID); err != nil || noteOf(c, "catalog") != "" || third.Manifest.Catalog == is.Manifest.Catalog {
			t.Errorf("%v %+v", err, c)
		}

		// Without its category the run says why it failed.
		if c := put(dana, []byte("# nothing\n")); len(c.Warnings) != 1 || !strings.Contains(c.Warnings[0], "own (feature-voting)") {
			t.Errorf("warnings: %q", c.Warnings)
		}
		if r := w.report(s, dana, w.startOf(s, dana, danas)); r.Status != state.RunFailed || !strings.Contains(r.Note, `no category "feature-voting"`) {
			t.Errorf("%+v", r.Run)
		}

		w.eraseAll(dana)
		found, err := erasure.SearchFiles(ctx, []string{w.worker.Data}, []string{"wsp_dana", "Canny", "Voting Machine"})
		if err != nil || len(found.Finds) > 0 || len(found.Failed) > 0 {
			t.Errorf("after the erasure: %v %+v", err, found)
		}
		if rows, _, err := w.db.Search(ctx, []string{"wsp_dana", "Canny", "Voting Machine"}); err != nil || len(rows) > 0 {
			t.Errorf("after the erasure: %v %+v", err, rows)
		}
		if list, err := w.db.Read().Catalogs(ctx, dana.Workspace.ID, 9); err != nil || len(list) != 0 {
			t.Errorf("%v %+v", err, list)
		}
		if c, err := s.Catalog(ctx, eve); err != nil || c.Version != 1 {
			t.Errorf("the other workspace's: %v %+v", err, c)
		}
	})
}

func noteOf(c *evals.Comparison, code string) string {
	for _, n := range c.Notes {
		if n.Code == code {
			return n.Message
		}
	}
	return ""
}

func (w *world) eraseAll(a evals.Actor) {
	w.t.Helper()
	e := w.erasures()
	e.Now = func() time.Time { return time.Now().Add(time.Hour) } // a workspace settles first
	if err := w.erasures().Request(w.t.Context(), state.EraseWorkspace, a.Workspace.ID); err != nil {
		w.t.Fatal(err)
	}
	if n, err := e.Work(w.t.Context()); n != 0 || err != nil {
		w.t.Fatal(n, err)
	}
}

// TestAnOwnCatalogueThatNoLongerFits: the server's catalogue changed since.
func TestAnOwnCatalogueThatNoLongerFits(t *testing.T) {
	w := newWorld(t, "sqlite")
	f := fake(t, providertest.Always(answered()))
	s := w.service()
	dana := w.tenant(s, "dana", f.URL)
	if _, _, err := s.PutCatalog(t.Context(), dana, voting("  - {slug: votely, name: Votely}\n"), 0); err != nil {
		t.Fatal(err)
	}
	e, _, _, err := s.Put(t.Context(), dana, votingEval(f.URL))
	if err != nil {
		t.Fatal(err, evals.Issues(err))
	}
	// The new release has a tool of that slug elsewhere.
	if w.worker.Catalog, err = w.worker.Catalog.Overlay("release", []byte("category: {slug: payments}\ntools: [{slug: votely, name: Votely Pay}]")); err != nil {
		t.Fatal(err)
	}
	r := w.startOf(s, dana, e)
	w.start()
	if got := w.report(s, dana, r); got.Status != state.RunFailed || !strings.Contains(got.Note, `line 3: the catalogue below has "votely" (Votely Pay) in category payments`) {
		t.Errorf("%+v", got.Run)
	}
	later := w.service()
	if _, err := later.Check(t.Context(), dana, votingEval(f.URL)); len(evals.Issues(err)) != 1 || !strings.Contains(evals.Issues(err)[0].Message, "catalogue, version 1, does not fit") {
		t.Errorf("%v %+v", err, evals.Issues(err))
	}
	if list, err := later.OwnCategories(t.Context(), dana); err != nil || list != nil {
		t.Errorf("%d categories, %v", len(list), err)
	}
}
