package agents_test

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/runner/agent"
	"github.com/firstpick/firstpick/runner/agents"
	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/pick"
	"github.com/firstpick/firstpick/runner/plan"
	"github.com/firstpick/firstpick/runner/transcript"
)

func build(t *testing.T, a eval.Agent, d agents.Deps) agent.Agent {
	t.Helper()
	built, err := agents.Build(a, d)
	if err != nil {
		t.Fatal(err)
	}
	return built
}

const miniStudy = `{"name":"mini","ecosystem":"pypi","repository":"https://host.example/mini","commit":"c1","temperature":"1.0","tasks":[{"category":"web","prompt_id":"p1","recorded_at":"2025-01-27T14:00:00Z",
"file":"out/web.json","sha256":"ab","models":[{"name":"m-1","api":"A","answers":[{"imports":["flask"],"count":6,"line":7},{"imports":["fastapi","uvicorn"],"count":3},{"imports":[],"count":1}]}]}]}`

func studyFiles() agents.Deps {
	return agents.Deps{Files: fstest.MapFS{"study/mini.json": {Data: []byte(miniStudy)}}}
}

func repeatOf(n int) agent.Task {
	return agent.Task{Trial: plan.Trial{Category: "web", PromptID: "p1", Agent: "m-1", Repeat: n}}
}

func TestAStudyIsReplayedAnswerForAnswer(t *testing.T) {
	a := build(t, eval.Agent{Name: "m-1", Kind: eval.KindRecorded, Study: "mini"}, studyFiles())
	counts := map[string]int{}
	for n := 1; n <= 10; n++ {
		got, err := a.Ask(t.Context(), repeatOf(n))
		if err != nil {
			t.Fatal(err)
		}
		if got.Model != "m-1" || !got.At.Equal(time.Date(2025, 1, 27, 14, 0, 0, 0, time.UTC)) {
			t.Fatalf("%+v", got)
		}
		listing := got.Transcript.Listing
		want := transcript.Listing{Source: "mini", Ecosystem: "pypi", Imports: listing.Imports}
		if len(listing.Imports) == 1 { // the others have no line
			want.Record = &transcript.Record{
				URL: "https://host.example/mini/blob/c1/out/web.json#L7", Commit: "c1", File: "out/web.json", SHA256: "ab", Line: 7, Text: `"flask": 6`, Answers: 6, Of: 10,
				Citation: "  ()", API: "A", Temperature: "1.0",
			}
		}
		if d := cmp.Diff(transcript.Transcript{Listing: &want}, got.Transcript); d != "" {
			t.Fatalf("more than the study published (-want +got):\n%s", d)
		}
		counts[strings.Join(listing.Imports, "; ")]++
	}
	want := map[string]int{"flask": 6, "fastapi; uvicorn": 3, "": 1}
	if d := cmp.Diff(want, counts); d != "" || a.Profile().Synthetic {
		t.Fatalf("(-want +got):\n%s", d)
	}
	for _, n := range []int{0, 11} {
		var infra *agent.InfraError
		if _, err := a.Ask(t.Context(), repeatOf(n)); !errors.As(err, &infra) || infra.Reason != agent.ReasonNoAnswer || infra.Retry {
			t.Errorf("repeat %d: %v", n, err)
		}
	}
}

func TestUnknownStudiesAndModelsAreToldAtOnce(t *testing.T) {
	for _, a := range []eval.Agent{
		{Name: "m-1", Kind: eval.KindRecorded, Study: "other"},
		{Name: "m-2", Kind: eval.KindRecorded, Study: "mini"},
		{Name: "m-1", Kind: "imported"},
	} {
		if _, err := agents.Build(a, studyFiles()); err == nil || !strings.Contains(err.Error(), a.Name) {
			t.Errorf("%+v: %v", a, err)
		}
	}
}

func TestAFileOfAnswersIsReplayed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "answers.jsonl")
	lines := `{"agent":"m-1","category":"web","prompt_id":"p1","repeat":1,"input":{"final_text":"Flask."}}
{"agent":"other","category":"web","prompt_id":"p1","repeat":1,"input":{"final_text":"Django."}}

{"agent":"m-1","category":"web","prompt_id":"p1","repeat":2,"at":"2025-02-01T00:00:00Z","outcome":{"kind":"tool","picked":"flask"}}
`
	if err := os.WriteFile(path, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	a := build(t, eval.Agent{Name: "m-1", Kind: eval.KindRecorded, File: path}, agents.Deps{})
	said, err := a.Ask(t.Context(), repeatOf(1))
	if err != nil || said.Transcript.FinalText != "Flask." || said.Result != nil {
		t.Fatalf("%+v, %v", said, err)
	}
	given, err := a.Ask(t.Context(), repeatOf(2))
	if err != nil || given.Result == nil || given.Result.Kind != pick.Tool || given.Result.Method != pick.MethodGiven || given.At.Year() != 2025 {
		t.Fatalf("%+v, %v", given, err)
	}
	if err := os.WriteFile(path, []byte(lines+"{oops\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := agents.Build(eval.Agent{Name: "m-1", Kind: eval.KindRecorded, File: path}, agents.Deps{}); err == nil || !strings.Contains(err.Error(), "line 5") {
		t.Fatalf("a bad line: %v", err)
	}
}

func web() *catalog.Category {
	return &catalog.Category{Slug: "web", Name: "Web", Entries: []catalog.Entry{
		{Tool: &catalog.Tool{Slug: "django", Name: "Django"}}, {Tool: &catalog.Tool{Slug: "flask", Name: "Flask"}},
	}}
}

func simulatedTask(n, attempt int) agent.Task {
	id := plan.TrialID("e", "p1", "?", "s", "none", n)
	return agent.Task{Trial: plan.Trial{ID: id, Category: "web", PromptID: "p1", Repeat: n}, Category: web(), Attempt: attempt}
}

func TestSimulatedAnswersFollowTheTruthAndRepeatExactly(t *testing.T) {
	truth := map[string]float64{"flask": 6, "django": 3, "refused": 1, "diy": 0}
	a := build(t, eval.Agent{Name: "s", Kind: eval.KindSimulated, Seed: 7, Truth: truth}, agents.Deps{})
	again := build(t, eval.Agent{Name: "s", Kind: eval.KindSimulated, Seed: 7, Truth: truth}, agents.Deps{})
	if !a.Profile().Synthetic {
		t.Fatal("not marked synthetic")
	}
	counts := map[string]int{}
	const n = 4000
	for i := range n {
		one, err := a.Ask(t.Context(), simulatedTask(i+1, 1))
		if err != nil {
			t.Fatal(err)
		}
		two, _ := again.Ask(t.Context(), simulatedTask(i+1, 1))
		if d := cmp.Diff(one, two); d != "" {
			t.Fatalf("another answer to the same trial:\n%s", d)
		}
		if one.At.Year() != 2025 {
			t.Fatalf("at %v", one.At)
		}
		counts[one.Transcript.FinalText]++
	}
	if share := float64(counts["I'd go with Flask for this."]) / n; math.Abs(share-0.6) > 0.03 {
		t.Fatalf("flask %.3f of %v", share, counts)
	}
	if len(counts) != 3 {
		t.Fatalf("outcomes: %v", counts)
	}
}

func TestSimulatedReasonsNameAnotherToolAndChangeNoOutcome(t *testing.T) {
	truth := map[string]float64{"flask": 6, "django": 3, "diy": 1}
	bare := build(t, eval.Agent{Name: "s", Kind: eval.KindSimulated, Truth: truth}, agents.Deps{})
	rich := build(t, eval.Agent{Name: "s", Kind: eval.KindSimulated, Truth: truth, Reasons: true}, agents.Deps{})
	added := map[string]bool{}
	for i := range 200 {
		one, err := bare.Ask(t.Context(), simulatedTask(i+1, 1))
		if err != nil {
			t.Fatal(err)
		}
		two, err := rich.Ask(t.Context(), simulatedTask(i+1, 1))
		if err != nil {
			t.Fatal(err)
		}
		text, ok := strings.CutPrefix(two.Transcript.FinalText, one.Transcript.FinalText)
		picks := strings.HasPrefix(one.Transcript.FinalText, "I'd go with")
		if !ok || picks != (text != "") {
			t.Fatalf("%q and %q", one.Transcript.FinalText, two.Transcript.FinalText)
		}
		if picks && strings.Contains(text, "Flask") == strings.Contains(one.Transcript.FinalText, "Flask") {
			t.Fatalf("another tool is not named: %q", two.Transcript.FinalText)
		}
		added[text] = true
	}
	if len(added) != 11 {
		t.Fatalf("want five sentences about each tool, and none: %v", added)
	}
}

func TestSimulatedFailuresDependOnTheAttemptAlone(t *testing.T) {
	a := build(t, eval.Agent{Name: "s", Kind: eval.KindSimulated, Truth: map[string]float64{"flask": 1}, FailRate: 0.3}, agents.Deps{})
	failed := 0
	for i := range 2000 {
		var infra *agent.InfraError
		_, err := a.Ask(t.Context(), simulatedTask(i/2, 1+i%2))
		if errors.As(err, &infra) && infra.Retry && infra.Reason == agent.ReasonSimulated {
			failed++
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if failed < 500 || failed > 700 {
		t.Fatalf("%s failed", strconv.Itoa(failed))
	}
}
