package merge_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/runner/merge"
	"github.com/firstpick/firstpick/runner/pick"
	"github.com/firstpick/firstpick/runner/plan"
)

var start = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

func testRun(id string, shard, of int) journal.Run {
	e := eval.Eval{Name: "e", Category: "c", Repeats: 5, Templates: []string{"none"}, Source: "name: e\n"}
	for i := range 3 {
		e.Prompts = append(e.Prompts, eval.Prompt{ID: fmt.Sprint("p", i), Text: fmt.Sprint("Ask ", i)})
		e.Agents = append(e.Agents, eval.Agent{Name: fmt.Sprint("a", i)})
	}
	r := journal.Run{ID: id, Eval: e, CreatedAt: start.Add(time.Duration(shard) * time.Minute), Catalog: "cat", Extractor: "x"}
	r.Shard = &journal.Shard{Index: shard, Of: of, Plan: plan.Digest(plan.New(&e))}
	r.Planned = len(r.Trials())
	return r
}

// records are what a run of trial t leaves: an attempt that failed first, every
// seventh trial excluded, the answer as it came beside the others.
func records(t *testing.T, j *journal.Journal, i int, trial plan.Trial) []journal.Record {
	t.Helper()
	at := start.Add(time.Hour)
	failed := journal.Record{Kind: journal.KindAttempt, Trial: trial, At: at, Attempt: 1, Reason: "network"}
	if i%7 == 0 {
		return []journal.Record{failed, {Kind: journal.KindExcluded, Trial: trial, At: at, Attempt: 2, Reason: "network"}}
	}
	raw, err := j.Put(t.Context(), []byte("as it came: "+trial.ID))
	if err != nil {
		t.Fatal(err)
	}
	return []journal.Record{failed, {
		Kind: journal.KindResult, Trial: trial, At: at, Attempt: 2, Raw: &raw,
		Answer: &journal.Answer{Model: trial.ID}, Result: &pick.Result{Kind: pick.None},
	}}
}

// runShard makes a shard whose trials end in the reverse of the plan's order,
// without the last `without` of them.
func runShard(t *testing.T, root string, r journal.Run, without int) merge.Source {
	t.Helper()
	j, err := journal.Create(root, r)
	if err != nil {
		t.Fatal(err)
	}
	m := journal.Record{Kind: journal.KindManifest, At: r.CreatedAt, Manifest: &journal.Manifest{Agent: "a0", Kind: "simulated"}}
	if err := j.Append(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	trials := r.Trials()
	for i := range len(trials) - without {
		trial := trials[len(trials)-1-i]
		if err := j.Append(t.Context(), records(t, j, slices.IndexFunc(trials, func(o plan.Trial) bool { return o == trial }), trial)...); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	return merge.Source{Root: root, ID: r.ID}
}

func four(t *testing.T, root string) []merge.Source {
	t.Helper()
	var out []merge.Source
	for i := 4; i >= 1; i-- { // in another order than theirs
		out = append(out, runShard(t, root, testRun(fmt.Sprint("s", i), i, 4), 0))
	}
	return out
}

func scan(t *testing.T, root, id string) []journal.Record {
	t.Helper()
	var out []journal.Record
	if _, err := journal.Scan(root, id, journal.Offset{}, func(r journal.Record, _ journal.Offset) error {
		out = append(out, r)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestMergedShardsAreTheWholeRun(t *testing.T) {
	elsewhere, here := t.TempDir(), t.TempDir()
	m, err := merge.Merge(t.Context(), here, "", four(t, elsewhere))
	if err != nil {
		t.Fatal(err)
	}
	run, err := journal.ReadRun(here, m.Run.ID)
	if err != nil {
		t.Fatal(err)
	}
	if run.Shard != nil || run.Planned != 45 || !run.CreatedAt.Equal(start.Add(time.Minute)) || m.Valid+m.Excluded != 45 || len(m.Mixed) != 0 {
		t.Errorf("merged run: %+v, %+v", run, m)
	}
	got := scan(t, here, run.ID)
	if got[0].Kind != journal.KindManifest {
		t.Errorf("the first record is %+v, not the manifest", got[0])
	}
	var order []string
	for i, r := range got[1:] {
		if i%2 == 0 {
			order = append(order, r.Trial.ID)
		} else if r.Trial.ID != order[len(order)-1] || r.Attempt != 2 {
			t.Errorf("record %d is of trial %s, attempt %d", i, r.Trial.ID, r.Attempt)
		}
		if r.Kind != journal.KindResult {
			continue
		}
		raw, err := journal.ReadRaw(here, run.ID, *r.Raw)
		if err != nil || r.Answer.Model != r.Trial.ID || string(raw) != "as it came: "+r.Trial.ID {
			t.Errorf("trial %s has the answer of %s, %q, %v", r.Trial.ID, r.Answer.Model, raw, err)
		}
	}
	var want []string
	for _, trial := range run.Trials() {
		want = append(want, trial.ID)
	}
	if !slices.Equal(order, want) {
		t.Error("the trials are not in the order of the plan")
	}
	if _, err := merge.Merge(t.Context(), here, "", four(t, t.TempDir())); err == nil || !strings.Contains(err.Error(), "exists") {
		t.Errorf("the same shards were merged twice: %v", err)
	}
}

func TestWhatIsNotTheWholePlanIsRefusedAndListed(t *testing.T) {
	tests := map[string]struct {
		spoil func(t *testing.T, root string, all []merge.Source) []merge.Source
		want  []string
		// incomplete tells what can still be completed from what cannot be merged.
		incomplete bool
	}{
		"a shard is missing": {func(_ *testing.T, _ string, all []merge.Source) []merge.Source {
			return slices.Delete(all, 1, 2)
		}, []string{"shard 3 of 4 is missing: 11 trials"}, true},
		"trials are missing": {func(t *testing.T, root string, all []merge.Source) []merge.Source {
			all[0] = runShard(t, root, testRun("short", 4, 4), 2)
			return all
		}, []string{"shard 4/4, run short: 2 of 11 trials are missing", "--resume short", "  trial ", "prompt p", "agent a", "repeat 1"}, true},
		"a shard is given twice": {func(t *testing.T, root string, all []merge.Source) []merge.Source {
			return append(all, runShard(t, root, testRun("again", 2, 4), 0))
		}, []string{"runs s2 and again are both shard 2/4"}, false},
		"another eval": {func(t *testing.T, root string, all []merge.Source) []merge.Source {
			r := testRun("other", 4, 4)
			r.Eval.Source = "name: other\n"
			all[0] = runShard(t, root, r, 0)
			return all
		}, []string{"the text of the eval file"}, false},
		"other agents": {func(t *testing.T, root string, all []merge.Source) []merge.Source {
			r := testRun("other", 4, 4)
			r.Eval.Agents = r.Eval.Agents[:2]
			r.Shard.Plan = plan.Digest(plan.New(&r.Eval))
			r.Planned = len(r.Trials())
			all[0] = runShard(t, root, r, 0)
			return all
		}, []string{"--agent"}, false},
		"another number of shards": {func(t *testing.T, root string, all []merge.Source) []merge.Source {
			return append(all, runShard(t, root, testRun("fifth", 5, 5), 0))
		}, []string{"the number of shards: 4 and 5"}, false},
		"another catalogue": {func(t *testing.T, root string, all []merge.Source) []merge.Source {
			r := testRun("other", 4, 4)
			r.Catalog = "newer"
			all[0] = runShard(t, root, r, 0)
			return all
		}, []string{"the catalogue: cat and newer"}, false},
		"trials of another shard": {func(t *testing.T, root string, all []merge.Source) []merge.Source {
			r, foreign := testRun("mixed", 4, 4), testRun("s1", 1, 4)
			all[0] = runShard(t, root, r, 0)
			j, err := journal.Open(root, "mixed")
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(j.Append(t.Context(), records(t, j, 1, foreign.Trials()[0])...), j.Close()); err != nil {
				t.Fatal(err)
			}
			return all
		}, []string{"run mixed has trial", "does not belong to shard 4/4"}, false},
		"more shards than trials": {func(t *testing.T, root string, _ []merge.Source) []merge.Source {
			r := testRun("vast", 1, 1)
			r.Shard.Of = 1 << 40
			return []merge.Source{runShard(t, root, r, 40)}
		}, []string{"run vast is shard 1/1099511627776 of only 45 trials"}, false},
		"a whole run": {func(t *testing.T, root string, all []merge.Source) []merge.Source {
			r := testRun("whole", 1, 1)
			r.Shard = nil
			return append(all, runShard(t, root, r, 0))
		}, []string{"run whole is not a shard"}, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			root, here := t.TempDir(), t.TempDir()
			_, err := merge.Merge(t.Context(), here, "", tt.spoil(t, root, four(t, root)))
			if err == nil {
				t.Fatal("it was merged")
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("the error does not say %q:\n%v", want, err)
				}
			}
			var incomplete *merge.IncompleteError
			if errors.As(err, &incomplete) != tt.incomplete {
				t.Errorf("incomplete is not %v: %v", tt.incomplete, err)
			}
			if left, _ := os.ReadDir(here); len(left) != 0 {
				t.Errorf("something was written: %v", left)
			}
		})
	}
}

func TestAgentsThatChangedBetweenShardsAreTold(t *testing.T) {
	root := t.TempDir()
	all := four(t, root)
	j, err := journal.Open(root, "s2")
	if err != nil {
		t.Fatal(err)
	}
	m := journal.Record{Kind: journal.KindManifest, At: start, Manifest: &journal.Manifest{Agent: "a0", Kind: "simulated", Version: "2"}}
	if err := errors.Join(j.Append(t.Context(), m), j.Close()); err != nil {
		t.Fatal(err)
	}
	got, err := merge.Merge(t.Context(), root, "m", all)
	if err != nil || !slices.Equal(got.Mixed, []string{"a0"}) {
		t.Errorf("mixed agents: %v, %v", got.Mixed, err)
	}
}

// TestAnIDThatIsAPathTakesNothingAway is about the folder in which a merge builds
// its run, which is cleared first.
func TestAnIDThatIsAPathTakesNothingAway(t *testing.T) {
	root := t.TempDir()
	all := four(t, root)
	for _, id := range []string{"x/..", "../x", "../../s1"} {
		if _, err := merge.Merge(t.Context(), root, id, all); err == nil || !strings.Contains(err.Error(), "run") {
			t.Errorf("id %s: %v", id, err)
		}
		if runs, _, err := journal.List(root); err != nil || len(runs) != 4 {
			t.Fatalf("id %s: %d runs are left, %v", id, len(runs), err)
		}
	}
}

func TestWhatAKilledMergeLeftIsTakenAway(t *testing.T) {
	root := t.TempDir()
	all := four(t, root)
	half, err := journal.Create(filepath.Join(root, ".merge-m"), journal.Run{ID: "m"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := merge.Merge(t.Context(), root, "m", all); err == nil || !strings.Contains(err.Error(), "another process") {
		t.Errorf("two merges at once: %v", err)
	}
	if err := half.Close(); err != nil { // what is left of it is as a kill leaves it
		t.Fatal(err)
	}
	if runs, _, err := journal.List(root); err != nil || len(runs) != 4 {
		t.Errorf("a half merge is listed: %d runs, %v", len(runs), err)
	}
	if _, err := merge.Merge(t.Context(), root, "m", all); err != nil {
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(filepath.Join(root, ".merge-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
