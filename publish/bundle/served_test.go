package bundle_test

import (
	"cmp"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/firstpick/firstpick/fixtures/prices"
	"github.com/firstpick/firstpick/publish/bundle"
	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/runner/pick"
	"github.com/firstpick/firstpick/runner/plan"
	"github.com/firstpick/firstpick/runner/transcript"
)

// served is where the tests of the server have a bundle: they cannot make one.
const served = "../../server/servertest/evals/testdata/bundles"

// TestTheBundleOfTheServersTests holds that bundle to what Write makes now: one of
// every outcome, with evidence, a mismatch, failed attempts, a hostile answer, a trial
// that was given up and one that is missing. FIRSTPICK_UPDATE=1 makes it anew.
func TestTheBundleOfTheServersTests(t *testing.T) {
	in := bundle.Input{RunsRoot: t.TempDir(), RunID: "run-one", Catalog: testCatalog(t), Root: filepath.Join(t.TempDir(), "bundles"), Generator: "firstpick test"}
	writeServed(t, in)
	m, err := bundle.Write(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	if os.Getenv("FIRSTPICK_UPDATE") != "" {
		if err := os.RemoveAll(served); err != nil {
			t.Fatal(err)
		}
		if err := os.CopyFS(filepath.Join(served, m.ID), os.DirFS(filepath.Join(in.Root, m.ID))); err != nil {
			t.Fatal(err)
		}
	}
	there, err := os.ReadDir(served)
	if err != nil || len(there) != 1 || there[0].Name() != m.ID {
		t.Errorf("the tests of the server read %v (%v), and Write makes %s; run this test with FIRSTPICK_UPDATE=1", there, err, m.ID)
	}
}

// writeServed writes the journal of that bundle.
func writeServed(t *testing.T, in bundle.Input) {
	t.Helper()
	e := eval.Eval{
		Name: "web-weekly", Category: "web", Repeats: 2, Templates: []string{"none"},
		Agents: []eval.Agent{
			{Name: "opus", Kind: eval.KindAnthropic, Model: "claude-opus-4-5"},
			{Name: "gpt", Kind: eval.KindOpenAIResponses, Model: "gpt-5.2"},
		},
		Prompts: []eval.Prompt{
			{ID: "api", Text: "Build a small web API that stores notes."},
			{ID: "site", Text: "Set up a website with a login."},
			{ID: "hook", Text: "Add an endpoint that takes webhooks."},
		},
	}
	trials := plan.New(&e)
	j, err := journal.Create(in.RunsRoot, journal.Run{
		ID: in.RunID, Eval: e, Planned: len(trials), CreatedAt: time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC), Extractor: pick.Version, Catalog: in.Catalog.Version,
	})
	if err != nil {
		t.Fatal(err)
	}
	manifests := map[string]*journal.Manifest{
		"opus": {Agent: "opus", Kind: eval.KindAnthropic, Model: "claude-opus-4-5", Endpoint: "https://api.anthropic.com", Parameters: map[string]string{"max_tokens": "4096"}, Prices: "2026-11"},
		"gpt":  {Agent: "gpt", Kind: eval.KindOpenAIResponses, Model: "gpt-5.2", Endpoint: "https://api.openai.com", Prices: "2026-11"},
	}
	recs := []journal.Record{{Kind: journal.KindManifest, Manifest: manifests["opus"]}, {Kind: journal.KindManifest, Manifest: manifests["gpt"]}}
	category, _ := in.Catalog.Category("web")
	x := pick.New(category, in.Catalog.Version)
	for i, trial := range trials {
		at := time.Date(2026, 11, 20, 8, 0, 7*i, 0, time.UTC)
		cost := 0.01 + float64(i)/1000
		switch i {
		case 4:
			recs = append(recs, journal.Record{Kind: journal.KindAttempt, Trial: trial, At: at, Attempt: 1, Reason: "overloaded: 529", CostUSD: new(float64)})
		case 10:
			recs = append(recs,
				journal.Record{Kind: journal.KindAttempt, Trial: trial, At: at, Attempt: 1, Reason: "timeout: no answer in 120s", AtMostUSD: &cost},
				journal.Record{Kind: journal.KindExcluded, Trial: trial, At: at.Add(time.Second), Attempt: 2, Reason: "timeout: no answer in 120s"})
			continue
		case 11:
			continue // never asked
		}
		answer := &journal.Answer{
			Transcript: answers()[i], Model: manifests[trial.Agent].Model + "-20251101", CostUSD: &cost, WallMS: int64(4000 + 700*i),
			Usage: &prices.Usage{Input: 900 + i, Output: 300 + 10*i}, Manifest: manifests[trial.Agent].ID(),
		}
		res, attempt := x.Extract(answer.Transcript), 1
		switch i {
		case 4:
			attempt = 2
		case 7: // the rules of the real catalogue find what it does not have
			res = pick.Result{
				Kind: pick.Other, Picked: "fastapi", Shortlist: []string{}, Method: pick.MethodAction, Level: 3, Extractor: res.Extractor, Catalog: res.Catalog,
				Evidence: []pick.Evidence{{Tool: "fastapi", Level: 3, Kind: "command", Quote: "pip install fastapi"}},
			}
		}
		res.Rule, res.Language = cmp.Or(res.Rule, "commitment"), cmp.Or(res.Language, "en")
		if res.Kind == pick.Ambiguous { // as if no rule applied
			res.Unresolved, res.Method, res.FirstNamed = true, "", res.Shortlist[0]
		}
		recs = append(recs, journal.Record{Kind: journal.KindResult, Trial: trial, At: at, Attempt: attempt, Answer: answer, Result: &res})
	}
	if err := j.Append(t.Context(), recs...); err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
}

// answers are what the agents said and did, by place in the plan.
func answers() []transcript.Transcript {
	app := transcript.FileChange{Path: "app.py", Added: []string{"from flask import Flask, request", "", "app = Flask(__name__)"}}
	needs := transcript.FileChange{Path: "requirements.txt", AddedDeps: []string{"flask"}, Added: []string{"flask==3.1"}}
	return []transcript.Transcript{
		{FinalText: "The notes API is ready. I built it with **Flask**.", Commands: []transcript.Command{{Cmd: "pip install flask", Exit: new(0)}, {Cmd: "python -m pytest -q", Exit: new(0)}}, Diff: []transcript.FileChange{app, needs}},
		{FinalText: "I recommend Django here: it has the login, the admin and migrations. Flask would need an extension for each."},
		{FinalText: "Before I begin: should the notes be kept in a database, and who may read them?"},
		{FinalText: "Done. I chose Django for this project.", Commands: []transcript.Command{{Cmd: "pip install flask", Exit: new(0)}}, Diff: []transcript.FileChange{app, needs}},
		{FinalText: "I cannot help with that.", Stop: transcript.StopRefusal},
		{FinalText: "Let us use Fla", Stop: transcript.StopLength},
		{FinalText: "I wrote the server with nothing but the standard library.", Diff: []transcript.FileChange{{Path: "server.py", Added: []string{"from http.server import BaseHTTPRequestHandler, HTTPServer", "class Hook(BaseHTTPRequestHandler):", "    pass"}}}},
		{FinalText: "I used FastAPI.", Commands: []transcript.Command{{Cmd: "pip install fastapi", Exit: new(0)}}, Diff: []transcript.FileChange{{Path: "requirements.txt", AddedDeps: []string{"fastapi"}, Added: []string{"fastapi==0.120"}}}},
		{FinalText: "Use Flask or Django; both are fine for this."},
		{FinalText: "I would use Flask.\n\n<script>alert(1)</script>\x1b[31mred\x1b[0m \u202egnp.exe \u2028 & \"quotes\"\n```html\n<img src=x onerror=alert(2)>\n```"},
	}
}
