package bundle_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/firstpick/firstpick/analytics/explain"
	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/publish/bundle/format"
	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/runner/pick"
	"github.com/firstpick/firstpick/runner/plan"
	"github.com/firstpick/firstpick/runner/transcript"
)

func explanations(t *testing.T, w *world) *format.Explanations {
	t.Helper()
	e, err := open(t, w.in.Root, write(t, w.in).ID).Explanations()
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestExplanationsAreThoseOfTheRun: a bundle has what the command line says of each tool,
// without the id of the run.
func TestExplanationsAreThoseOfTheRun(t *testing.T) {
	w := newWorld(t, 4, size{prompts: 6, repeats: 20})
	e := explanations(t, w)
	category, _ := w.in.Catalog.Category("web")
	answers, err := explain.Read(t.Context(), w.in.RunsRoot, w.run.ID, pick.New(category, w.in.Catalog.Version))
	if err != nil {
		t.Fatal(err)
	}
	if len(e.Tools) != 2 || len(e.Reports) != 2 {
		t.Fatalf("%d tools, %d reports", len(e.Tools), len(e.Reports))
	}
	for i, got := range e.Reports {
		picks := 0
		for _, entry := range w.entries {
			if entry.Outcome == "tool" && entry.Picked == got.Slug {
				picks++
			}
		}
		if got.Slug != e.Tools[i].Slug || got.Picked != picks || got.NTrials != len(w.texts) || picks == 0 {
			t.Errorf("%s: %+v, want %d picks of %d", e.Tools[i].Slug, got.Counts, picks, len(w.texts))
		}
		want := explain.New(got.Slug, e.Tools[i].Domains, explain.Trials(answers, got.Slug))
		if d := cmp.Diff(want.Counts, got.Counts); d != "" {
			t.Errorf("%s: %s", got.Slug, d)
		}
		if d := cmp.Diff(want.Switches, got.Switches); d != "" {
			t.Errorf("%s: %s", got.Slug, d)
		}
	}
}

// TestExplanationsHaveALimit gives a run with one answer that read many long addresses
// before it turned the tool down many times.
func TestExplanationsHaveALimit(t *testing.T) {
	w := newWorld(t, 1, size{prompts: 1, repeats: 1})
	w.tools(t, 20)
	run := w.run
	run.ID, run.Eval.Agents = "long", run.Eval.Agents[:1]
	said := transcript.Transcript{FinalText: "I would use Tool01.\n"}
	for i := range 40 {
		said.FinalText += fmt.Sprintf("\nTool00 is too expensive for plan %d.\n", i)
		for page := range 12 {
			said.Sources = append(said.Sources, transcript.Source{URL: fmt.Sprintf("https://s%d.example/%d/%s", i, page, strings.Repeat("x", 1900))})
		}
	}
	said.Sources = append(said.Sources, transcript.Source{URL: "https://endless.example/" + strings.Repeat("x", 1<<20)})
	e, data := w.explained(t, run, said)
	if len(data) > format.MaxExplanations || bytes.Contains(data, []byte(run.ID+`"`)) {
		t.Errorf("%d bytes, at most %d; or the id of the run is there", len(data), format.MaxExplanations)
	}
	r := e.Reports[0]
	if r.NSites != 40 || len(r.Sources) == 0 || len(r.Sources) >= 40 || r.Sources[0].NPages != 12 || len(r.Sources[0].Pages) >= 12 {
		t.Errorf("%d sites of %d", len(r.Sources), r.NSites)
	}
	if g := r.Reasons[0]; g.Reason != "price" || g.NQuotes != 40 || len(g.Quotes) == 0 || len(g.Quotes) >= 40 || g.NTrials != 1 {
		t.Errorf("%s: %d quotes of %d", g.Reason, len(g.Quotes), g.NQuotes)
	}
}

// TestExplanationsOfManyAgentsHaveALimit: reports of many tools list many agents.
func TestExplanationsOfManyAgentsHaveALimit(t *testing.T) {
	w := newWorld(t, 1, size{prompts: 1, repeats: 1})
	w.tools(t, 100)
	run := w.run
	run.ID, run.Eval.Agents = "many", nil
	for i := range 400 {
		run.Eval.Agents = append(run.Eval.Agents, eval.Agent{Name: fmt.Sprintf("agent-%03d", i), Kind: "recorded"})
	}
	e, data := w.explained(t, run, transcript.Transcript{FinalText: "I would use Tool01.\n\nTool00 is too expensive.\n"})
	if len(data) > format.MaxExplanations || len(e.Reports) != 100 || e.Reports[0].Lost != 400 || len(e.Reports[0].Agents) == 0 {
		t.Errorf("%d bytes, at most %d; %d tools, %d lost, %d agents", len(data), format.MaxExplanations, len(e.Reports), e.Reports[0].Lost, len(e.Reports[0].Agents))
	}
}

// tools makes a catalogue of so many tools.
func (w *world) tools(t *testing.T, n int) {
	t.Helper()
	tools := strings.Builder{}
	for i := range n {
		fmt.Fprintf(&tools, "  - {slug: t%02d, name: Tool%02d, domains: [t%02d.example]}\n", i, i, i)
	}
	var err error
	if w.in.Catalog, err = catalog.Load(fstest.MapFS{"catalog/web.yaml": {Data: []byte(strings.Split(categoryFile, "  - slug")[0] + tools.String())}}, "catalog"); err != nil {
		t.Fatal(err)
	}
}

// explained makes a run in which every agent says the same, and returns the explanations of
// its bundle.
func (w *world) explained(t *testing.T, run journal.Run, said transcript.Transcript) (e *format.Explanations, file []byte) {
	t.Helper()
	j, err := journal.Create(w.in.RunsRoot, run)
	if err != nil {
		t.Fatal(err)
	}
	category, _ := w.in.Catalog.Category("web")
	result := pick.New(category, w.in.Catalog.Version).Extract(said)
	seen := map[string]bool{}
	for _, trial := range plan.New(&run.Eval) {
		if seen[trial.Agent] {
			continue
		}
		seen[trial.Agent] = true
		record := journal.Record{Kind: journal.KindResult, Trial: trial, At: run.CreatedAt, Attempt: 1, Answer: &journal.Answer{Transcript: said}, Result: &result}
		if err := j.Append(t.Context(), record); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	w.in.RunID = run.ID
	m := write(t, w.in)
	if file, err = os.ReadFile(filepath.Join(w.in.Root, m.ID, format.ExplanationsName)); err != nil {
		t.Fatal(err)
	}
	if e, err = open(t, w.in.Root, m.ID).Explanations(); err != nil {
		t.Fatal(err)
	}
	return e, file
}
