package cli

import (
	"bytes"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/firstpick/firstpick/analytics/trialstore"
	"github.com/firstpick/firstpick/cmd/runctl"
	"github.com/firstpick/firstpick/runner"
	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/runner/pick"
	"github.com/firstpick/firstpick/runner/plan"
)

// A run that a process still writes must not become the current one, even when it has
// 95 % of its trials already.
func TestARunUnderWayIsPassedOver(t *testing.T) {
	var said bytes.Buffer
	a := &app{env: &Env{Stderr: &said}, cfg: Config{Data: t.TempDir()}, log: slog.New(slog.DiscardHandler)}
	for i, id := range []string{"whole", "busy"} {
		writeAnswers(t, a.runsRoot(), id, time.Date(2026, 5, 1, 12, i, 0, 0, time.UTC), 20)
	}
	ctl, err := runctl.Listen(filepath.Join(a.runsRoot(), "busy"), runner.NewControl())
	if err != nil {
		t.Fatal(err)
	}
	choose := func() selection {
		t.Helper()
		said.Reset()
		store, err := a.trials(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = store.Close() }()
		s, err := a.currentRuns(t.Context(), store, nil, "")
		if err != nil {
			t.Fatal(err)
		}
		a.explain(s)
		return s
	}
	if s := choose(); len(s.rows) != 1 || s.rows[0].ID != "whole" {
		t.Errorf("while it is written: %+v", s.rows)
	}
	const want = "note: web: skipped newer run busy of eval e: 20 of 20 planned trials have an answer (100.0%), and it is still active; " +
		"wait until it ends, or choose it with --run busy\n"
	if said.String() != want {
		t.Errorf("said %q, want %q", said.String(), want)
	}
	if err := ctl.Close(); err != nil {
		t.Fatal(err)
	}
	if s := choose(); len(s.rows) != 1 || s.rows[0].ID != "busy" || said.Len() > 0 {
		t.Errorf("when it has ended: %+v, said %q", s.rows, said.String())
	}
}

func TestWeightsThatDoNotApplyAreNamed(t *testing.T) {
	var said bytes.Buffer
	a := &app{env: &Env{Stderr: &said}}
	var s selection
	for _, name := range []string{"x", "y", "z"} {
		s.rows = append(s.rows, trialstore.RunRow{ID: name, Eval: name, Category: "web", Complete: true})
		s.runs = append(s.runs, journal.Run{ID: name, Eval: eval.Eval{
			Name: name, Category: "web", Agents: []eval.Agent{{Name: "a"}}, Prompts: []eval.Prompt{{ID: "p", Text: "Serve a page for " + name, Family: "page"}},
		}})
	}
	s.runs[1].Eval.Weights = map[string]float64{"a": 2}
	if a.explain(s); said.Len() > 0 {
		t.Errorf("said %q", said.String())
	}
	s.runs[2].Eval.Agents[0].Name = "b"
	a.explain(s)
	if want := "note: web: agents weigh equally, although an eval has weights: agent \"b\" of eval z has no weight\n"; said.String() != want {
		t.Errorf("said %q, want %q", said.String(), want)
	}
	if got := s.families("web"); len(got) != 3 || got["x/p"] != "page" || got["z/p"] != "page" || len(s.families("other")) > 0 {
		t.Errorf("families %q", got)
	}
}

// writeAnswers makes a run of n trials that all have an answer.
func writeAnswers(t *testing.T, root, id string, at time.Time, n int) {
	t.Helper()
	ev := eval.Eval{
		Name: "e", Category: "web", Repeats: n, Templates: []string{eval.NoTemplate},
		Prompts: []eval.Prompt{{ID: "p", Text: "Serve a page."}}, Agents: []eval.Agent{{Name: "a", Kind: "recorded"}},
	}
	j, err := journal.Create(root, journal.Run{ID: id, Eval: ev, Planned: n, CreatedAt: at})
	if err != nil {
		t.Fatal(err)
	}
	for _, trial := range plan.New(&ev) {
		if err := j.Append(t.Context(), journal.Record{Kind: journal.KindResult, Trial: trial, At: at, Answer: &journal.Answer{}, Result: &pick.Result{Kind: pick.None}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
}
