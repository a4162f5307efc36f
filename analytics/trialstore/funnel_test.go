package trialstore_test

import (
	"path/filepath"
	"testing"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/runner/pick"
	"github.com/firstpick/firstpick/runner/plan"
)

// TestFunnel counts how far trials of programs came with each tool. Trials of models are not
// part of it.
func TestFunnel(t *testing.T) {
	root := t.TempDir()
	r := testRun("r1", "web", "web-frameworks", start)
	r.Eval.Prompts, r.Eval.Templates, r.Eval.Repeats = r.Eval.Prompts[:1], []string{"none"}, 7
	r.Eval.Agents = []eval.Agent{{Name: "cli", Kind: eval.KindClaudeCode, CLI: &eval.CLI{}}, {Name: "api", Kind: eval.KindAnthropic}}
	manifest := []pick.Evidence{{Tool: "flask", Level: pick.LevelManifest, Kind: "manifest"}}
	flask := pick.Result{Kind: pick.Tool, Picked: "flask", Shortlist: []string{"django", "flask"}}
	added, had := flask, flask
	added.Evidence, had.Details = manifest, []pick.Detail{{Name: pick.FollowedIncumbent}}
	passed, failed, slow := &journal.Build{}, &journal.Build{Exit: 1}, &journal.Build{Exit: 0, Ended: "wall"}
	of := []struct {
		result pick.Result
		build  *journal.Build
	}{
		{added, passed}, {added, failed}, {had, passed}, {added, slow}, {added, nil}, {flask, passed},
		{pick.Result{Kind: pick.None, Shortlist: []string{"django"}}, passed},
	}
	var recs []journal.Record
	n := map[string]int{}
	for _, trial := range plan.New(&r.Eval) {
		c := of[n[trial.Agent]]
		n[trial.Agent]++
		recs = append(recs, journal.Record{Kind: journal.KindResult, Trial: trial, At: start, Answer: &journal.Answer{Build: c.build}, Result: &c.result})
	}
	r.Planned = len(recs)
	writeRun(t, root, r, recs)
	s := openStore(t, filepath.Join(t.TempDir(), "trials.duckdb"))
	sync(t, s, root)
	funnels := func() analytics.Funnel {
		got, err := s.Funnels(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		return got["web-frameworks"]
	}
	same(t, "funnel", funnels(), analytics.Funnel{Trials: 7, Tools: []analytics.FunnelTool{
		{Slug: "flask", Named: 6, Picked: 6, Installed: 5, Ran: 4, Builds: 2, NamedShare: 6. / 7, PickedShare: 6. / 7, InstalledShare: 5. / 7, BuildsShare: 2. / 7},
		{Slug: "django", Named: 7, NamedShare: 1},
	}})
	for _, rec := range recs {
		if rec.Trial.Agent == "cli" && rec.Result.Kind == pick.None { // an extraction finds the pick
			addTo(t, root, "r1", []journal.Record{{Kind: journal.KindExtraction, Trial: rec.Trial, At: start, Result: &added}})
		}
	}
	sync(t, s, root)
	if got := funnels().Tools[0]; got.Installed != 6 || got.Ran != 5 || got.Builds != 3 {
		t.Errorf("after an extraction %+v", got)
	}
}
