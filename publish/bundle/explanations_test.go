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
	tools := strings.Builder{}
	for i := range 20 {
		fmt.Fprintf(&tools, "  - {slug: t%02d, name: Tool%02d, domains: [t%02d.example]}\n", i, i, i)
	}
	var err error
	if w.in.Catalog, err = catalog.Load(fstest.MapFS{"catalog/web.yaml": {Data: []byte(strings.Split(categoryFile, "  - slug")[0] + tools.String())}}, "catalog"); err != nil {
		t.Fatal(err)
	}
	run := w.run
	run.ID = "long"
	j, err := journal.Create(w.in.RunsRoot, run)
	if err != nil {
		t.Fatal(err)
	}
	said := transcript.Transcript{FinalText: "I would use Tool01.\n"}
	for i := range 40 {
		said.FinalText += fmt.Sprintf("\nTool00 is too expensive for plan %d.\n", i)
		for page := range 12 {
			said.Sources = append(said.Sources, transcript.Source{URL: fmt.Sprintf("https://s%d.example/%d/%s", i, page, strings.Repeat("x", 1900))})
		}
	}
	said.Sources = append(said.Sources, transcript.Source{URL: "https://endless.example/" + strings.Repeat("x", 1<<20)})
	category, _ := w.in.Catalog.Category("web")
	result := pick.New(category, w.in.Catalog.Version).Extract(said)
	record := journal.Record{Kind: journal.KindResult, Trial: plan.New(&run.Eval)[0], At: run.CreatedAt, Attempt: 1, Answer: &journal.Answer{Transcript: said}, Result: &result}
	if err := j.Append(t.Context(), record); err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	w.in.RunID = run.ID
	m := write(t, w.in)
	data, err := os.ReadFile(filepath.Join(w.in.Root, m.ID, format.ExplanationsName))
	if err != nil {
		t.Fatal(err)
	}
	if len(data) > format.MaxExplanations || bytes.Contains(data, []byte(run.ID+`"`)) {
		t.Errorf("%d bytes, at most %d; or the id of the run is there", len(data), format.MaxExplanations)
	}
	e, err := open(t, w.in.Root, m.ID).Explanations()
	if err != nil {
		t.Fatal(err)
	}
	r := e.Reports[0]
	if r.NSites != 40 || len(r.Sources) == 0 || len(r.Sources) >= 40 || r.Sources[0].NPages != 12 || len(r.Sources[0].Pages) >= 12 {
		t.Errorf("%d sites of %d", len(r.Sources), r.NSites)
	}
	if g := r.Reasons[0]; g.Reason != "price" || g.NQuotes != 40 || len(g.Quotes) == 0 || len(g.Quotes) >= 40 || g.NTrials != 1 {
		t.Errorf("%s: %d quotes of %d", g.Reason, len(g.Quotes), g.NQuotes)
	}
}
