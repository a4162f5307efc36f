package evals_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server/servertest"
)

// TestLife goes the way of an eval, with a worker's part played by the test.
func TestLife(t *testing.T) {
	onBoth(t, func(t *testing.T, s *servertest.Service) {
		w := s.Workspace(t, "dana", paid)
		a := newAPI(t, s, s.EvalKey(t, w))
		if k := a.get("/api/v1/key").is(200); k.text("label") != "test" || k.object()["workspace"].(map[string]any)["slug"] != "dana" {
			t.Errorf("the key: %s", k.body)
		}
		checked := a.do("POST", "/api/v1/evals/check", servertest.EvalText, "Content-Type", "application/yaml").is(200)
		if got := checked.object(); got["trials"] != 12.0 || len(got["missingKeys"].([]any)) != 2 || got["id"] != nil {
			t.Errorf("checked: %s", checked.body)
		}
		if got := a.get("/api/v1/evals").is(200).list("evals"); len(got) != 0 {
			t.Errorf("checking stored %v", got)
		}
		made := a.do("POST", "/api/v1/evals", servertest.EvalText).is(201)
		id := made.text("id")
		if made.header.Get("Location") != s.URL+"/api/v1/evals/"+id || made.text("source") != servertest.EvalText {
			t.Errorf("made: %v %s", made.header, made.body)
		}
		runs := "/api/v1/evals/" + id + "/runs"
		missing := a.do("POST", runs, `{"budgetUsd":5}`).refused(409, "provider_key_missing")
		if !strings.Contains(missing.text("error_description"), "ANTHROPIC_API_KEY, OPENAI_API_KEY") {
			t.Errorf("it does not say which: %s", missing.body)
		}
		for _, name := range []string{"ANTHROPIC_API_KEY", "OPENAI_API_KEY"} {
			set := a.do("PUT", "/api/v1/provider-keys/"+name, `{"value":"sk-secret-1234"}`).is(200)
			if strings.Contains(set.body, "secret") || set.text("shown") != "...1234" {
				t.Errorf("set: %s", set.body)
			}
		}
		if got := a.get("/api/v1/provider-keys").is(200); len(got.list("providerKeys")) != 2 || strings.Contains(got.body, "secret") {
			t.Errorf("provider keys: %s", got.body)
		}
		a.do("DELETE", "/api/v1/provider-keys/OPENAI_API_KEY", "").is(204)
		a.do("DELETE", "/api/v1/provider-keys/OPENAI_API_KEY", "").refused(404, "not_found")
		a.do("PUT", "/api/v1/provider-keys/OPENAI_API_KEY", `{"value":"sk-secret-5678"}`).is(200)

		first := a.do("POST", runs, `{"budgetUsd":5}`, "Idempotency-Key", "k1").is(202)
		again := a.do("POST", runs, `{"budgetUsd":5}`, "Idempotency-Key", "k1").is(202)
		if first.text("id") != again.text("id") || first.header.Get("Idempotent-Replayed") != "" || again.header.Get("Idempotent-Replayed") != "true" {
			t.Errorf("%s\n%s %v", first.body, again.body, again.header)
		}
		a.do("POST", runs, `{"budgetUsd":6}`, "Idempotency-Key", "k1").refused(409, "idempotency_conflict")
		s.Clock.Add(time.Second)
		second := a.do("POST", runs, `{"budgetUsd":2.5,"version":1}`).is(202)

		path := "/api/v1/runs/" + first.text("id")
		a.get(path+"/traces").refused(409, "no_results")
		row := s.Begin(t)
		if row.ID != first.text("id") {
			t.Fatalf("began %s", row.ID)
		}
		if got := a.get(path).is(200); got.text("status") != "running" || got.object()["scores"] != nil || got.object()["manifest"] != nil {
			t.Errorf("running: %s", got.body)
		}
		s.Finish(t, row, bundles)
		done := a.get(path).is(200).object()
		board := done["scores"].(map[string]any)["board"].(map[string]any)
		if done["status"] != "done" || board["category"] != "web" || board["nTrials"] != 10.0 || done["spentUsd"] != 0.156 || done["tracesUrl"] != s.URL+path+"/traces" {
			t.Errorf("done: %v", done)
		}
		a.get(path+"/compare?with="+second.text("id")).refused(409, "no_results")
		if got := a.get(path + "/compare?with=" + first.text("id")).is(200).list("tools"); len(got) != 2 || got[0]["diff"] != 0.0 {
			t.Errorf("compared with itself: %v", got)
		}

		if got := a.do("DELETE", "/api/v1/runs/"+second.text("id"), "").is(200); got.text("status") != "cancelled" {
			t.Errorf("cancelled: %s", got.body)
		}
		if got := a.do("DELETE", path, "").is(200); got.text("status") != "done" {
			t.Errorf("cancelled when it was done: %s", got.body)
		}
		third := a.do("POST", runs, `{"budgetUsd":1}`).is(202)
		s.Begin(t)
		if got := a.do("DELETE", "/api/v1/runs/"+third.text("id"), "").is(202); got.text("status") != "running" || got.object()["cancelRequested"] != true {
			t.Errorf("asked to cancel: %s", got.body)
		}
		if got := a.get("/api/v1/runs?status=cancelled").is(200).list("runs"); len(got) != 1 || got[0]["id"] != second.text("id") {
			t.Errorf("the cancelled: %v", got)
		}
		for _, k := range must(s.Evals.Keys(t.Context(), servertest.Owner(w)))(t) {
			if err := s.Evals.RevokeKey(t.Context(), servertest.Owner(w), k.ID); err != nil {
				t.Fatal(err)
			}
		}
		gone := a.get(path).refused(401, "invalid_token")
		if got := gone.header.Get("WWW-Authenticate"); !strings.HasPrefix(got, "Bearer ") || !strings.Contains(got, `error="invalid_token"`) {
			t.Errorf("challenged with %q", got)
		}
	})
}

func must[T any](v T, err error) func(t *testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// TestVersions: what means something else is another version, and every version stays.
func TestVersions(t *testing.T) {
	onBoth(t, func(t *testing.T, s *servertest.Service) {
		a := newAPI(t, s, s.EvalKey(t, s.Workspace(t, "dana", paid)))
		id := a.do("POST", "/api/v1/evals", servertest.EvalText).is(201).text("id")
		if got := a.do("POST", "/api/v1/evals", "# the same\n"+servertest.EvalText).is(200).object(); got["version"] != 1.0 || got["id"] != id {
			t.Errorf("the same: %v", got)
		}
		other := strings.Replace(servertest.EvalText, "repeats: 2", "repeats: 3", 1)
		if got := a.do("POST", "/api/v1/evals", other).is(200).object(); got["version"] != 2.0 || got["trials"] != 18.0 {
			t.Errorf("another: %v", got)
		}
		if got := a.get("/api/v1/evals/" + id + "/versions/1").is(200); got.text("source") != servertest.EvalText {
			t.Errorf("version 1: %s", got.body)
		}
		for _, n := range []string{"0", "3", "-1", "x", "99999999999999999999"} {
			a.get("/api/v1/evals/"+id+"/versions/"+n).refused(404, "eval_not_found")
		}
		if got := a.get("/api/v1/evals").is(200).list("evals"); len(got) != 1 || got[0]["version"] != 2.0 || got[0]["source"] != nil {
			t.Errorf("listed: %v", got)
		}
		bad := a.do("POST", "/api/v1/evals", strings.Replace(servertest.EvalText, "repeats: 2", "repeats: -2\nrepeat: 1", 1)).refused(400, "invalid_eval")
		lines := map[any]bool{}
		for _, issue := range bad.list("issues") {
			lines[issue["line"]] = true
		}
		if !lines[3.0] || !lines[4.0] {
			t.Errorf("the issues do not name both lines: %s", bad.body)
		}
		asJSON := `{"name":"in-json","category":"web","prompts":[{"id":"a","text":"Build a web API."}],"agents":[{"name":"opus","kind":"anthropic","model":"m"}]}`
		a.do("POST", "/api/v1/evals", asJSON, "Content-Type", "application/json").is(201)
		a.do("POST", "/api/v1/evals", asJSON, "Content-Type", "image/png").refused(415, "unsupported_media_type")
		a.do("POST", "/api/v1/evals", asJSON, "Content-Encoding", "gzip").refused(415, "unsupported_media_type")
	})
}

// TestRequestsThatAreRefused says for each what is wrong.
func TestRequestsThatAreRefused(t *testing.T) {
	s := servertest.New(t, servertest.Options{})
	w := s.Workspace(t, "dana", paid)
	a := newAPI(t, s, s.EvalKey(t, w))
	e, r := s.Ready(t, w)
	s.Finish(t, s.Begin(t), bundles)
	runs, run, key := "/api/v1/evals/"+e.ID+"/runs", "/api/v1/runs/"+r.ID, "/api/v1/provider-keys/A_KEY"
	for name, c := range map[string]struct {
		method, path, body string
		says               string // in the description
	}{
		"no budget":                {"POST", runs, `{}`, "budgetUsd is missing"},
		"a null budget":            {"POST", runs, `{"budgetUsd":null}`, "budgetUsd is missing"},
		"a budget of nothing":      {"POST", runs, `{"budgetUsd":0}`, "above 0"},
		"a negative budget":        {"POST", runs, `{"budgetUsd":-1}`, "above 0"},
		"a budget beyond the cap":  {"POST", runs, `{"budgetUsd":10001}`, "at most 10000"},
		"a budget beyond numbers":  {"POST", runs, `{"budgetUsd":1e999}`, "budgetUsd is a number that is too large"},
		"a budget in words":        {"POST", runs, `{"budgetUsd":"5"}`, "budgetUsd must be a number; it is a string"},
		"version 0":                {"POST", runs, `{"budgetUsd":1,"version":0}`, "counts from 1"},
		"a member nobody knows":    {"POST", runs, `{"budgetUsd":1,"budget":1}`, "It takes budgetUsd and version"},
		"two objects":              {"POST", runs, `{"budgetUsd":1}{"budgetUsd":1}`, "byte 16 does not belong there"},
		"a list":                   {"POST", runs, `[{"budgetUsd":1}]`, "must be a JSON object; it is a list"},
		"no body":                  {"POST", runs, "", "is empty"},
		"a key without value":      {"PUT", key, `{}`, "value is missing"},
		"a short key":              {"PUT", key, `{"value":"sk"}`, "8 to 4096"},
		"a key of two lines":       {"PUT", key, `{"value":"sk-1234567\nx: y"}`, "8 to 4096"},
		"a key of a strange name":  {"PUT", "/api/v1/provider-keys/LD_PRELOAD", `{"value":"sk-12345678"}`, "environment variable"},
		"a limit of nothing":       {"GET", "/api/v1/runs?limit=0", "", "from 1 to 200"},
		"a limit beyond":           {"GET", "/api/v1/evals?limit=201", "", "from 1 to 200"},
		"a limit in words":         {"GET", runs + "?limit=ten", "", "from 1 to 200"},
		"a status nobody knows":    {"GET", "/api/v1/runs?status=finished", "", "queued, running"},
		"a parameter twice":        {"GET", "/api/v1/runs?status=done&status=done", "", "Duplicate parameter"},
		"a parameter nobody knows": {"GET", "/api/v1/runs?state=done", "", "eval, status, limit, cursor"},
		"a parameter where none":   {"GET", run + "?x=1", "", "no parameters"},
		"half an escape":           {"GET", "/api/v1/runs?status=%zz", "", "not well-formed"},
		"a bad cursor":             {"GET", "/api/v1/runs?cursor=x", "", "not of this list"},
		"a cursor of elsewhere":    {"GET", "/api/v1/evals?cursor=WyJydW5zICAiLHsiYXQiOiIyMDI2LTExLTIxVDEwOjAwOjAwWiIsImlkIjoiYSJ9XQ", "", "not of this list"},
		"a bad cursor of traces":   {"GET", run + "/traces?cursor=AAAA", "", "not of this list"},
		"an outcome nobody knows":  {"GET", run + "/traces?outcome=won", "", "tool, diy, other"},
		"an agent nobody knows":    {"GET", run + "/traces?agent=opsu", "", "no such agent"},
		"a prompt nobody knows":    {"GET", run + "/traces?prompt=x", "", "no such prompt"},
		"fields nobody knows":      {"GET", run + "/traces?fields=id", "", "full or summary"},
		"a form nobody knows":      {"GET", run + "/traces?format=csv", "", "json, ndjson or parquet"},
		"a page too long":          {"GET", run + "/traces?limit=201", "", "from 1 to 200"},
		"a page of lines":          {"GET", run + "/traces?format=ndjson&limit=5", "", "does not go with NDJSON"},
		"a filter of a table":      {"GET", run + "/traces?format=parquet&agent=opus", "", "does not go with Parquet"},
		"nothing to compare with":  {"GET", run + "/compare", "", "with is missing"},
		"after a word":             {"GET", run + "/events?after=x", "", "number of an event"},
	} {
		got := a.do(c.method, c.path, c.body)
		if text := got.text("error_description"); got.status != http.StatusBadRequest || !strings.Contains(text, c.says) {
			t.Errorf("%s: %d %q does not say %q", name, got.status, text, c.says)
		}
	}
	for name, value := range map[string]string{"empty": "", "blanks": "a b", "long": strings.Repeat("k", 256), "not ASCII": "\u00e4"} {
		if got := a.do("POST", runs, `{"budgetUsd":1}`, "Idempotency-Key", value); got.status != 400 {
			t.Errorf("an Idempotency-Key, %s: %d %s", name, got.status, got.body)
		}
	}
	if got := a.get("/api/v1/runs").is(200).list("runs"); len(got) != 1 {
		t.Errorf("a refused request made a run: %v", got)
	}
}
