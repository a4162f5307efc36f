package evals_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/server/servertest"
)

// oldBundles holds a bundle of layout 1, which has no explanations.
const oldBundles = "testdata/old"

func TestExplain(t *testing.T) {
	a, traces := results(t)
	run := strings.TrimSuffix(traces, "/traces")
	path := run + "/explain?tool="
	flask := a.get(path + "flask").is(200)
	doc := flask.object()
	if doc["slug"] != "flask" || doc["nTrials"] != 10.0 || doc["picked"] != 3.0 || doc["lost"] != 2.0 || doc["notConsidered"] != 5.0 || doc["rejectedRate"] != 0.4 {
		t.Errorf("%s", flask.body)
	}
	if runs := doc["runs"].([]any); len(runs) != 1 || "/api/v1/runs/"+runs[0].(string) != run {
		t.Errorf("runs %v of %s", runs, run)
	}
	for _, name := range []string{"Flask", "FLASK", "flask.example", "https://flask.example/docs", "pypi:flask"} {
		if got := a.get(path + url.QueryEscape(name)).is(200); got.body != flask.body {
			t.Errorf("%s: %s", name, got.body)
		}
	}
	if got := a.get(path + "flsk"); !strings.Contains(got.body, `"suggestions":["flask"]`) {
		t.Errorf("%s", got.body)
	}
	for _, name := range []string{"flsk", "stripe", "..%2f..", "%3Cscript%3E", "%e2%80%ae"} {
		a.get(path+name).refused(404, "tool_not_found")
	}
	for _, query := range []string{"", "?tool=", "?tool=flask&tool=django", "?tool=flask&agent=opus", "?tool=%00", "?tool=" + strings.Repeat("x", 201)} {
		a.get(run+"/explain"+query).refused(400, "invalid_request")
	}
	a.get("/api/v1/runs/run_none/explain?tool=flask").refused(404, "run_not_found")
}

// TestExplainOldResults: results of layout 1 are read, and say that they have no
// explanations; a run without results has none either.
func TestExplainOldResults(t *testing.T) {
	s := servertest.New(t, servertest.Options{})
	w := s.Workspace(t, "dana", paid)
	_, r := s.Ready(t, w)
	a, run := newAPI(t, s, s.EvalKey(t, w)), "/api/v1/runs/"+r.ID
	a.get(run+"/explain?tool=flask").refused(409, "no_results")
	s.Finish(t, s.Begin(t), oldBundles)
	a.get(run+"/explain?tool=flask").refused(404, "no_explanation")
	a.get(run).is(200)
	if got := a.get(run + "/traces?fields=summary").is(200).list("traces"); len(got) != 11 {
		t.Errorf("%d traces", len(got))
	}
}

// TestQuotesLeadToTrials: a quote names a trial of this run, whose answer has it.
func TestQuotesLeadToTrials(t *testing.T) {
	s := servertest.New(t, servertest.Options{})
	w := s.Workspace(t, "dana", paid)
	_, r := s.Ready(t, w)
	s.Finish(t, s.Begin(t), "../evalpages/testdata/bundles/now")
	a, run := newAPI(t, s, s.EvalKey(t, w)), "/api/v1/runs/"+r.ID
	quotes := 0
	for _, group := range a.get(run + "/explain?tool=dogwood").is(200).list("reasons") {
		for _, q := range group["quotes"].([]any) {
			quote := q.(map[string]any)
			trial := a.get(run + "/traces/" + quote["trial"].(string)).is(200).object()
			answer := trial["answer"].(map[string]any)
			if quote["run"] != r.ID || trial["agent"] != quote["agent"] || !strings.Contains(answer["finalText"].(string), quote["text"].(string)) {
				t.Errorf("%v of %v", quote, answer["finalText"])
			}
			quotes++
		}
	}
	if quotes != 16 {
		t.Errorf("%d quotes", quotes)
	}
}
