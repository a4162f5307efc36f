package bundle_test

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/firstpick/firstpick/publish/bundle"
	"github.com/firstpick/firstpick/publish/trialset"
	"github.com/firstpick/firstpick/runner"
	"github.com/firstpick/firstpick/runner/agent"
	"github.com/firstpick/firstpick/runner/agents"
	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/runner/pick"
	"github.com/firstpick/firstpick/runner/plan"
)

// TestASimulatedRun bundles what the runner itself leaves, with failed attempts.
func TestASimulatedRun(t *testing.T) {
	cat := testCatalog(t)
	category, _ := cat.Category("web")
	e := eval.Eval{
		Name: "web", Category: "web", Repeats: 40, Templates: []string{"none"},
		Prompts: []eval.Prompt{{ID: "p1", Text: "Which?"}, {ID: "p2", Text: "And which?"}},
		Agents:  []eval.Agent{{Name: "s", Kind: eval.KindSimulated, Truth: map[string]float64{"flask": 2, "django": 1, "diy": 1}, FailRate: 0.2, Seed: 3}},
	}
	in := bundle.Input{RunsRoot: t.TempDir(), RunID: "r1", Catalog: cat, Root: filepath.Join(t.TempDir(), "bundles"), Generator: "firstpick test"}
	trials := plan.New(&e)
	j, err := journal.Create(in.RunsRoot, journal.Run{ID: in.RunID, Eval: e, Planned: len(trials), Synthetic: true, Catalog: cat.Version})
	if err != nil {
		t.Fatal(err)
	}
	sleep := func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
	asked, err := agents.Build(e.Agents[0], agents.Deps{Sleep: sleep})
	if err != nil {
		t.Fatal(err)
	}
	var asks atomic.Int64
	now := func() time.Time { return time.Unix(1e9+asks.Add(1), 0) } // a second goes by with each look
	r := runner.Runner{
		Eval: &e, Category: category, Agents: map[string]agent.Agent{"s": asked}, Extractor: pick.New(category, cat.Version), Journal: j,
		Now: now, Sleep: sleep, MaxAttempts: 2,
	}
	sum, err := r.Run(t.Context(), trials, runner.Progress{})
	if err := errors.Join(err, j.Close()); err != nil {
		t.Fatal(err)
	}
	b := open(t, in.Root, write(t, in).ID)
	c := b.Manifest.Counts
	if c.Planned != 80 || c.Valid != sum.Valid || c.Excluded != sum.Excluded || c.Missing != sum.Missing || c.Valid == 0 {
		t.Errorf("%+v, the run says %+v", c, sum)
	}
	if a := b.Manifest.Agents; !b.Manifest.Synthetic || len(a) != 1 || len(a[0].Manifests) != 1 || b.Manifest.Extractor != pick.Version {
		t.Errorf("%+v", b.Manifest)
	}
	flask := all(t, b, trialset.Filter{Picked: "flask"}, 10)
	if len(flask) == 0 {
		t.Fatal("nobody picked what most are to pick")
	}
	data, err := b.Trace(t.Context(), flask[0].ID)
	if err != nil || !bytes.Contains(data, []byte(`"evidence":[{"tool":"flask"`)) {
		t.Errorf("%s: %v", data, err)
	}
	var out bytes.Buffer
	if err := b.WriteNDJSON(t.Context(), &out, trialset.Filter{}); err != nil || !bytes.Contains(out.Bytes(), []byte(`"reason":"simulated`)) {
		t.Errorf("no failed attempt is told: %v", err)
	}
}
