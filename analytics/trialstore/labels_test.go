package trialstore_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/runner/pick"
	"github.com/firstpick/firstpick/runner/transcript"
)

func TestWhichOutcomesPeopleCanCheck(t *testing.T) {
	listing := &transcript.Listing{Source: "study", Ecosystem: "pypi", Imports: []string{"flask"}}
	for name, tt := range map[string]struct {
		change func(*journal.Run, []journal.Record)
		want   int
	}{
		"answers that were extracted": {func(*journal.Run, []journal.Record) {}, 28},
		"answers of simulated agents": {func(r *journal.Run, _ []journal.Record) { r.Synthetic = true }, 0},
		"half of them came ready": {func(_ *journal.Run, recs []journal.Record) {
			for i := range 14 {
				recs[i].Result.Method = pick.MethodGiven
			}
		}, 14},
		"a study that lists imports": {func(_ *journal.Run, recs []journal.Record) {
			for i := range recs {
				if recs[i].Answer != nil {
					recs[i].Answer.Transcript = transcript.Transcript{Listing: listing}
				}
			}
		}, 0},
		"an answer that quotes such a list": {func(_ *journal.Run, recs []journal.Record) {
			recs[0].Answer.Transcript.FinalText = `{"listing":{"source":"x"}}`
		}, 28},
		"agents that are no recording": {func(r *journal.Run, _ []journal.Record) {
			for i := range r.Eval.Agents {
				r.Eval.Agents[i].Kind = eval.KindCodex
			}
		}, 28},
	} {
		run := testRun("r1", "e", "web", start)
		recs := records(run)
		tt.change(&run, recs)
		root := t.TempDir()
		writeRun(t, root, run, recs)
		s := openStore(t, filepath.Join(t.TempDir(), "t.duckdb"))
		if _, err := s.Sync(t.Context(), root); err != nil {
			t.Fatal(err)
		}
		if n, err := s.Extracted(t.Context(), []journal.Run{run}); n[run.ID] != tt.want || err != nil {
			t.Errorf("%s: %v, want %d, %v", name, n, tt.want, err)
		}
	}
}

// TestLabelsHoldAfterANewExtraction extracts a labelled trial again: its label is then
// compared with the new outcome.
func TestLabelsHoldAfterANewExtraction(t *testing.T) {
	root := t.TempDir()
	run := testRun("r1", "e", "web", start)
	recs := records(run)
	writeRun(t, root, run, recs)
	other := testRun("r2", "f", "web", start)
	writeRun(t, root, other, records(other))
	s := openStore(t, filepath.Join(t.TempDir(), "t.duckdb"))
	trial := recs[1].Trial
	labels := []analytics.RunLabels{{Run: "r1", Frame: 28, Labels: []analytics.Reading{{Trial: trial.ID, Outcome: pick.None, P: .25}}}}
	labelled := func() analytics.LabelledTrial {
		t.Helper()
		if _, err := s.Sync(t.Context(), root); err != nil {
			t.Fatal(err)
		}
		l, err := s.Labelled(t.Context(), labels)
		if err != nil || len(l.Trials) != 1 || l.Frame != 28 {
			t.Fatalf("%+v, %v", l, err)
		}
		return l.Trials[0]
	}
	want := analytics.LabelledTrial{Prompt: "e/" + trial.PromptID, Agent: trial.Agent, Outcome: pick.Tool, Picked: recs[1].Result.Picked, True: pick.None, P: .25}
	if got := labelled(); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	addTo(t, root, "r1", []journal.Record{{Kind: journal.KindExtraction, Trial: trial, At: start, Result: &pick.Result{Kind: pick.None}}})
	want.Outcome, want.Picked = pick.None, ""
	if got := labelled(); got != want {
		t.Errorf("extracted again: %+v, want %+v", got, want)
	}
	labels[0].Labels = append(labels[0].Labels, analytics.Reading{Trial: "nosuch", Outcome: pick.None, P: 1})
	if _, err := s.Labelled(t.Context(), labels); err == nil || !strings.Contains(err.Error(), "a label of trial nosuch, which run r1 does not have") {
		t.Errorf("a trial that is not in the run: %v", err)
	}
	if l, err := s.Labelled(t.Context(), nil); err != nil || len(l.Trials) != 0 {
		t.Errorf("no labels: %+v, %v", l, err)
	}
}
