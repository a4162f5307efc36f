package bundle_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/analytics/trialstore"
	"github.com/firstpick/firstpick/publish/bundle"
	"github.com/firstpick/firstpick/publish/bundle/format"
	"github.com/firstpick/firstpick/publish/content"
	"github.com/firstpick/firstpick/publish/trialset"
	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/runner/pick"
	"github.com/firstpick/firstpick/runner/plan"
	reader "github.com/firstpick/firstpick/server/evals/bundle"
)

func TestWhatIsWrittenIsRead(t *testing.T) {
	w := newWorld(t, 1, size{prompts: 12, repeats: 30, text: 200})
	m := write(t, w.in)
	b := open(t, w.in.Root, m.ID)

	for _, limit := range []int{1, 7, 1000} {
		if d := cmp.Diff(w.entries, all(t, b, trialset.Filter{}, limit)); d != "" {
			t.Fatalf("pages of %d: %s", limit, d)
		}
	}
	counts := b.Manifest.Counts
	if counts.Planned != 720 || counts.Missing != w.missing || counts.Valid+counts.Excluded != len(w.entries) || counts.Valid != len(w.texts) {
		t.Errorf("%+v, want %d entries, %d of them valid, and %d missing", counts, len(w.entries), len(w.texts), w.missing)
	}
	if counts.ExcludedBy["auth"] != counts.Excluded || counts.MissingBy["not_asked"]+counts.MissingBy["server"] != w.missing {
		t.Errorf("reasons %v and %v", counts.ExcludedBy, counts.MissingBy)
	}
	for _, e := range w.entries {
		tr := trace(t, b, e.ID)
		if d := cmp.Diff(e, tr.Entry); d != "" {
			t.Errorf("the trace is not its entry: %s", d)
		}
		if tr.PromptText != "Which? "+e.Prompt[1:] {
			t.Errorf("%s was asked %q", e.Prompt, tr.PromptText)
		}
		if e.Outcome == "excluded" {
			if tr.Reason != "auth: no" || len(tr.Attempts) == 0 || tr.Answer != nil || tr.Result != nil || tr.FinishedAt != nil {
				t.Errorf("given up: %+v", tr)
			}
			continue
		}
		if d := cmp.Diff(w.results[e.ID], journalResult(tr), cmpopts.EquateEmpty()); d != "" {
			t.Errorf("trial %s is read otherwise: %s", e.ID, d)
		}
		if tr.Answer.FinalText != w.texts[e.ID] || len(tr.Answer.Commands) != 1 || tr.Attempt != len(tr.Attempts)+1 || tr.Reason != "" {
			t.Errorf("trial %s: %+v", e.ID, tr)
		}
	}
	for _, id := range []string{"", "x", strings.Repeat("0", 20), strings.Repeat("z", 20)} {
		if _, err := b.Trace(t.Context(), id); !errors.Is(err, trialset.ErrNotFound) {
			t.Errorf("trial %q: error %v", id, err)
		}
	}
}

// trace reads a trial as readers know it, and sees to it that they know all of it.
func trace(t *testing.T, b *reader.Bundle, id string) trialset.Trace {
	t.Helper()
	data, err := b.Trace(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	var tr trialset.Trace
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&tr); err != nil {
		t.Fatal(err)
	}
	again, err := content.JSON(tr)
	if err != nil || !bytes.Equal(bytes.TrimSuffix(again, []byte("\n")), data) {
		t.Fatalf("read and written again it is %s, not %s: %v", again, data, err)
	}
	return tr
}

// journalResult is what a trace tells of the result in the journal.
func journalResult(tr trialset.Trace) pick.Result {
	r := pick.Result{
		Kind: pick.Kind(tr.Outcome), Picked: tr.Picked, Shortlist: tr.Result.Shortlist, Rejected: tr.Result.Rejected, Say: tr.Result.Say,
		Method: pick.Method(tr.Result.Method), Level: tr.Result.Level, Extractor: tr.Result.Extractor, Catalog: tr.Result.Catalog,
		Unresolved: tr.Unresolved, Rule: tr.Result.Rule, FirstNamed: tr.Result.FirstNamed, Language: tr.Result.Language,
	}
	for _, e := range tr.Result.Evidence {
		r.Evidence = append(r.Evidence, pick.Evidence{Tool: e.Tool, Level: e.Level, Kind: e.Kind, Path: e.Path, Line: e.Line, Quote: e.Quote})
	}
	return r
}

func TestScoresFollowFromTheTrials(t *testing.T) {
	w := newWorld(t, 2, size{prompts: 25, repeats: 4})
	b := open(t, w.in.Root, write(t, w.in).ID)
	var s format.Scores
	if err := json.Unmarshal(b.Scores(), &s); err != nil {
		t.Fatal(err)
	}
	tally := func(agent string) (picks map[string]int, valid int) {
		picks = map[string]int{}
		for _, e := range w.entries {
			if e.Outcome != "excluded" && (agent == "" || e.Agent == agent) {
				valid++
				if e.Outcome == "tool" {
					picks[e.Picked]++
				}
			}
		}
		return picks, valid
	}
	boards := map[string]format.AgentScores{"": {Board: s.Board}}
	for _, a := range s.Agents {
		boards[a.Agent] = a
	}
	for _, name := range []string{"", "a", "b"} {
		board, planned := boards[name].Board, map[bool]int{true: 200, false: 100}[name == ""]
		picks, valid := tally(name)
		if board.NTrials != valid || board.NPrompts != 25 || *board.Coverage != float64(valid)/float64(planned) {
			t.Errorf("%q: %d trials, %d prompts, coverage %v; want %d trials", name, board.NTrials, board.NPrompts, *board.Coverage, valid)
		}
		for _, tool := range board.Tools {
			if tool.Picks != picks[tool.Slug] || tool.CILow > tool.PickRate || tool.CIHigh < tool.PickRate {
				t.Errorf("%q: %+v, want %d picks", name, tool, picks[tool.Slug])
			}
		}
	}
	if sum := boards["a"].SpentUSD + boards["b"].SpentUSD; b.Manifest.SpentUSD < 0.25 || sum-b.Manifest.SpentUSD > 1e-5 || b.Manifest.SpentUSD-sum > 1e-5 {
		t.Errorf("spent %v in all, %v by agent", b.Manifest.SpentUSD, sum)
	}

	f, size, err := b.Parquet()
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(f)
	path := filepath.Join(t.TempDir(), "t.parquet")
	if err := errors.Join(err, f.Close(), os.WriteFile(path, data, 0o600)); err != nil || int64(len(data)) != size {
		t.Fatal(err, len(data), size)
	}
	store, err := trialstore.OpenParquet(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	cells, totals, err := store.Cells(t.Context(), "web", nil)
	if err != nil || totals.Valid != len(w.texts) {
		t.Errorf("%d rows, want %d: %v", totals.Valid, len(w.texts), err)
	}
	own, err := b.Cells(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(counted(cells), counted(own)); d != "" {
		t.Errorf("the index counts otherwise than the rows: %s", d)
	}
}

// counted are the trials of cells, and how many of them said one tool and used another.
func counted(cells []analytics.Cell) map[string][2]int {
	out := map[string][2]int{}
	for _, c := range cells {
		k := fmt.Sprint(strings.TrimPrefix(c.Prompt, "web/"), " ", c.Agent)
		for _, t := range c.Tools {
			if t.Picks > 0 {
				out[k+" "+t.Slug] = [2]int{out[k+" "+t.Slug][0] + t.Picks}
			}
		}
		k += fmt.Sprintf(" %+v", c.Outcomes)
		out[k] = [2]int{out[k][0] + c.Trials, out[k][1] + c.Mismatched}
	}
	return out
}

func TestFiltersAreANaiveScan(t *testing.T) {
	w := newWorld(t, 3, size{prompts: 9, repeats: 60})
	b := open(t, w.in.Root, write(t, w.in).ID)
	r := rand.New(rand.NewPCG(4, 5))
	one := func(of ...string) string { return of[r.IntN(len(of))] }
	for range 300 {
		f := trialset.Filter{
			Agent: one("", "", "a", "b", "nobody"), Outcome: one("", "", "tool", "diy", "other", "excluded", "none", "ambiguous", trialset.Unresolved),
			Picked: one("", "", "flask", "django", "other-3", "x"), Prompt: one("", "", "p0", "p8", "p9"),
		}
		var want []trialset.Entry
		for _, e := range w.entries {
			takes := func(want, got string) bool { return want == "" || want == got }
			ends := takes(f.Outcome, e.Outcome) || f.Outcome == trialset.Unresolved && e.Unresolved
			if takes(f.Agent, e.Agent) && ends && takes(f.Picked, e.Picked) && takes(f.Prompt, e.Prompt) {
				want = append(want, e)
			}
		}
		if d := cmp.Diff(want, all(t, b, f, 1+r.IntN(80))); d != "" {
			t.Fatalf("%+v: %s", f, d)
		}
		var out bytes.Buffer
		if err := b.WriteNDJSON(t.Context(), &out, f); err != nil {
			t.Fatal(err)
		}
		var ids []string
		for line := range bytes.Lines(out.Bytes()) {
			var tr trialset.Trace
			if err := json.Unmarshal(line, &tr); err != nil {
				t.Fatal(err)
			}
			ids = append(ids, tr.ID)
		}
		if !slices.EqualFunc(want, ids, func(e trialset.Entry, id string) bool { return e.ID == id }) {
			t.Fatalf("%+v: %d lines, want %d", f, len(ids), len(want))
		}
	}
}

func TestCursorsKeepToTheirList(t *testing.T) {
	w := newWorld(t, 3, size{prompts: 9, repeats: 6})
	b := open(t, w.in.Root, write(t, w.in).ID)
	f := trialset.Filter{Agent: "a"}
	p, err := b.Traces(t.Context(), f, "", 5)
	if err != nil || p.Next == "" {
		t.Fatal(err, p.Next)
	}
	other := newWorld(t, 9, size{prompts: 9, repeats: 6})
	for name, refused := range map[string]func() error{
		"another filter": func() error { _, err := b.Traces(t.Context(), trialset.Filter{Agent: "b"}, p.Next, 5); return err },
		"another bundle": func() error {
			_, err := open(t, other.in.Root, write(t, other.in).ID).Traces(t.Context(), f, p.Next, 5)
			return err
		},
		"cut":     func() error { _, err := b.Traces(t.Context(), f, p.Next[:10], 5); return err },
		"garbage": func() error { _, err := b.Traces(t.Context(), f, "%%", 5); return err },
	} {
		if err := refused(); !errors.Is(err, trialset.ErrCursor) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

func TestSameRunGivesTheSameBytes(t *testing.T) {
	first := newWorld(t, 5, size{prompts: 10, repeats: 40, text: 3000})
	m := write(t, first.in)
	if again := write(t, first.in); again.ID != m.ID {
		t.Errorf("made again it is %s, not %s", again.ID, m.ID)
	}
	second := newWorld(t, 5, size{prompts: 10, repeats: 40, text: 3000})
	if other := write(t, second.in); other.ID != m.ID {
		t.Errorf("elsewhere it is %s, not %s", other.ID, m.ID)
	}
	entries, err := os.ReadDir(filepath.Join(first.in.Root, m.ID))
	if err != nil || len(entries) != 7 {
		t.Fatal(err, len(entries))
	}
	for _, e := range entries {
		a, err1 := os.ReadFile(filepath.Join(first.in.Root, m.ID, e.Name()))
		b, err2 := os.ReadFile(filepath.Join(second.in.Root, m.ID, e.Name()))
		if err := errors.Join(err1, err2); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(a, b) {
			t.Errorf("%s differs", e.Name())
		}
		for _, leak := range []string{"run-one", "/home/", first.in.Root, first.in.RunsRoot} {
			if bytes.Contains(a, []byte(leak)) {
				t.Errorf("%s holds %q", e.Name(), leak)
			}
		}
	}
}

func TestARunWithoutAnyAnswerHasABundle(t *testing.T) {
	w := newWorld(t, 1, size{prompts: 3, repeats: 2})
	run := w.run
	run.ID = "cancelled"
	j, err := journal.Create(w.in.RunsRoot, run)
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	w.in.RunID = run.ID
	b := open(t, w.in.Root, write(t, w.in).ID)
	if c := b.Manifest.Counts; c.Missing != 12 || c.MissingBy["not_asked"] != 12 || b.Manifest.AsOf != nil {
		t.Errorf("%+v", c)
	}
	if got := all(t, b, trialset.Filter{}, 10); len(got) != 0 {
		t.Errorf("%d trials", len(got))
	}
	if err := readAll(t, w.in.Root, b.ID); err != nil {
		t.Error(err)
	}
}

func TestLongAnswersHaveFramesOfTheirOwn(t *testing.T) {
	w := newWorld(t, 6, size{prompts: 2, repeats: 3, text: 5 << 20})
	b := open(t, w.in.Root, write(t, w.in).ID)
	var out bytes.Buffer
	if err := b.WriteNDJSON(t.Context(), &out, trialset.Filter{}); err != nil {
		t.Fatal(err)
	}
	if got := bytes.Count(out.Bytes(), []byte("\n")); got != len(w.entries) || out.Len() < len(w.texts)*(5<<20) {
		t.Errorf("%d lines of %d, %d bytes", got, len(w.entries), out.Len())
	}
}

func TestWhatHasNoBundleIsRefused(t *testing.T) {
	w := newWorld(t, 1, size{prompts: 3, repeats: 2})
	for name, change := range map[string]func(*journal.Run){
		"shard 1/2": func(r *journal.Run) { r.Shard = &journal.Shard{Index: 1, Of: 2, Plan: plan.Digest(plan.New(&r.Eval))} },
		"imported":  func(r *journal.Run) { r.Imported = true },
		"measures":  func(r *journal.Run) { r.Eval.Category = "else" },
	} {
		run := w.run
		run.ID = "other-" + name[:3]
		change(&run)
		j, err := journal.Create(w.in.RunsRoot, run)
		if err != nil {
			t.Fatal(err)
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		in := w.in
		in.RunID = run.ID
		if _, err := bundle.Write(t.Context(), in); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	w.in.RunID = "nothing"
	if _, err := bundle.Write(t.Context(), w.in); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no run: error %v", err)
	}
}

// TestScoresCountFamilies gives the first three of 25 prompts one family.
func TestScoresCountFamilies(t *testing.T) {
	w := newWorld(t, 3, size{25, 4, 10})
	run, err := journal.ReadRun(w.in.RunsRoot, w.in.RunID)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		run.Eval.Prompts[i].Family = "shop"
	}
	data, err := json.Marshal(run)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(w.in.RunsRoot, run.ID, "run.json"), data, 0o600); err != nil {
		t.Fatal(err)
	}
	var s format.Scores
	if err := json.Unmarshal(open(t, w.in.Root, write(t, w.in).ID).Scores(), &s); err != nil {
		t.Fatal(err)
	}
	if s.Board.NFamilies != 23 || s.Agents[0].Board.NFamilies != 23 {
		t.Errorf("%d families, by agent %d; want 23", s.Board.NFamilies, s.Agents[0].Board.NFamilies)
	}
}
