package evalpages_test

import (
	"context"
	"errors"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/fixtures"
	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/publish/trialset"
	"github.com/firstpick/firstpick/server"
	"github.com/firstpick/firstpick/server/evals/evals"
	"github.com/firstpick/firstpick/server/servertest"
	"github.com/firstpick/firstpick/server/store/state"
)

// newService starts a server that knows the built-in categories.
func newService(t testing.TB) *servertest.Service {
	t.Helper()
	cat, err := catalog.Load(fixtures.Files(), "catalog")
	if err != nil {
		t.Fatal(err)
	}
	return servertest.New(t, servertest.Options{
		Server: func(c *server.Config) { c.Categories = cat.Categories }, Evals: func(e *evals.Service) { e.Checker = priced{e.Checker, e.Checker.(evals.Proposer)} },
	})
}

// priced says what evals cost, which the checker of tests does not know.
type priced struct {
	evals.Checker
	evals.Proposer
}

// Check implements evals.Checker.
func (p priced) Check(source []byte) (evals.Checked, []evals.Issue) {
	c, issues := p.Checker.Check(source)
	expected, worst := 0.0117*float64(c.Trials), 0.09*float64(c.Trials)
	c.ExpectedUSD, c.WorstUSD = &expected, &worst
	return c, issues
}

// An owner is a person with a browser and a workspace.
type owner struct {
	t    testing.TB
	s    *servertest.Service
	w    *state.Workspace
	http *http.Client
}

// newOwner makes a workspace and signs its owner in by mail.
func newOwner(t testing.TB, s *servertest.Service, slug, plan string) *owner {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	o := &owner{t: t, s: s, w: s.Workspace(t, slug, plan), http: &http.Client{Jar: jar}}
	o.signIn()
	return o
}

func (o *owner) signIn() {
	o.t.Helper()
	address := o.w.Slug + "@example.com"
	if status, body := o.post("/signin", url.Values{"email": {address}}); status != http.StatusOK {
		o.t.Fatalf("signin: %d %s", status, body)
	}
	if status, body := o.get(o.s.Mail.Link(o.t, address, "Sign in")[len(o.s.URL):]); status != http.StatusOK {
		o.t.Fatalf("signed in: %d %s", status, body)
	}
}

// at returns the path of a page of the workspace.
func (o *owner) at(page string) string { return "/workspaces/" + o.w.Slug + page }

func (o *owner) actor() evals.Actor { return servertest.Owner(o.w) }

// get returns the status and the page at a path, redirects followed.
func (o *owner) get(path string) (int, string) {
	o.t.Helper()
	resp, err := o.http.Get(o.s.URL + path)
	if err != nil {
		o.t.Fatal(err)
	}
	return read(o.t, resp)
}

func (o *owner) post(path string, form url.Values) (int, string) {
	o.t.Helper()
	resp, err := o.http.PostForm(o.s.URL+path, form)
	if err != nil {
		o.t.Fatal(err)
	}
	return read(o.t, resp)
}

func read(t testing.TB, resp *http.Response) (int, string) {
	t.Helper()
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

var tokenPattern = regexp.MustCompile(`name="form_token" value="([^"]+)"`)

// formToken returns the token of the owner's forms.
func (o *owner) formToken() string {
	o.t.Helper()
	_, body := o.get(o.at("/settings"))
	m := tokenPattern.FindStringSubmatch(body)
	if m == nil {
		o.t.Fatalf("no form in %s", body)
	}
	return m[1]
}

// send posts a form of a page.
func (o *owner) send(path string, pairs ...string) (int, string) {
	o.t.Helper()
	form := url.Values{"form_token": {o.formToken()}}
	for i := 0; i+1 < len(pairs); i += 2 {
		form.Add(pairs[i], pairs[i+1])
	}
	return o.post(o.at(path), form)
}

// put stores an eval.
func (o *owner) put(text string) *evals.Eval {
	o.t.Helper()
	e, _, _, err := o.s.Evals.Put(o.t.Context(), o.actor(), []byte(text))
	if err != nil {
		o.t.Fatal(err)
	}
	return e
}

// keys sets the provider keys that the tests' evals need.
func (o *owner) keys(names ...string) {
	o.t.Helper()
	for _, name := range names {
		if _, err := o.s.Evals.SetProviderKey(o.t.Context(), o.actor(), evals.KeyChange{Name: name, Value: "sk-secret-of-" + o.w.Slug}); err != nil {
			o.t.Fatal(err)
		}
	}
}

// start queues a run.
func (o *owner) start(e *evals.Eval) *evals.Run {
	o.t.Helper()
	r, _, err := o.s.Evals.Start(o.t.Context(), o.actor(), evals.StartRequest{EvalID: e.ID, BudgetUSD: 5})
	if err != nil {
		o.t.Fatal(err)
	}
	return r
}

// end ends a run as a worker does; bundles is a folder with the one that it left, or
// empty for a run that left none.
func (o *owner) end(run *evals.Run, bundles string, out state.RunOutcome) {
	o.t.Helper()
	o.write(func(ctx context.Context, tx *state.Tx) error {
		r, err := tx.ClaimRun(ctx, "worker", o.s.Clock.Now(), time.Minute)
		if err != nil {
			return err
		}
		if r == nil || r.ID != run.ID {
			return errors.New("another run is first")
		}
		if bundles != "" {
			out.Bundle = o.place(bundles)
		}
		return errors.Join(
			tx.AppendRunEvents(ctx, r.ID, []state.RunEvent{{At: o.s.Clock.Now(), Body: []byte(`{"type":"ended","status":"` + out.Status + `","note":""}`)}}),
			tx.FinishRun(ctx, r.Lease(), o.s.Clock.Now().Add(7*time.Minute), out))
	})
}

// place copies a bundle to where the server looks for the workspace's.
func (o *owner) place(bundles string) string {
	o.t.Helper()
	there, err := os.ReadDir(bundles)
	if err != nil || len(there) != 1 {
		o.t.Fatal("one bundle belongs in", bundles, err)
	}
	id := there[0].Name()
	if err := os.CopyFS(filepath.Join(o.s.Bundles, o.w.ID, id), os.DirFS(filepath.Join(bundles, id))); err != nil && !errors.Is(err, os.ErrExist) {
		o.t.Fatal(err)
	}
	return id
}

func (o *owner) write(fn func(ctx context.Context, tx *state.Tx) error) {
	o.t.Helper()
	if err := o.s.Agents.DB.Write(o.t.Context(), func(tx *state.Tx) error { return fn(o.t.Context(), tx) }); err != nil {
		o.t.Fatal(err)
	}
}

// The evals and results of the tests.
const (
	payments = `name: payments
category: payments
description: Which payment service do agents pick for the products that our customers build?
repeats: 3
agents:
  - {name: sonnet, kind: anthropic, model: claude-sonnet-4-5}
  - {name: gpt, kind: openai-responses, model: gpt-5.1}
  - {name: claude-code, kind: claude-code, model: claude-sonnet-4-5}
prompts:
  - {id: saas-subscriptions, text: We need subscriptions.}
  - {id: marketplace, text: We pay out to sellers.}
`
	bundleBefore = "testdata/bundles/before"
	bundleNow    = "testdata/bundles/now"
	bundleSmall  = "../evals/testdata/bundles" // one of every outcome
)

func done(valid, excluded, planned int) state.RunOutcome {
	return state.RunOutcome{Status: state.RunDone, RunProgress: state.RunProgress{Planned: planned, Valid: valid, Excluded: excluded, SpentMicros: 731_400, AtMostMicros: 742_900}}
}

// workspace fills a workspace such as one has after a while: an eval with two versions
// and two runs to compare, one that failed, one under way, and keys.
func (o *owner) fill() (e *evals.Eval, before, now, live *evals.Run) {
	o.t.Helper()
	o.keys("ANTHROPIC_API_KEY", "OPENAI_API_KEY")
	o.put(payments)
	e = o.put(payments + "  - {id: donations, text: We take donations.}\n")
	before = o.start(e)
	o.end(before, bundleBefore, done(68, 3, 72))
	o.s.Clock.Add(26 * time.Hour)
	o.signIn() // a session does not live that long
	now = o.start(e)
	o.end(now, bundleNow, done(68, 3, 72))
	o.s.Clock.Add(time.Hour)
	failed := o.start(e)
	o.end(failed, "", state.RunOutcome{Status: state.RunFailed, Failure: "the provider of claude-sonnet-4-5 refused the key: 401", RunProgress: state.RunProgress{Planned: 72}})
	o.s.Clock.Add(time.Minute)
	o.signIn() // keys need a fresh one
	live = o.start(e)
	return e, before, now, live
}

// begin takes the next run as a worker does.
func (o *owner) begin() *state.EvalRun { return o.s.Begin(o.t) }

const progressBody = `{"type":"progress","planned":72,"valid":31,"excluded":2,"inFlight":6,"spentUsd":0.42,"atMostUsd":1.1,"lanes":[` +
	`{"name":"anthropic claude-sonnet-4-5","agents":["sonnet","claude-code"],"phase":"steady","reason":""},` +
	`{"name":"openai gpt-5.1","agents":["gpt"],"phase":"waiting","reason":"rate_limited: 429"}]}`

// text is what is read of a page.
func text(body string) string {
	return strings.Join(strings.Fields(html.UnescapeString(regexp.MustCompile(`(?s)<[^>]*>`).ReplaceAllString(body, " "))), " ")
}

// trial returns the path of the first trial of an agent whose page holds some text.
func (o *owner) trial(r *evals.Run, agent, holds string) string {
	o.t.Helper()
	b, release, err := o.s.Evals.Results(o.t.Context(), o.actor(), r.ID)
	if err != nil {
		o.t.Fatal(err)
	}
	defer release()
	p, err := b.Traces(o.t.Context(), trialset.Filter{Agent: agent}, "", trialset.MaxPage)
	if err != nil {
		o.t.Fatal(err)
	}
	for _, e := range p.Traces {
		path := o.at("/runs/" + r.ID + "/traces/" + e.ID)
		if _, body := o.get(path); strings.Contains(text(body), holds) || strings.Contains(html.UnescapeString(body), holds) {
			return path
		}
	}
	o.t.Fatalf("no trial of %s holds %q", agent, holds)
	return ""
}
