package bundle_test

import (
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/publish/bundle"
	"github.com/firstpick/firstpick/publish/bundle/format"
	"github.com/firstpick/firstpick/publish/trialset"
	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/runner/pick"
	"github.com/firstpick/firstpick/runner/plan"
	"github.com/firstpick/firstpick/runner/transcript"
	reader "github.com/firstpick/firstpick/server/evals/bundle"
)

const categoryFile = `category:
  slug: web
  name: Web
  domain: dev-tools
  summary: For tests.
tools:
  - slug: flask
    name: Flask
    domains: [flask.example]
    packages: {pypi: [flask]}
  - slug: django
    name: Django
    domains: [django.example]
    packages: {pypi: [django]}
`

func testCatalog(tb testing.TB) *catalog.Catalog {
	tb.Helper()
	c, err := catalog.Load(fstest.MapFS{"catalog/web.yaml": {Data: []byte(categoryFile)}}, "catalog")
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

// size is how large a run is.
type size struct{ prompts, repeats, text int }

// A world is a run, and what a reader must find in it.
type world struct {
	in      bundle.Input
	run     journal.Run
	entries []trialset.Entry  // by place in the plan, without those that are missing
	texts   map[string]string // final text by trial
	results map[string]pick.Result
	missing int
}

// newWorld makes a run whose answers come in an order that is not the plan's.
func newWorld(tb testing.TB, seed uint64, s size) *world {
	tb.Helper()
	e := eval.Eval{
		Name: "web", Category: "web", Repeats: s.repeats, Templates: []string{"none"}, Source: "/home/somebody/eval.yaml",
		Agents: []eval.Agent{{Name: "a", Kind: "recorded"}, {Name: "b", Kind: "recorded"}},
	}
	for i := range s.prompts {
		e.Prompts = append(e.Prompts, eval.Prompt{ID: fmt.Sprintf("p%d", i), Text: fmt.Sprintf("Which? %d", i)})
	}
	trials := plan.New(&e)
	w := &world{texts: map[string]string{}, results: map[string]pick.Result{}, run: journal.Run{
		ID: "run-one", Eval: e, Planned: len(trials), CreatedAt: time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC), Extractor: pick.Version,
	}}
	w.in = bundle.Input{RunsRoot: tb.TempDir(), RunID: w.run.ID, Catalog: testCatalog(tb), Root: filepath.Join(tb.TempDir(), "bundles"), Generator: "firstpick test"}
	j, err := journal.Create(w.in.RunsRoot, w.run)
	if err != nil {
		tb.Fatal(err)
	}
	r := rand.New(rand.NewPCG(seed, 1))
	groups := [][]journal.Record{{{Kind: journal.KindManifest, Manifest: &journal.Manifest{Agent: "a", Kind: "recorded"}}}}
	for i, t := range trials {
		groups = append(groups, w.trial(r, i, t, s.text))
	}
	r.Shuffle(len(groups)-1, func(a, b int) { groups[a+1], groups[b+1] = groups[b+1], groups[a+1] })
	for part := range slices.Chunk(slices.Concat(groups...), 5000) {
		if err := j.Append(tb.Context(), part...); err != nil {
			tb.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		tb.Fatal(err)
	}
	return w
}

// trial returns the records of one trial and notes what is to be read of it.
func (w *world) trial(r *rand.Rand, i int, t plan.Trial, text int) []journal.Record {
	at := w.run.CreatedAt.Add(time.Duration(i) * time.Second)
	var recs []journal.Record
	if r.IntN(8) == 0 {
		cost := 0.25
		recs = append(recs, journal.Record{Kind: journal.KindAttempt, Trial: t, At: at, Attempt: 1, Reason: "server: 500", CostUSD: &cost})
	}
	want := trialset.Entry{ID: t.ID, Agent: t.Agent, Prompt: t.PromptID, Template: t.Template, Repeat: t.Repeat}
	switch r.IntN(20) {
	case 0:
		w.missing++
		return recs
	case 1:
		want.Outcome = "excluded"
		w.entries = append(w.entries, want)
		return append(recs, journal.Record{Kind: journal.KindExcluded, Trial: t, At: at, Attempt: 2, Reason: "auth: no"})
	}
	answer := &journal.Answer{Model: "m", WallMS: int64(r.IntN(90_000)), Transcript: transcript.Transcript{
		FinalText: "<Use> " + t.ID + "\u2028\n" + words(r, text), Commands: []transcript.Command{{Cmd: "ls && true", Exit: new(0)}},
	}}
	if r.IntN(4) > 0 {
		cost := r.Float64() / 100
		answer.CostUSD, want.CostUSD = &cost, &cost
	}
	res := result(r)
	recs = append(recs, journal.Record{Kind: journal.KindResult, Trial: t, At: at, Attempt: len(recs) + 1, Answer: answer, Result: res})
	if r.IntN(10) == 0 {
		res = result(r)
		recs = append(recs, journal.Record{Kind: journal.KindExtraction, Trial: t, At: at, Result: res})
	}
	want.Outcome, want.Picked, want.Mismatch, want.WallMS = string(res.Kind), res.Picked, res.Mismatch(), answer.WallMS
	want.Unresolved = res.Unresolved
	w.entries, w.texts[t.ID], w.results[t.ID] = append(w.entries, want), answer.Transcript.FinalText, *res
	return recs
}

func result(r *rand.Rand) *pick.Result {
	switch r.IntN(6) {
	case 3:
		return &pick.Result{Kind: pick.Ambiguous, Unresolved: true, Rule: "lone mention", FirstNamed: "flask", Language: "de", Extractor: pick.Version}
	case 0:
		return &pick.Result{Kind: pick.DIY, Rejected: []string{"django"}, Extractor: pick.Version, Catalog: "c1"}
	case 1:
		return &pick.Result{Kind: pick.Other, Picked: fmt.Sprintf("other-%d", r.IntN(7)), Method: pick.MethodStatement, Extractor: pick.Version}
	case 2:
		return &pick.Result{Kind: pick.Tool, Picked: "django", Say: "flask", Shortlist: []string{"django", "flask"}, Method: pick.MethodAction, Level: 6}
	}
	return &pick.Result{
		Kind: pick.Tool, Picked: "flask", Shortlist: []string{"flask"}, Method: pick.MethodAction, Level: 5,
		Evidence: []pick.Evidence{{Tool: "flask", Level: 5, Kind: "import", Path: "app.py", Line: 1, Quote: "import flask"}},
	}
}

// words are n bytes that pack about as well as text does.
func words(r *rand.Rand, n int) string {
	var b strings.Builder
	for b.Len() < n {
		var word [4]byte
		for i := range word {
			word[i] = byte(r.IntN(256))
		}
		b.WriteString(hex.EncodeToString(word[:]) + " ")
	}
	return b.String()
}

func write(tb testing.TB, in bundle.Input) format.Manifest {
	tb.Helper()
	m, err := bundle.Write(tb.Context(), in)
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

func open(tb testing.TB, root, id string) *reader.Bundle {
	tb.Helper()
	b, err := reader.Open(root, id)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = b.Close() })
	return b
}

// all reads every page of a list.
func all(tb testing.TB, b *reader.Bundle, f trialset.Filter, limit int) []trialset.Entry {
	tb.Helper()
	var out []trialset.Entry
	for cursor := ""; ; {
		p, err := b.Traces(tb.Context(), f, cursor, limit)
		if err != nil {
			tb.Fatal(err)
		}
		if len(p.Traces) > limit || len(p.Traces) < limit && p.Next != "" {
			tb.Fatalf("a page of %d with limit %d, next %q", len(p.Traces), limit, p.Next)
		}
		out = append(out, p.Traces...)
		if cursor = p.Next; cursor == "" {
			return out
		}
	}
}

// readAll reads everything that a bundle holds, as a server that is asked for all of
// it would.
func readAll(tb testing.TB, root, id string) error {
	tb.Helper()
	b, err := reader.Open(root, id)
	if err != nil {
		return err
	}
	_, err = b.Traces(tb.Context(), trialset.Filter{}, "", trialset.MaxPage)
	f, _, openErr := b.Parquet()
	if openErr == nil {
		_, openErr = io.Copy(io.Discard, f)
		openErr = errors.Join(openErr, f.Close())
	}
	_, explainErr := b.Explanations()
	return cmp.Or(err, explainErr, b.WriteNDJSON(tb.Context(), io.Discard, trialset.Filter{}), openErr, b.Close())
}
