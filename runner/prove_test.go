package runner_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/runner"
	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/runner/plan"
)

// provable writes the plan and journal of a run of two trials.
func provable(t *testing.T, change func(run *journal.Run, records []journal.Record)) (root string) {
	t.Helper()
	root = t.TempDir()
	run := journal.Run{ID: "r", Planned: 2, Eval: eval.Eval{
		Name: "e", Category: "webserver", Repeats: 2, Templates: []string{eval.NoTemplate},
		Prompts: []eval.Prompt{{ID: "p", Text: "Write an API server."}}, Agents: []eval.Agent{{Name: "a", Kind: eval.KindCommand}},
	}}
	var records []journal.Record
	for _, trial := range run.Trials() {
		records = append(records, journal.Record{Kind: journal.KindExcluded, Trial: trial, Reason: "refused"})
	}
	change(&run, records)
	j, err := journal.Create(root, run)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(j.Append(t.Context(), records...), j.Close()); err != nil {
		t.Fatal(err)
	}
	return root
}

// TestProve accepts a whole run, and of others says why not: no plan is made of an eval that
// no eval file can have.
func TestProve(t *testing.T) {
	if p, err := runner.Prove(t.Context(), provable(t, func(*journal.Run, []journal.Record) {}), "r"); err != nil || len(p.Excluded) != 2 {
		t.Fatalf("%+v, %v", p, err)
	}
	repeats := func(n int) func(*journal.Run, []journal.Record) {
		return func(run *journal.Run, _ []journal.Record) { run.Eval.Repeats = n }
	}
	for name, c := range map[string]struct {
		change func(*journal.Run, []journal.Record)
		why    string
	}{
		"no repeats":           {repeats(0), "0 trials"},
		"less than no repeats": {repeats(-1), "-1 trials"},
		"too many repeats":     {repeats(20_000_001), "20000001 trials"},
		"an overflow": {func(run *journal.Run, _ []journal.Record) {
			run.Eval.Repeats, run.Eval.Templates = math.MaxInt, []string{"a", "b"}
		}, "one eval plans from 1 to"},
		"a trial of another plan": {func(_ *journal.Run, records []journal.Record) {
			records[1].Trial.ID = plan.TrialID("e", "p", "Write an API server!", "a", eval.NoTemplate, 1)
		}, "does not belong to its plan"},
		"an empty extraction": {func(_ *journal.Run, records []journal.Record) {
			records[1] = journal.Record{Kind: journal.KindExtraction, Trial: records[1].Trial}
		}, "has an extraction without a result"},
		"a missing trial": {func(_ *journal.Run, records []journal.Record) { records[1] = records[0] }, "1 of 2 planned trials have neither an answer nor an exclusion"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := runner.Prove(t.Context(), provable(t, c.change), "r")
			var unproven *runner.UnprovenError
			if !errors.As(err, &unproven) || !strings.Contains(unproven.Reason, c.why) {
				t.Errorf("%v, want %q", err, c.why)
			}
		})
	}
}
